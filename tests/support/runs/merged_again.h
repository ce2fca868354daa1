/*
 * merged_again.h - runs whose joined file is sorted over the run, and their merge again, in memory, in any number
 * of threads.
 */
#ifndef SL_TESTS_SUPPORT_RUNS_MERGED_AGAIN_H
#define SL_TESTS_SUPPORT_RUNS_MERGED_AGAIN_H

#include "pipeline/output/existing_run.h"
#include "pipeline/output/merge/ordered_list.h"
#include "pipeline/plan/joined_memory.h"
#include "tests/support/program/folder.h"

/* Particles of a run of several blocks and gzip members for each thread, and of a small one. */
enum { MANY = 200000, FEW = 4000 };

/* Keys: two energies, so that nearly all are equal; and keys that differ. */
extern const char ties[], distinct[];

/*
 * Makes a run in `out` below the folder of the test with so many batches, the last quarter of which
 * have no survivors. Its joined file is made by one thread. more are further members of output.
 */
void make_sorted_run(unsigned particles, unsigned batches, const char *key, const char *format,
	const char *more);

/* The run in `out`, opened again from its own files. */
struct opened {
	struct sl_existing_run existing;
	struct sl_manifest m;
	struct sl_plan *plan;
	struct sl_dir dir;
};

/* With a plan for so many threads; 0: those of the run. */
void open_run(struct opened *o, uint32_t threads);
void close_run(struct opened *o);

/* The bytes of a joined file, as far as they were sent. */
struct sent {
	char *bytes;
	size_t used, most;
	unsigned calls, fails; /* the number of the call that fails; 0: none */
	enum sl_status status;
	char message[SL_MESSAGE_BYTES];
	const struct sl_order_devices *devices; /* that sort the keys, or NULL */
	struct sl_joined_list list;             /* what the merge says about itself */
};

/*
 * Merges the batches of a run again, at most so many files at a time. before and after, if not NULL, are called
 * around it. The caller frees s->bytes.
 */
void merge_again(const struct opened *o, uint32_t most, void (*before)(void), void (*after)(void),
	struct sent *s);

/* Opens the run in `out`, and merges it in so many threads. */
struct sent merged_by(uint32_t threads, uint32_t most);

/* The joined file of a run in this format. The caller frees it. */
char *joined_file(const char *format, size_t *bytes);

/* Expects the bytes of a joined file. Frees those of s. */
void expect_sent(struct sent *s, const char *file, size_t bytes);

/* The numbers of threads that are tested. */
enum { THREAD_COUNTS = 4 };
extern const uint32_t threads_of[THREAD_COUNTS];

/* Expects that each number of threads gives the bytes of the joined file. */
void expect_same_bytes(const char *format, uint32_t most);

#endif
