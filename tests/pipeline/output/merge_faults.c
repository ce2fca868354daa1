/*
 * merge_faults.c - the merge of a joined file while calls and threads fail; the memory that it
 * takes; records that get lost. tests/faults/faults.c lets calls of the whole program fail.
 *
 * Replaced are sl_memory_get(), sl_memory_give() and fork(), to count memory and processes, and
 * sl_thread_start(), to let it fail.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "pipeline/batch_file/batch_file.h"
#include "pipeline/results/results.h"
#include "pipeline/run/run.h"
#include "primitives/base/jobs.h"
#include "tests/cases/sampling.h"
#include "tests/faults/fault_injection.h"
#include "tests/support/basic/replaced.h"
#include "tests/support/program/program.h"
#include "tests/support/runs/merges.h"

static void *do_nothing(void *ctx)
{
	return ctx;
}

BEFORE_TESTS()
{
	pthread_t thread;

	/*
	 * When a process starts its first thread, ThreadSanitizer starts another one, which would
	 * be counted.
	 */
	assert_int_equal(pthread_create(&thread, NULL, do_nothing, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	merges_begin();
}

/* --- replaced functions ----------------------------------------------------------------------- */

enum { BLOCKS_MOST = 4096 };

/* A block of memory. */
struct block {
	void *at;
	size_t bytes;
};

/* During a merge. */
static struct {
	bool on;
	pthread_mutex_t lock;
	pthread_t by;
	bool tables;    /* the format is one of tables */
	bool reads;     /* tasks read batches, so they allocate */
	bool elsewhere; /* another thread has allocated */
	struct block block[BLOCKS_MOST];
	size_t now, most; /* bytes of the host */
	nlink_t threads;  /* before */
	unsigned forks, forks_with_threads;
	char fault[32];
	unsigned thread_fails; /* the number of the first thread that is not started; 0: none */
} during = {.lock = PTHREAD_MUTEX_INITIALIZER};

REPLACED(enum sl_status, sl_memory_get, enum sl_space space, size_t bytes, void **p)
{
	enum sl_status s = __real_sl_memory_get(space, bytes, p);
	uint32_t i = 0;

	if (!during.on || space != SL_HOST || s != SL_OK)
		return s;
	pthread_mutex_lock(&during.lock);
	during.elsewhere |= !during.reads && !pthread_equal(during.by, pthread_self());
	while (during.block[i].at)
		assert_true(++i < BLOCKS_MOST);
	during.block[i] = (struct block){*p, bytes};
	during.now += bytes;
	during.most = during.now > during.most ? during.now : during.most;
	pthread_mutex_unlock(&during.lock);
	return s;
}

REPLACED(void, sl_memory_give, enum sl_space space, void *p)
{
	pthread_mutex_lock(&during.lock);
	for (uint32_t i = 0; during.on && p && i < BLOCKS_MOST; i++)
		if (during.block[i].at == p) {
			during.now -= during.block[i].bytes;
			during.block[i].at = NULL;
			break;
		}
	pthread_mutex_unlock(&during.lock);
	__real_sl_memory_give(space, p);
}

REPLACED(int, sl_thread_start, size_t stack_bytes, void *(*body)(void *), void *ctx,
	struct sl_thread_handle *thread)
{
	if (during.on && during.thread_fails == 1)
		return EAGAIN;
	during.thread_fails -= during.on && during.thread_fails > 0;
	return __real_sl_thread_start(stack_bytes, body, ctx, thread);
}

/* A directory for each thread. */
static nlink_t threads_now(void)
{
	struct stat tasks;

	assert_int_equal(stat("/proc/self/task", &tasks), 0);
	return tasks.st_nlink;
}

REPLACED(pid_t, fork, void)
{
	during.forks += during.on;
	during.forks_with_threads += during.on && threads_now() > during.threads;
	return __real_fork();
}

/* --- failing calls ---------------------------------------------------------------------------- */

static void begin(void)
{
	during.now = during.most = 0;
	during.forks_with_threads = 0;
	during.by = pthread_self();
	during.threads = threads_now();
	during.on = true;
	(void)sl_fault_set(during.fault[0] ? during.fault : NULL);
}

static void end(void)
{
	during.on = false;
	(void)sl_fault_set(NULL);
}

/* A call that fails: its number, and how the merge ends then. */
struct failure {
	const char *call;
	int error;
	enum sl_status status;
	const char *text;
	unsigned k;
};

/*
 * Merges while the call fails. No other thread allocates but to read batches for an intermediate
 * file, which is reported in their order: a fault would then have another outcome at each time. A
 * process that starts while threads run can inherit a lock that none of them releases. Returns
 * whether all was right.
 */
static bool merge_failing(const struct failure *f, struct merge *m)
{
	const bool sink = strcmp(f->call, "sink") == 0, thread = strcmp(f->call, "thread") == 0;

	m->fails = sink ? f->k : 0;
	during.thread_fails = thread ? f->k : 0;
	during.fault[0] = '\0';
	if (f->k > 0 && !sink && !thread)
		snprintf(during.fault, sizeof(during.fault), "%s:%u:%d", f->call, f->k, f->error);
	during.reads = during.tables || m->files > 0;
	during.elsewhere = false;
	m->before = begin;
	m->after = end;
	merge_again(m);
	return during.now == 0 && !during.elsewhere && during.forks_with_threads == 0;
}

static const char *const formats[] = {"mcpl", "mcpl.gz", "npz", "csv", "csv.gz", "openpmd"};
static char *file; /* the right one */
static size_t file_bytes;

static void make_run(const char *format, uint32_t particles, uint32_t batches, uint32_t sample)
{
	struct list_run r = list_run_of(format, DISTINCT, particles, batches);

	r.sample = sample;
	during.tables = strcmp(format, "npz") == 0 || strncmp(format, "csv", 3) == 0;
	make_list_run(&r, "cpu");
	free(file);
	file = expect_joined(&r, &file_bytes);
}

enum { FAILED, NOT_REACHED, WRONG };

/* Merges by an intermediate file. */
static int try_failure(const struct failure *f)
{
	struct merge m = {.threads = 3, .files = 2};
	const size_t before = run_entries();

	if (!merge_failing(f, &m) || run_entries() != before)
		return WRONG;
	if (m.status != SL_OK)
		return m.status == f->status && strstr(m.message, f->text) ? FAILED : WRONG;
	if (m.bytes != file_bytes || memcmp(merged, file, file_bytes) != 0)
		return WRONG;
	return NOT_REACHED;
}

/* Each call fails in turn. No file is left. */
TEST(failed_calls_end_the_merge)
{
	static const struct failure calls[] = {
		{"sink", 0, SL_DISK, "of the test fails", 0},
		{"file_open", EIO, SL_DISK, "Input/output error", 0},
		{"file_write", ENOSPC, SL_DISK, "No space left", 0},
		{"file_fsync", EIO, SL_DISK, "Input/output error", 0},
		{"file_map", EIO, SL_DISK, "Input/output error", 0},
		{"host_malloc", ENOMEM, SL_HOST_MEMORY, "bytes requested", 0},
	};

	const size_t n_formats = sizeof(formats) / sizeof(*formats),
		     n_calls = sizeof(calls) / sizeof(*calls), rows = n_calls * n_formats;
	const struct sl_sampled share = sl_sampling_share(rows);

	for (uint64_t i = share.first; i < rows; i += share.step) {
		const size_t call = i / n_formats;
		const char *format = formats[i % n_formats];
		struct failure f = calls[call];
		int outcome = FAILED;
		uint64_t k = 1;

		make_run(format, i < 3 ? MANY : FEW, 5, call == n_calls - 1 ? FEW / 2 : 0);
		for (; outcome == FAILED; k = sl_sampling_next(k, UINT64_MAX)) {
			f.k = (unsigned)k;
			outcome = try_failure(&f);
		}
		if (outcome != NOT_REACHED || f.k == 1)
			fail_msg("%s, %s %u: outcome %d", format, f.call, f.k, outcome);
	}
}

TEST(missing_threads_change_nothing)
{
	make_run("mcpl.gz", MANY, 5, 0);
	for (unsigned k = 1; k <= 4; k++) {
		struct failure f = {"thread", 0, SL_OK, "", k};

		assert_int_equal(try_failure(&f), NOT_REACHED);
	}
}

/* With a key, one for each thread and not for each of 10 batches; without one, for each batch. */
TEST(processes_start_without_threads)
{
	const struct failure none = {"none", 0, SL_OK, "", 0};

	for (unsigned key = DISTINCT; key <= NO_KEY; key += NO_KEY - DISTINCT) {
		struct list_run r = list_run_of("openpmd", key, MANY, 10);
		struct merge m = {.threads = 3};

		r.high = MANY; /* a block is full before the last batch */
		make_list_run(&r, "cpu");
		during.forks = 0;
		assert_true(merge_failing(&none, &m));
		assert_int_equal(SL_OK, m.status);
		assert_true(during.forks >= (key == NO_KEY ? 10 : m.threads));
		assert_true(key == NO_KEY || during.forks < 10);
	}
}

/* --- memory ----------------------------------------------------------------------------------- */

/*
 * The plan counts sources, each with a window and a state if it is gzip, threads with their blocks,
 * and the search for a sample. Rows of tables are counted with their constant columns.
 */
TEST(the_plan_counts_the_memory)
{
	static const struct {
		const char *format;
		uint32_t batches, threads, sample;
		size_t more; /* that the plan may count */
	} rows[] = {{"mcpl", 4, 1, 0, 1 << 18}, {"mcpl", 100, 1, 0, 1 << 18},
		{"mcpl", 40, 4, 0, 1 << 18}, {"mcpl", 40, 10, 0, 1 << 18},
		{"mcpl.gz", 4, 1, 0, 1 << 19}, {"mcpl.gz", 100, 1, 0, 1 << 19},
		{"mcpl.gz", 40, 4, 0, 1 << 19}, {"mcpl.gz", 40, 10, 0, 1 << 19},
		{"npz", 4, 1, 0, 5 << 20}, {"npz", 100, 1, 0, 5 << 20}, {"npz", 40, 4, 0, 5 << 20},
		{"npz", 40, 10, 0, 5 << 20}, {"mcpl", 4, 1, 1000, 0}, {"npz", 4, 1, 1000, 0}};
	enum { SMALL = 1024 }; /* descriptions that the plan does not count */

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct failure none = {"none", 0, SL_OK, "", 0};
		struct merge m = {.threads = rows[i].threads};

		make_run(rows[i].format, FEW, rows[i].batches, rows[i].sample);
		assert_true(merge_failing(&none, &m));
		assert_int_equal(m.status, SL_OK);
		if (m.planned + SMALL < during.most || m.planned > during.most + rows[i].more)
			fail_msg("row %zu: %zu bytes are planned, and %zu used", i, m.planned,
				during.most);
	}
}

/* --- lost records ----------------------------------------------------------------------------- */

/* Packs all survivors of batch 0 but some, and writes the file of a batch that has all. */
static enum sl_status write_batch(const struct opened *o, struct sl_workspace *w, uint32_t lost)
{
	const struct sl_manifest_line *l = &o->m.line[0];
	const struct sl_file_facts run = sl_plan_batch_facts(o->plan);
	struct sl_host_slot *slot = &w->slot[0];
	struct sl_batch_write writing = {.commit_ns = 0};
	struct sl_survivors s;
	enum sl_status status;

	assert_ok(sl_survivors_read(&o->dir, l->file.name, NULL, &s));
	slot->batch = (struct sl_batch){.number = l->batch,
		.first_id = l->first_id,
		.n = (uint32_t)l->generated,
		.n_survivors = s.table.n,
		.table = s.table};
	s.table.n -= lost;
	assert_ok(sl_format_pack(
		o->plan->choices.format, &slot->exec, &run, &s.table, NULL, &slot->packed));
	slot->batch.table.n = 0; /* sort keys are made from columns that the file may lack */
	status = sl_batch_file_write(o->plan, &o->dir, slot, w->file_image, &writing);
	sl_batch_file_remove_parts(&writing);
	sl_survivors_free(&s);
	return status;
}

TEST(lost_rows_of_a_batch_are_noticed)
{
	struct sl_workspace *w;
	struct opened o;

	for (int f = 0; f < 6; f++) {
		size_t before;

		make_run(formats[f], FEW, 4, 0);
		before = run_entries();
		open_run(&o, 1);
		assert_ok(sl_workspace_open(o.plan, &w));
		assert_ok(sl_workspace_allocate(w));
		assert_ok(write_batch(&o, w, 0));
		assert_fails(write_batch(&o, w, 1), SL_INTERNAL, "values were written");
		assert_int_equal(run_entries(), before);
		sl_workspace_close(w);
		close_run(&o);
	}
}
