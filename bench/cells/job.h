/* job.h - a job: a primitive with its input, size and type, which several backends perform. */
#ifndef SL_BENCH_CELLS_JOB_H
#define SL_BENCH_CELLS_JOB_H

#include "bench/measure/options.h"

struct sl_job {
	enum sl_primitive primitive;
	struct sl_setting set; /* its tuning is ignored */
};

/* The usual job: random values, half of the items survive, all bits of the keys. */
struct sl_job sl_job_usual(enum sl_primitive p, enum sl_type type, uint32_t n);

/* "u32" or "u64". */
const char *sl_type_name(enum sl_type type);

/* The name of the primitive; "sort-keys" for a sort of keys alone. */
const char *sl_job_name(const struct sl_job *job);

/* "sort u32, n=1048576, 32 bits, entropy 0.811". */
enum { SL_JOB_BYTES = 160 };
const char *sl_job_text(const struct sl_job *job, char text[SL_JOB_BYTES]);

/* Entropy per bit of the keys: 1 for "random"; NaN for inputs that --entropy does not offer. */
double sl_input_entropy(enum sl_input input);

/* Percentage of survivors; NaN for those that --survivors does not offer. */
double sl_alive_percent(enum sl_alive alive);

/* The i-th device backend of p that --only selects, in the order of backends.def; NULL past the
 * last. */
const struct sl_backend *sl_job_backend(
	const struct sl_bench_options *options, enum sl_primitive p, size_t i);

#endif
