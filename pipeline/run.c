/* run.c - threads compute batches, writers write them, and commit them in order. */
#include "pipeline/run.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "pipeline/sink.h"
#include "primitives/base/clock.h"
#include "stages/digest.h"
#include "stages/inputs.h"

/* Of a slot, from its batch's begin to its commit. */
enum slot_state { FREE, BUSY, READY, WRITING, WRITTEN, COMMITTING };

/* A slot on its way through them. */
struct berth {
	enum slot_state state;
	struct sl_sinking sinking;
	enum sl_status status; /* WRITTEN: or it failed, which is told in its turn */
	char story[SL_STORY_BYTES];
};

/* All that the threads share; guarded by lock but for what is atomic. */
struct crew {
	struct sl_plan *plan;
	const struct sl_dir *dir;
	const struct sl_manifest *done;
	const struct sl_control *control;
	struct sl_session *session;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t next;                 /* the next batch to begin */
	uint64_t begun;                /* how many were, in this session */
	size_t next_done;              /* the first line of done that is not before next */
	uint64_t commits;              /* batches committed in this session */
	uint64_t end;                  /* batches that the run has; fewer once its goal is met */
	size_t seen_done;              /* the first line of done that is not part of precision */
	struct sl_precision precision; /* of the goal's fate, by the batches without a gap so far */
	struct berth *berth;           /* of each slot */
	bool *lane_taken;
	double longest;     /* seconds from the begin of a batch until it is ready, so far */
	uint32_t working;   /* threads, writers too, that have not ended */
	uint32_t computing; /* those that are no writers */
	uint32_t writers;   /* that have begun */
	bool stop;          /* begin no more */
	bool met;           /* the goal */
	atomic_int drop;    /* give up what is in flight */
	enum sl_status status;
	char story[SL_STORY_BYTES];
};

static double seconds_now(void)
{
	return 1e-9 * (double)sl_now_ns();
}

/* Remembers the first failure and makes everybody end. Called with the lock held. */
static void fail(struct crew *c, enum sl_status s)
{
	if (c->status == SL_OK) {
		c->status = s;
		memcpy(c->story, sl_story(), sizeof(c->story));
	}
	c->stop = true;
	atomic_store(&c->drop, 1);
	pthread_cond_broadcast(&c->changed);
}

/* Takes the next batch that is not done yet; false when there is none. */
static bool take_batch(struct crew *c, uint64_t *number)
{
	while (c->next_done < c->done->n && c->done->line[c->next_done].batch == c->next) {
		c->next++;
		c->next_done++;
	}
	if (c->stop || c->next >= c->end)
		return false;
	*number = c->next++;
	return true;
}

/* A slot in no use, or n_slots. */
static uint32_t find_free(const struct crew *c)
{
	uint32_t i = 0;

	while (i < c->plan->n_slots && c->berth[i].state != FREE)
		i++;
	return i;
}

/* Takes a lane, waiting for one; NULL when the run ends before there is one. */
static struct sl_lane *take_lane(struct crew *c)
{
	struct sl_lane *lane = NULL;

	pthread_mutex_lock(&c->lock);
	while (!lane && c->status == SL_OK && !atomic_load(&c->drop)) {
		for (uint32_t i = 0; i < c->plan->n_lanes && !lane; i++)
			if (!c->lane_taken[i])
				lane = &c->plan->lane[i];
		if (!lane)
			pthread_cond_wait(&c->changed, &c->lock);
	}
	if (lane)
		c->lane_taken[lane - c->plan->lane] = true;
	pthread_mutex_unlock(&c->lock);
	return lane;
}

static void give_lane(struct crew *c, const struct sl_lane *lane, uint64_t busy_ns)
{
	pthread_mutex_lock(&c->lock);
	c->session->busy_ns[SL_WORKER_device] += busy_ns;
	c->lane_taken[lane - c->plan->lane] = false;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

/* Of a model that is read: the batch's particles, before it needs a lane. */
static enum sl_status read_inputs(const struct sl_recipe *r, struct sl_slot *slot)
{
	uint64_t start = sl_now_ns();

	if (!r->inputs)
		return SL_OK;
	SL_TRY(sl_inputs_read(r->inputs, &slot->batch));
	slot->ns[r->mode == SL_MODE_fused ? SL_STAGE_sieve : SL_STAGE_generate] +=
		sl_now_ns() - start;
	return SL_OK;
}

/* Is what came home still what was digested on the device? */
static enum sl_status check_home(const struct sl_batch *b)
{
	SL_TRY(sl_digest_check(&b->table));
	return b->pressed.wanted ? sl_pressed_check(&b->pressed) : SL_OK;
}

/* On the host in the slot; on the device in a lane, which is free again for the next batch. */
static enum sl_status run_stages(struct crew *c, struct sl_slot *slot)
{
	const struct sl_recipe *r = &c->plan->recipe;
	struct sl_lane *lane;
	enum sl_status s;
	uint64_t start;

	if (!c->plan->on_device)
		return sl_stages_run(r, &slot->exec, &slot->batch, slot->ns);
	SL_TRY(read_inputs(r, slot));
	lane = take_lane(c);
	if (!lane)
		return sl_fail(SL_STOPPED, "dropped (a signal asked to stop)");
	start = sl_now_ns();
	slot->batch.pressed.wanted = r->press.backend && !c->control->discard;
	s = sl_lane_run(r, lane, &slot->batch, slot->ns);
	slot->home_ns = lane->home_ns;
	slot->pack_ns = lane->pack_ns;
	give_lane(c, lane, sl_now_ns() - start);
	return s;
}

static enum sl_status pack(const struct sl_plan *plan, struct sl_slot *slot)
{
	const struct sl_format *f = plan->format;
	struct sl_batch *b = &slot->batch;

	if (b->pressed.wanted)
		return f->take(&slot->exec, &plan->facts, &b->table, &b->pressed, &slot->packed);
	return f->pack(&slot->exec, &plan->facts, &b->table, &slot->packed);
}

/* Computes and packs the batch in slot; adds to *busy_ns what this thread did itself. */
static enum sl_status compute(struct crew *c, struct sl_slot *slot, uint64_t *busy_ns)
{
	uint64_t begun = sl_now_ns(), start;
	enum sl_status s;

	memset(slot->ns, 0, sizeof(slot->ns));
	slot->pack_ns = 0;
	s = run_stages(c, slot);
	start = sl_now_ns();
	if (s == SL_OK && c->plan->on_device)
		s = sl_while(check_home(&slot->batch), "batch %llu",
			(unsigned long long)slot->batch.number);
	if (s == SL_OK && !c->control->discard)
		s = sl_while(pack(c->plan, slot), "batch %llu, compressing",
			(unsigned long long)slot->batch.number);
	slot->pack_ns += sl_now_ns() - start;
	*busy_ns += sl_now_ns() - (c->plan->on_device ? start : begun);
	return s;
}

/* Computes the batch of that number in slot i. Called with the lock held. */
static void work_on(struct crew *c, uint32_t i, uint64_t number)
{
	struct sl_slot *slot = &c->plan->slot[i];
	double begun = seconds_now();
	uint64_t busy_ns = 0;
	enum sl_status s;

	c->berth[i].state = BUSY;
	sl_batch_begin(&c->plan->recipe, &slot->batch, number);
	slot->batch.turn = c->begun++;
	pthread_mutex_unlock(&c->lock);
	s = compute(c, slot, &busy_ns);
	pthread_mutex_lock(&c->lock);
	begun = seconds_now() - begun;
	c->longest = begun > c->longest ? begun : c->longest;
	c->session->busy_ns[SL_WORKER_threads] += busy_ns;
	/* behind the goal, a batch was dropped, or is of no use */
	if (s != SL_OK && number < c->end)
		fail(c, s);
	c->berth[i].state = s == SL_OK ? READY : FREE;
	pthread_cond_broadcast(&c->changed);
}

static void *work(void *of)
{
	struct crew *c = (struct crew *)of;
	enum sl_status entered = sl_plan_enter(c->plan);
	uint64_t number;

	pthread_mutex_lock(&c->lock);
	if (entered != SL_OK)
		fail(c, entered);
	for (;;) {
		uint32_t i;

		/* A slot first, a batch then: batches begin in order, so that writers never wait
		 * for one that nobody has begun while all slots are full. */
		while ((i = find_free(c)) == c->plan->n_slots && !c->stop)
			pthread_cond_wait(&c->changed, &c->lock);
		if (i == c->plan->n_slots || !take_batch(c, &number))
			break;
		work_on(c, i, number);
	}
	c->working--;
	c->computing--;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* --- writers ---------------------------------------------------------------------------------- */

/*
 * The slot whose batch is the lowest of those that are in flight and not yet as far as that state,
 * if it is ready for it, in the state before; else n_slots.
 */
static uint32_t find_in_order(const struct crew *c, enum slot_state ready)
{
	uint32_t n = c->plan->n_slots, first = n;

	for (uint32_t i = 0; i < n; i++)
		if (c->berth[i].state != FREE && c->berth[i].state <= ready &&
			(first == n ||
				c->plan->slot[i].batch.number < c->plan->slot[first].batch.number))
			first = i;
	return first < n && c->berth[first].state == ready ? first : n;
}

/* One more batch in order; true when the goal is met by it, and the run ends here. */
static bool is_last(struct crew *c, const struct sl_tally *t, uint64_t generated)
{
	const struct sl_goal *g = &c->plan->goal;

	sl_precision_add(&c->precision, t, g->fate, generated);
	return sl_goal_met(g, &c->precision);
}

/*
 * Takes in the batches that are done and follow without a gap; if the goal is met, ends the run
 * behind the last that was taken in. Called with the lock held.
 */
static void look_at_goal(struct crew *c, bool met)
{
	const struct sl_manifest *done = c->done;

	for (; !met && c->seen_done < done->n; c->seen_done++) {
		const struct sl_manifest_line *l = &done->line[c->seen_done];

		if (l->batch != c->precision.batches)
			break;
		met = is_last(c, &l->tally, l->generated);
	}
	if (!met)
		return;
	c->met = c->stop = true;
	c->end = c->precision.batches;
	atomic_store(&c->drop, 1);
}

static uint64_t column_bytes(const struct sl_table *t)
{
	uint64_t row = 0;

	for (uint32_t k = 0; k < t->n_columns; k++)
		row += t->column[k].constant ? 0 : sl_column_facts[t->column[k].column].bytes;
	return row * t->n;
}

/* What the batch in slot adds to the session. Called with the lock held. */
static void count(struct crew *c, const struct sl_slot *slot, const struct sl_sinking *w)
{
	c->commits++;
	c->session->batches++;
	c->session->particles += slot->batch.n;
	c->session->column_bytes += column_bytes(&slot->batch.table);
	c->session->file_bytes += w->line.file_bytes;
	for (int i = 0; i < SL_STAGE_COUNT; i++)
		c->session->stage_ns[i] += slot->ns[i];
	sl_rounds_add(&c->session->rounds, &slot->batch.rounds);
	c->session->home_ns += slot->home_ns;
	c->session->pack_ns += slot->pack_ns;
	c->session->assemble_ns += w->assemble_ns;
	c->session->commit_ns += w->commit_ns;
}

/* Writes the batch in slot i, unless nothing is to be written. Called with the lock held. */
static void write_batch(struct crew *c, uint32_t i, void *image)
{
	struct berth *b = &c->berth[i];
	uint64_t start = sl_now_ns();

	b->state = WRITING;
	pthread_mutex_unlock(&c->lock);
	memset(&b->sinking, 0, sizeof(b->sinking));
	b->status = SL_OK;
	if (!c->control->discard)
		b->status = sl_sink_write(c->plan, c->dir, &c->plan->slot[i], image, &b->sinking);
	if (b->status != SL_OK)
		memcpy(b->story, sl_story(), sizeof(b->story));
	pthread_mutex_lock(&c->lock);
	c->session->busy_ns[SL_WORKER_writers] += sl_now_ns() - start;
	b->state = WRITTEN;
	pthread_cond_broadcast(&c->changed);
}

/* What was written gets its name, and who looks on sees it. */
static enum sl_status hand_over(struct crew *c, const struct sl_slot *slot, struct berth *b)
{
	if (b->status != SL_OK) {
		sl_retell(b->story); /* it may be another writer's */
		return b->status;
	}
	if (!c->control->discard)
		SL_TRY(sl_sink_commit(c->plan, c->dir, slot, &b->sinking));
	if (c->control->batch)
		c->control->batch(c->control->of, slot);
	return SL_OK;
}

/* Commits the batch in slot i, the next in order. Called with the lock held. */
static void commit_batch(struct crew *c, uint32_t i)
{
	const struct sl_slot *slot = &c->plan->slot[i];
	struct berth *b = &c->berth[i];
	uint64_t start = sl_now_ns();
	enum sl_status s;

	b->state = COMMITTING;
	pthread_mutex_unlock(&c->lock);
	s = hand_over(c, slot, b);
	pthread_mutex_lock(&c->lock);
	c->session->busy_ns[SL_WORKER_writers] += sl_now_ns() - start;
	if (s != SL_OK) {
		fail(c, s);
	} else {
		count(c, slot, &b->sinking);
		look_at_goal(c, is_last(c, &slot->batch.tally, slot->batch.n));
	}
	b->state = FREE;
	pthread_cond_broadcast(&c->changed);
}

/* Is there nothing in flight that could be written or committed some time? */
static bool is_all_done(const struct crew *c)
{
	for (uint32_t i = 0; i < c->plan->n_slots; i++)
		if (c->berth[i].state != FREE)
			return false;
	return c->computing == 0;
}

/* What can be committed goes first: it frees a slot. */
static void *write_out(void *of)
{
	struct crew *c = (struct crew *)of;
	uint32_t n = c->plan->n_slots, i;
	char *image;

	pthread_mutex_lock(&c->lock);
	image = (char *)c->plan->image + c->writers++ * c->plan->room.image;
	while (c->status == SL_OK && !c->met && !is_all_done(c)) {
		if ((i = find_in_order(c, COMMITTING)) == n && (i = find_in_order(c, WRITTEN)) < n)
			commit_batch(c, i);
		else if ((i = find_in_order(c, READY)) < n)
			write_batch(c, i, image);
		else
			pthread_cond_wait(&c->changed, &c->lock);
	}
	c->working--;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* Removes what was written and is not to be committed. */
static void drop_written(const struct crew *c)
{
	for (uint32_t i = 0; i < c->plan->n_slots; i++)
		if (c->berth[i].state == WRITTEN && c->berth[i].sinking.file.dir)
			sl_file_remove_part(&c->berth[i].sinking.file);
}

/* --- the main thread -------------------------------------------------------------------------- */

static void tell(struct crew *c, const struct sl_control *control, double start)
{
	struct sl_progress p = {.n_batches = c->end,
		.at_most = c->plan->goal.below > 0 && !c->met,
		.particles = c->plan->recipe.particles,
		.seconds = seconds_now() - start,
		.left = -1};

	if (!control->progress)
		return;
	p.batches_done = c->done->n + c->commits;
	p.particles_done = c->session->particles;
	for (size_t i = 0; i < c->done->n; i++)
		p.particles_done += c->done->line[i].generated;
	if (c->met)
		p.particles = p.particles_done;
	if (c->session->particles > 0 && p.seconds > 0) {
		p.rate = (double)c->session->particles / p.seconds;
		p.left = (double)(p.particles - p.particles_done) / p.rate;
	}
	control->progress(control->of, &p);
}

/*
 * Is it time to begin no more batches? By a signal, or because one more could end too late: twice
 * the longest so far, and two seconds for the writer and for ending in order.
 */
static bool is_time_to_stop(const struct crew *c, struct sl_control *control, double taken)
{
	return atomic_load(&control->stop) ||
	       (control->stop_before > 0 && taken + 2 * c->longest + 2 >= control->stop_before);
}

/* Is it time to give up what is in flight? */
static bool is_time_to_drop(const struct sl_control *control, double taken, double since_asked)
{
	int patience = control->patience > 0 ? control->patience : 6;

	return control->stop_before > 0 && !atomic_load(&control->stop)
	               ? taken + 1 >= control->stop_before
	               : since_asked > patience;
}

/* Waits for all threads; looks at control five times a second. Called with the lock held. */
static void watch(struct crew *c, struct sl_control *control)
{
	double start = seconds_now(), asked = -1, told = start;

	while (c->working > 0) {
		struct timespec until;

		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += 200000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&c->changed, &c->lock, &until);
		if (asked < 0 && is_time_to_stop(c, control, seconds_now() - start)) {
			asked = seconds_now();
			c->stop = true;
			pthread_cond_broadcast(&c->changed);
		}
		if (asked >= 0 &&
			is_time_to_drop(control, seconds_now() - start, seconds_now() - asked))
			atomic_store(&c->drop, 1);
		/* threads that wake this one often do not make it tell more often */
		if (seconds_now() - told >= 0.2 || c->working == 0) {
			tell(c, control, start);
			told = seconds_now();
		}
	}
	c->session->seconds = seconds_now() - start;
}

/* Starts writers, then threads of work; those that did start are counted in *started. */
static enum sl_status hire(struct crew *c, pthread_t *thread, uint32_t *started)
{
	uint32_t writers = c->plan->n_writers, n = writers + c->plan->threads;
	sigset_t all, old;
	int error = 0;

	/* Signals are for the main thread, but for those that a thread brings about itself. */
	sigfillset(&all);
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	c->computing = c->plan->threads;
	for (*started = 0; *started < n && error == 0; *started += error == 0) {
		c->working++;
		error = pthread_create(
			&thread[*started], NULL, *started < writers ? write_out : work, c);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (error == 0)
		return SL_OK;
	c->working--;
	return sl_fail(SL_HOST_MEMORY,
		"thread %u of %u could not be started (%s), try fewer run.threads", *started, n - 1,
		strerror(error));
}

/* Threads, slots and lanes of a crew, in one block that is got before the first particle. */
static enum sl_status get_berths(struct crew *c, pthread_t **thread, void **memory)
{
	const struct sl_plan *plan = c->plan;
	size_t threads = (plan->n_writers + plan->threads) * sizeof(pthread_t);
	size_t berths = plan->n_slots * sizeof(*c->berth), lanes = plan->n_lanes * sizeof(bool);

	SL_TRY(sl_memory_get(SL_HOST, berths + threads + lanes, memory));
	memset(*memory, 0, berths + threads + lanes);
	c->berth = (struct berth *)*memory;
	*thread = (pthread_t *)(void *)((char *)*memory + berths);
	c->lane_taken = (bool *)*memory + berths + threads;
	return SL_OK;
}

static enum sl_status run(struct crew *c, struct sl_control *control)
{
	uint32_t started;
	pthread_t *thread;
	void *memory;
	enum sl_status s;

	SL_TRY(get_berths(c, &thread, &memory));
	pthread_mutex_lock(&c->lock);
	s = hire(c, thread, &started);
	if (s != SL_OK)
		fail(c, s);
	watch(c, control);
	pthread_mutex_unlock(&c->lock);
	for (uint32_t i = 0; i < started; i++)
		pthread_join(thread[i], NULL);
	drop_written(c);
	sl_memory_give(SL_HOST, memory);
	if (c->status != SL_OK)
		sl_retell(c->story); /* it was another thread's */
	return c->status;
}

const char *const sl_workers[SL_WORKER_COUNT] = {
#define X(name) #name,
	SL_WORKERS(X)
#undef X
};

double sl_session_busy(const struct sl_session *s, const struct sl_plan *plan, enum sl_worker kind)
{
	const uint32_t n[SL_WORKER_COUNT] = {[SL_WORKER_device] = plan->n_lanes,
		[SL_WORKER_threads] = plan->threads,
		[SL_WORKER_writers] = plan->n_writers};

	return n[kind] > 0 && s->seconds > 0
	               ? 1e-9 * (double)s->busy_ns[kind] / (n[kind] * s->seconds)
	               : 0;
}

enum sl_status sl_run(struct sl_plan *plan, const struct sl_dir *dir,
	const struct sl_manifest *done, struct sl_control *control, struct sl_session *session)
{
	struct crew c = {.plan = plan,
		.dir = dir,
		.done = done,
		.control = control,
		.session = session,
		.end = plan->recipe.n_batches};
	pthread_condattr_t monotonic;
	enum sl_status s;

	memset(session, 0, sizeof(*session));
	plan->recipe.drop = &c.drop;
	look_at_goal(&c, false);
	if (plan->recipe.inputs)
		sl_inputs_restart(plan->recipe.inputs);
	pthread_mutex_init(&c.lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&c.changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	s = run(&c, control);
	pthread_cond_destroy(&c.changed);
	pthread_mutex_destroy(&c.lock);
	plan->recipe.drop = NULL;
	if (s != SL_OK && s != SL_STOPPED)
		return s;
	if (done->n + c.commits < c.end)
		return sl_fail(SL_STOPPED,
			"stopped with %llu of %s%llu batches committed (%s), go on with --resume",
			(unsigned long long)(done->n + c.commits),
			plan->goal.below > 0 ? "at most " : "", (unsigned long long)c.end,
			atomic_load(&control->stop) ? "asked by a signal"
						    : "its time is nearly up");
	return SL_OK;
}
