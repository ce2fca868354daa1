/*
 * merges.h - runs of particle lists with a joined file: what the file must contain, and its merge
 * again in memory.
 *
 * BEFORE_TESTS() of a file calls merges_begin(). User flags are the numbers of the particles.
 */
#ifndef SL_TESTS_SUPPORT_RUNS_MERGES_H
#define SL_TESTS_SUPPORT_RUNS_MERGES_H

#include "pipeline/output/output.h"
#include "pipeline/plan/plan.h"
#include "tests/support/formats/mcpl_lists.h"
#include "tests/support/program/fixture.h"
#include "tests/support/runs/same_run.h"

/* Particles of the short list, and of one of several blocks and gzip members for each thread. */
enum { FEW = 2000, MANY = 150000 };

/* The keys of runs: nearly all equal, different, of more than 32 bits, descending numbers, none. */
enum { TIES, DISTINCT, WIDE, DESCENDING, NO_KEY, KEYS };

/* Makes the lists in the folder of the test, and emulates devices. */
void merges_begin(void);

/* A run of the first particles. Those from number low on and below high survive. */
struct list_run {
	const char *format;
	unsigned key;
	uint32_t particles, batch, low, high;
	uint32_t sample, limit;
	bool by_batch;      /* the joined file has one batch after another, each in its order */
	bool common_weight; /* all particles have the weight that the header of the list states */
	const char *more;   /* further members of output, and lines after it; or NULL */
};

/* A run of equal batches, the last quarter of which has no survivors. */
struct list_run list_run_of(const char *format, unsigned key, uint32_t particles, uint32_t batches);

/* Runs it on a device to the folder `out`, and verifies it. */
void make_list_run(const struct list_run *r, const char *device);

/*
 * Expects that the joined file has the right particles in the right order. Returns its bytes; the
 * caller frees them.
 */
char *expect_joined(const struct list_run *r, size_t *bytes);

/* The number of files in the folder of the run. */
size_t run_entries(void);

/* A sample of n of the kept particles with this seed. Returns the threshold. */
double keep_sample(uint64_t seed, uint64_t n, struct sl_mcpl_particle *kept, uint64_t *kept_n);

extern struct sl_mcpl_particle listed[MANY];

/* A merge of the run in `out` into memory. */
struct merge {
	uint32_t threads, files;              /* files: open at a time */
	unsigned fails;                       /* the call of the sink that fails; 0: none */
	void (*before)(void), (*after)(void); /* called around the merge, or NULL */
	/* the result */
	enum sl_status status;
	char message[SL_MESSAGE_BYTES];
	struct sl_joined_list list;
	size_t bytes, planned; /* that were merged; the memory that the plan has for it */
	unsigned calls;        /* of the sink */
};

void merge_again(struct merge *m);

/* The bytes of the last merge. */
extern char *merged;

#endif
