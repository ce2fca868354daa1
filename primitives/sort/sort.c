/*
 * sort/sort.c - sl_sort(): checks the arguments of a radix sort, then runs the chosen backend.
 *
 * Backends rely on these checks: at least two keys and one bit, buffers of the right size and
 * alignment that do not overlap, enough scratch, and a tuning that the device supports.
 */
#include <string.h>

#include "primitives/check_args.h"
#include "primitives/primitives.h"

/* Buffers of a job: keys and indices, in and out, and n_on_device. */
enum { BUFFERS_MAX = 5 };

/* The outputs are those of the inputs (keys, or pairs), or none for a sort in place. */
static enum sl_status check_outputs(const struct sl_backend *b, const struct sl_sort_job *job)
{
	if (job->index_out && !job->index)
		return sl_fail(SL_USAGE,
			"sort/%s: index_out is given, but index is not; give both, or neither to "
			"sort keys only",
			b->name);
	if (!job->index || !job->key_out == !job->index_out)
		return SL_OK;
	return sl_fail(SL_USAGE,
		"sort/%s: %s is given, but %s is not; pairs need both outputs, or neither to "
		"sort in place",
		b->name, job->key_out ? "key_out" : "index_out",
		job->key_out ? "index_out" : "key_out");
}

/* Each buffer of the job, and no two of them overlap. */
static enum sl_status check_buffers(
	const struct sl_backend *b, const struct sl_exec *x, const struct sl_sort_job *job)
{
	const size_t word = sizeof(uint32_t), item = sl_type_bytes(job->type);
	struct sl_buffer m[BUFFERS_MAX];
	int n = 0;

	SL_TRY(check_outputs(b, job));
	m[n++] = (struct sl_buffer){"key", job->key, job->n, item, item, false, 0};
	if (job->index)
		m[n++] = (struct sl_buffer){"index", job->index, job->n, word, word, false, 0};
	if (job->key_out)
		m[n++] = (struct sl_buffer){"key_out", job->key_out, job->n, item, item, false, 0};
	if (job->index_out)
		m[n++] = (struct sl_buffer){
			"index_out", job->index_out, job->n, word, word, false, 0};
	SL_TRY(sl_check_count(b, job->n_on_device, job->n_type, &m[n++]));
	return sl_check_buffers(b, m, n, x);
}

/* Copies an array in the space of the job. */
static enum sl_status copy_column(const struct sl_exec *x, void *to, const void *from, size_t bytes)
{
	if (x->space != SL_HOST)
		return sl_copy(to, from, bytes, x->stream);
	if (bytes > 0)
		memcpy(to, from, bytes);
	return SL_OK;
}

/* For a job with nothing to order: copies the inputs to the outputs, if there are outputs. */
static enum sl_status pass_through(const struct sl_exec *x, const struct sl_sort_job *job)
{
	if (job->key_out)
		SL_TRY(copy_column(x, job->key_out, job->key, job->n * sl_type_bytes(job->type)));
	if (job->index_out)
		SL_TRY(copy_column(x, job->index_out, job->index, job->n * sizeof(uint32_t)));
	return SL_OK;
}

enum sl_status sl_sort(const struct sl_backend *b, struct sl_exec *x, const struct sl_sort_job *job)
{
	struct sl_sort_job run;
	struct sl_shape shape = {0};
	struct sl_exec tuned;
	bool ordered, counted;

	SL_TRY(sl_check_backend(SL_SORT, b, x, job));
	SL_TRY(sl_check_type(b, job->type));
	SL_TRY(sl_check_bits(b, job->type, job->begin_bit, job->end_bit));
	SL_TRY(sl_check_inner_scan(b, &job->scan));
	SL_TRY(sl_tuning_check(b, x->tuning, job->type));
	SL_TRY(check_buffers(b, x, job));
	run = *job;
	run.n = sl_host_count(x->space, job->n_on_device, job->n_type, job->n);
	ordered = job->n < 2 || job->begin_bit == job->end_bit;
	/* the device then knows how many items to copy */
	counted = x->space != SL_HOST && job->n_on_device && job->n > 0 && job->key_out;
	if (ordered && !counted)
		return pass_through(x, &run);
	shape.n = job->n;
	shape.type = job->type;
	shape.tuning = x->tuning;
	shape.scan = job->scan;
	shape.keys_only = !job->index;
	SL_TRY(sl_check_scratch(b, x, &shape));
	tuned = sl_tuned_exec(b, x);
	return run.n < 2 && !counted ? pass_through(x, &run) : b->sort(&tuned, &run);
}
