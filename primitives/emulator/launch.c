/*
 * launch.c - runs a kernel launch: decides which blocks are in flight and which thread runs next.
 *
 * Each block in flight occupies one element of places[], with its threads, warps and shared memory.
 * A thread runs on its own stack until it waits or lets others run (thread.c). Control then returns
 * to run_round() here. One launch runs at a time, under the lock of the driver.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "primitives/device/device_driver.h"
#include "primitives/emulator/emulator.h"

#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#else
#define VALGRIND_MAKE_MEM_UNDEFINED(p, bytes) 0
#endif

enum {
	PLACES_MOST = SL_EMULATED_BLOCKS_MAX + SL_FIBER_SPARE_SETS,
	IDLE_ROUNDS_MOST =
		10000, /* rounds with nothing but backoffs, after which a livelock is assumed */
	SHARED_ALIGN = 128
};

struct sl_emulated_here sl_emulated_here;
struct sl_running sl_running;

static struct sl_block *places; /* PLACES_MOST elements, allocated at the first launch and kept */
static char end;                /* tag for sl_fiber_release: the end of all threads of a launch */

const char *sl_emulated_problem(void)
{
	return sl_running.problem;
}

/* xorshift64 (Marsaglia, 2003). */
uint32_t sl_random_below(uint32_t n)
{
	uint64_t r = sl_running.random | 1; /* the state must not be 0 */

	r ^= r << 13;
	r ^= r >> 7;
	r ^= r << 17;
	sl_running.random = r;
	return (uint32_t)(r >> 32) % n;
}

/* --- threads ---------------------------------------------------------------------------------- */

/* The first function on the stack of a thread. */
static void body(void)
{
	struct sl_thread *t = sl_running.thread;

	sl_fiber_acquire(&t->block->order->start);
	sl_running.launch->call(sl_running.closure);
	sl_fiber_release(&t->block->order->end);
	sl_fiber_release(&end);
	t->state = SL_DONE;
	sl_fiber_leave(&t->fiber, true);
}

/*
 * Prepares a thread, which run_round() starts later. The stack in b->thread[] is mapped at its
 * first use and kept for later launches. False if the host has no memory for a stack.
 */
static bool begin_thread(struct sl_block *b, uint32_t number)
{
	struct sl_thread *t = &b->thread[number];

	if (!sl_fiber_begin(&t->fiber, body))
		return false;
	sl_fiber_name(&t->fiber, b->number, number);
	t->block = b;
	t->number = number;
	t->state = SL_READY;
	t->is_polling = false;
	b->warp[number / SL_WARP].alive |= 1u << number % SL_WARP;
	b->begun++;
	b->ready++;
	return true;
}

/*
 * Runs t until it waits, ends or lets others run. First sets the built-in variables, which are
 * global.
 */
static void resume(struct sl_thread *t)
{
	sl_running.thread = t;
	sl_running.loads = 0;
	sl_emulated_here.thread.x = t->number;
	sl_emulated_here.block.x = t->block->number;
	sl_fiber_enter(&t->fiber);
}

/* Discards a thread whose launch has failed before it ended. */
static void abandon(struct sl_thread *t)
{
	sl_fiber_act_as(&t->fiber);
	sl_fiber_release(&t->block->order->end);
	sl_fiber_release(&end);
	sl_fiber_act_as(NULL);
	sl_fiber_abandon(&t->fiber);
	t->state = SL_DONE;
}

/* --- blocks ----------------------------------------------------------------------------------- */

void *sl_shared_get(size_t bytes)
{
	void *p;

	if (posix_memalign(&p, SHARED_ALIGN, bytes) != 0)
		return NULL;
	memset(p, SL_EMULATED_FILL, bytes);
	(void)VALGRIND_MAKE_MEM_UNDEFINED(p, bytes);
	return p;
}

/* Also for a block that begin_block() has begun in part: b->begun counts the threads that exist. */
static void end_block(struct sl_block *b)
{
	for (uint32_t i = 0; i < b->begun; i++)
		if (b->thread[i].state != SL_DONE)
			abandon(&b->thread[i]);
	sl_access_block_ends(b);
	for (uint32_t i = 0; i < b->n_variables; i++)
		sl_fiber_free(b->variable[i].at, &b->order->end);
	sl_fiber_free(b->dynamic, &b->order->end);
	free(b->order);
	b->busy = false;
}

/* False if the host has no memory for the block. */
static bool begin_block(struct sl_block *b, uint32_t number)
{
	const struct sl_emulated_launch *launch = sl_running.launch;

	b->order = (struct sl_block_order *)malloc(sizeof(*b->order));
	if (!b->order)
		return false;
	b->dynamic = NULL;
	b->number = number;
	b->alive = launch->threads;
	b->begun = b->ready = b->waiting = b->round = 0;
	b->n_variables = 0;
	b->variable_bytes = 0;
	memset(b->warp, 0, sizeof(b->warp));
	b->busy = true;
	if (launch->shared_bytes > 0 && !(b->dynamic = sl_shared_get(launch->shared_bytes)))
		return false;
	for (uint32_t i = 0; i < launch->threads; i++)
		if (!begin_thread(b, i))
			return false;
	sl_fiber_release(&b->order->start);
	return true;
}

/* A thread has ended, so the barrier no longer waits for it. */
static void count_ended(struct sl_block *b, const struct sl_thread *t)
{
	sl_running.progressed = true;
	b->alive--;
	b->ready--;
	b->warp[t->number / SL_WARP].alive &= ~(1u << t->number % SL_WARP);
	if (b->alive > 0 && b->waiting == b->alive)
		sl_barrier_open(b);
}

/* A random step that is coprime to n, so that stepping by it modulo n visits every element. */
static uint32_t random_step(uint32_t n)
{
	for (;;) {
		uint32_t step = 1 + sl_random_below(n), a = n, b = step;

		while (b) {
			uint32_t rest = a % b;

			a = b;
			b = rest;
		}
		if (a == 1)
			return step;
	}
}

/*
 * Resumes each ready thread of a block once, in order or, with a seed, in random order. With a seed
 * a thread may be skipped, and the threads of one warp are skipped most of the time.
 */
static bool run_round(struct sl_block *b)
{
	bool shuffled = sl_running.settings->seed != 0;
	uint32_t n = sl_running.launch->threads, warps = (n + SL_WARP - 1) / SL_WARP;
	uint32_t i = shuffled ? sl_random_below(n) : 0, step = shuffled ? random_step(n) : 1;
	uint32_t delayed_warp = (b->number + b->round) % warps;

	for (uint32_t k = 0; k < n; k++, i += i + step < n ? step : step - n) {
		struct sl_thread *t = &b->thread[i];

		if (t->state != SL_READY)
			continue;
		if (shuffled && sl_random_below(16) < (i / SL_WARP == delayed_warp ? 15 : 4))
			continue;
		resume(t);
		if (sl_running.problem[0])
			return false;
		if (t->state == SL_DONE)
			count_ended(b, t);
	}
	return true;
}

/* --- errors ----------------------------------------------------------------------------------- */

static void report_deadlock(const struct sl_block *b)
{
	static const char *const where[] = {
		[SL_AT_BARRIER] = "at the barrier",
		[SL_AT_WARP] = "in the warp call",
		[SL_AT_MBARRIER] = "at the mbarrier",
	};
	const struct sl_thread *first[SL_DONE + 1] = {NULL};
	char *text = sl_running.problem;
	size_t size = sizeof(sl_running.problem);
	int used = snprintf(
		text, size, "%s, block %u: deadlock", sl_running.launch->kernel, b->number);

	for (uint32_t i = sl_running.launch->threads; i-- > 0;)
		first[b->thread[i].state] = &b->thread[i];
	for (int state = SL_AT_BARRIER; state <= SL_AT_MBARRIER; state++)
		if (first[state] && used > 0 && (size_t)used < size)
			used += snprintf(text + used, size - (size_t)used,
				", thread %u waits %s of %s:%d", first[state]->number, where[state],
				first[state]->at.file, first[state]->at.line);
	if (used > 0 && (size_t)used < size)
		snprintf(text + used, size - (size_t)used, " for threads that do not arrive");
}

/* Names the last thread that called sl_backoff(): it waits for a value that nobody will write. */
static void report_livelock(void)
{
	const struct sl_running *r = &sl_running;

	snprintf(sl_running.problem, sizeof(sl_running.problem),
		"%s, block %u, thread %u, at %s:%d: livelock, it waits for work that no block in "
		"flight will do; blocks may start in any order",
		r->launch->kernel, r->backoff_block, r->backoff_thread, r->backoff_at.file,
		r->backoff_at.line);
}

/* --- launches --------------------------------------------------------------------------------- */

/* Progress of a launch: blocks started and in flight, and the elements of places[] that it uses. */
struct progress {
	uint32_t started, in_flight, in_flight_most;
	uint32_t places, next_place;
	uint32_t delayed; /* with a seed: index of the block that is skipped while others can run */
};

/*
 * The number of stacks limits the blocks in flight. More places than blocks in flight exist only
 * under ThreadSanitizer, where consecutive blocks must not use the same fibers (fiber.h).
 */
static struct progress progress_of(const struct sl_emulated_launch *l)
{
	uint32_t most = SL_FIBERS_MAX / l->threads, n = sl_running.settings->blocks;
	struct progress t = {0};

	t.places = n + SL_FIBER_SPARE_SETS < most ? n + SL_FIBER_SPARE_SETS : most;
	t.in_flight_most = n < t.places ? n : t.places;
	return t;
}

static bool begin_next(struct progress *t)
{
	uint32_t blocks = sl_running.launch->blocks, block = t->started++;

	while (places[t->next_place].busy)
		t->next_place = (t->next_place + 1) % t->places;
	t->in_flight++;
	sl_running.progressed = true;
	if (begin_block(&places[t->next_place],
		    sl_running.settings->from_last ? blocks - 1 - block : block)) {
		t->next_place = (t->next_place + 1) % t->places;
		return true;
	}
	sl_running.error = SL_ERROR_MEMORY;
	snprintf(sl_running.problem, sizeof(sl_running.problem),
		"%s: the host has no memory for a block of the emulated device",
		sl_running.launch->kernel);
	return false;
}

/*
 * One round over all blocks in flight. With a seed a block may be skipped, and one is
 * skipped until all others wait for it: the order that exposes missing synchronisation best.
 */
static bool run_blocks(struct progress *t, bool idle)
{
	bool shuffled = sl_running.settings->seed != 0;

	if (shuffled && idle)
		t->delayed = sl_random_below(t->places);
	for (uint32_t k = 0; k < t->places; k++) {
		struct sl_block *b = &places[k];

		if (!b->busy)
			continue;
		if (shuffled && (sl_random_below(4) == 0 || (k == t->delayed && t->in_flight > 1)))
			continue;
		if (b->ready == 0) {
			report_deadlock(b);
			return false;
		}
		if (!run_round(b))
			return false;
		if (b->alive == 0) {
			end_block(b);
			t->in_flight--;
		}
	}
	return true;
}

/* Runs all blocks. False: the launch has failed; sl_running.problem says why. */
static bool run_launch(struct progress *t)
{
	for (uint32_t idle = 0; t->started < sl_running.launch->blocks || t->in_flight > 0;) {
		sl_running.progressed = sl_running.backed_off = false;
		while (t->started < sl_running.launch->blocks && t->in_flight < t->in_flight_most)
			if (!begin_next(t))
				return false;
		if (!run_blocks(t, idle > 0))
			return false;
		if (sl_running.progressed)
			idle = 0;
		else if (sl_running.backed_off && ++idle == IDLE_ROUNDS_MOST) {
			report_livelock();
			return false;
		}
	}
	return true;
}

/*
 * Each launch gets its own sequence of random numbers from the seed, so a run with the same seed
 * has the same order of threads. The factor spreads neighbouring seeds over all bits (2^64 / golden
 * ratio).
 */
int sl_emulated_run(const struct sl_emulated_launch *l, const void *closure)
{
	static uint64_t launches;
	struct progress t;
	bool ended;

	if (!places)
		places = (struct sl_block *)calloc(PLACES_MOST, sizeof(*places));
	if (!places)
		return SL_ERROR_MEMORY;
	memset(&sl_running, 0, sizeof(sl_running));
	sl_running.settings = sl_emulator_get_settings();
	sl_running.launch = l;
	sl_running.closure = closure;
	sl_running.error = SL_ERROR_LAUNCH;
	sl_running.random = (sl_running.settings->seed + launches++) * UINT64_C(0x9e3779b97f4a7c15);
	sl_emulated_here.threads.x = l->threads;
	sl_emulated_here.blocks.x = l->blocks;
	sl_fiber_set_scheduler();
	t = progress_of(l);
	sl_access_launch_begins();
	ended = run_launch(&t);
	for (uint32_t k = 0; k < PLACES_MOST; k++)
		if (places[k].busy)
			end_block(&places[k]);
	sl_access_launch_ends();
	sl_fiber_acquire(&end);
	return ended ? 0 : sl_running.error;
}
