/* job.c - the names of a job, and the backends that perform it. */
#include "bench/cells/job.h"

#include <math.h>

struct sl_job sl_job_usual(enum sl_primitive p, enum sl_type type, uint32_t n)
{
	struct sl_job job = {p, {.n = n, .type = type, .input = SL_INPUT_RANDOM}};

	job.set.alive = SL_ALIVE_HALF;
	if (p == SL_SORT)
		job.set.end_bit = type == SL_U32 ? 32 : 64;
	return job;
}

double sl_input_entropy(enum sl_input input)
{
	for (int i = 0; i < SL_ENTROPIES; i++)
		if (sl_entropies[i].value == (uint32_t)input)
			return sl_entropies[i].number;
	return NAN;
}

double sl_alive_percent(enum sl_alive alive)
{
	for (int i = 0; i < SL_SURVIVORS; i++)
		if (sl_survivors[i].value == (uint32_t)alive)
			return sl_survivors[i].number;
	return NAN;
}

const char *sl_type_name(enum sl_type type)
{
	return type == SL_U32 ? "u32" : "u64";
}

const char *sl_job_name(const struct sl_job *job)
{
	if (job->primitive == SL_SORT && job->set.keys_only)
		return "sort-keys";
	return sl_primitive_name(job->primitive);
}

const char *sl_job_text(const struct sl_job *job, char text[SL_JOB_BYTES])
{
	const struct sl_setting *set = &job->set;
	size_t used = (size_t)snprintf(text, SL_JOB_BYTES, "%s %s, n=%u", sl_job_name(job),
		sl_type_name(set->type), set->n);

	if (job->primitive == SL_COMPACT)
		used += (size_t)snprintf(
			text + used, SL_JOB_BYTES - used, ", %s", sl_alive_name(set->alive));
	if (set->columns.n > 0)
		used += (size_t)snprintf(text + used, SL_JOB_BYTES - used,
			", %u columns of %u bytes", set->columns.n, set->columns.bytes);
	if (job->primitive == SL_SORT)
		used += (size_t)snprintf(text + used, SL_JOB_BYTES - used, ", %u bits, %s",
			set->end_bit, sl_distribution_name(set->input));
	if (set->off[0] > 0 || set->off[1] > 0)
		snprintf(text + used, SL_JOB_BYTES - used, ", %u and %u off", set->off[0],
			set->off[1]);
	return text;
}

const struct sl_backend *sl_job_backend(
	const struct sl_bench_options *options, enum sl_primitive p, size_t i)
{
	const struct sl_backend *backend;

	for (size_t k = 0; (backend = sl_backend_at(k)) != NULL; k++)
		if (backend->primitive == p && backend->space == SL_DEVICE &&
			sl_bench_selects(options, backend) && i-- == 0)
			return backend;
	return NULL;
}
