/* job.c - the names of a job, and the backends that perform it. */
#include "bench/cells/cells.h"

#include <math.h>

#include "primitives/base/clock.h"

struct sl_job sl_job_usual(enum sl_primitive p, enum sl_type type, uint32_t n)
{
	struct sl_job job = {p, {.n = n, .type = type, .input = SL_INPUT_RANDOM}};

	job.set.alive = SL_ALIVE_HALF;
	if (p == SL_SORT)
		job.set.end_bit = type == SL_U32 ? 32 : 64;
	return job;
}

double sl_choice_number(const struct sl_input_choice *choice, int n, uint32_t value)
{
	for (int i = 0; i < n; i++)
		if (choice[i].value == value)
			return choice[i].number;
	return NAN;
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

	snprintf(text, SL_JOB_BYTES, "%s %s, n=%u", sl_job_name(job), sl_type_text(set->type),
		set->n);
	if (job->primitive == SL_COMPACT || job->primitive == SL_EXPAND)
		sl_append(text, SL_JOB_BYTES, ", %s", sl_alive_name(set->alive));
	if (set->columns.n > 0)
		sl_append(text, SL_JOB_BYTES, ", %u columns of %u bytes", set->columns.n,
			set->columns.bytes);
	if (job->primitive == SL_SORT)
		sl_append(text, SL_JOB_BYTES, ", %u bits, %s", set->end_bit,
			sl_distribution_name(set->input));
	if (set->off[0] > 0 || set->off[1] > 0)
		sl_append(text, SL_JOB_BYTES, ", %u and %u off", set->off[0], set->off[1]);
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

/* --- the tunings with which a backend is measured --------------------------------------------- */

/* The block sizes of --tunings: multiples of a warp, closer together where they are small. */
static const struct sl_number_list usual_blocks = {
	13, {32, 64, 96, 128, 192, 256, 320, 384, 448, 512, 640, 768, 1024}};

/* The default of the backend. */
static const struct sl_number_list own = {1, {0}};

/* The values of each parameter that are combined. */
struct values {
	struct sl_number_list blocks, items, paddings;
};

/* All values of items that the backend has, or its default if it has no choice. */
static struct sl_number_list all_items(const struct sl_tunable *tunable)
{
	struct sl_number_list all = {0};

	while (all.n < 8 && tunable->items_can[all.n] != 0) {
		all.at[all.n] = tunable->items_can[all.n];
		all.n++;
	}
	return all.n > 0 ? all : own;
}

static struct values values_of(
	const struct sl_backend *backend, const struct sl_bench_options *options)
{
	static const struct sl_number_list both = {2, {SL_PADDING_ON, SL_PADDING_OFF}};
	struct values v = {own, own, own};

	if (options->tunings) {
		v.blocks = usual_blocks;
		v.items = all_items(&backend->tunable);
		v.paddings = backend->tunable.padding ? both : own;
	}
	v.blocks = *sl_number_list_or(&options->blocks, &v.blocks);
	v.items = *sl_number_list_or(&options->items, &v.items);
	v.paddings = *sl_number_list_or(&options->paddings, &v.paddings);
	return v;
}

/* Combines a block with all items and paddings. Skips tunings that the backend cannot run with. */
static enum sl_status each_of_block(const struct sl_backend *backend, enum sl_type type,
	const struct values *v, uint32_t block, sl_each_tuning *each, void *ctx)
{
	for (uint32_t i = 0; i < v->items.n; i++)
		for (uint32_t k = 0; k < v->paddings.n; k++) {
			const struct sl_tuning tuning = {
				block, v->items.at[i], (enum sl_padding)v->paddings.at[k], 0};

			if (sl_tuning_check(backend, tuning, type) == SL_OK)
				SL_TRY(each(ctx, tuning));
		}
	return SL_OK;
}

enum sl_status sl_tunings_each(const struct sl_backend *backend, enum sl_type type,
	const struct sl_bench_options *options, sl_each_tuning *each, void *ctx)
{
	const struct values v = values_of(backend, options);
	bool is_asked = options->tunings || options->blocks.n > 0 || options->items.n > 0 ||
	                options->paddings.n > 0;

	if (options->tunings || !is_asked || backend->tunable.block == 0)
		SL_TRY(each(ctx, (struct sl_tuning){0}));
	if (!is_asked || backend->tunable.block == 0)
		return SL_OK;
	for (uint32_t i = 0; i < v.blocks.n; i++)
		SL_TRY(each_of_block(backend, type, &v, v.blocks.at[i], each, ctx));
	return SL_OK;
}

bool sl_bench_has_time(const struct sl_bench *b, double seconds)
{
	return b->deadline_ns == 0 || sl_now_ns() + (uint64_t)(1e9 * seconds) < b->deadline_ns;
}
