/*
 * primitives.c - the command primitives: measures every combination of the lists of the options.
 *
 * A job has one input, one size and one number of bits. Its input is made once for all backends.
 */
#include "bench/commands/commands.h"

#include "bench/cells/cells.h"

/* Skips numbers of bits that the type does not have. */
static enum sl_status measure_form(
	struct sl_bench *b, const struct sl_setting *set, enum sl_sort_form form)
{
	static const struct sl_number_list random = {1, {SL_INPUT_RANDOM}};
	const struct sl_number_list *inputs = sl_number_list_or(&b->options->inputs, &random);
	uint32_t all = set->type == SL_U32 ? 32 : 64;
	const struct sl_number_list all_bits = {1, {all}};
	const struct sl_number_list *bits = sl_number_list_or(&b->options->bits, &all_bits);

	for (uint32_t i = 0; i < inputs->n; i++)
		for (uint32_t k = 0; k < bits->n; k++) {
			struct sl_job job = {SL_SORT, *set};

			job.set.input = (enum sl_input)inputs->at[i];
			job.set.end_bit = bits->at[k];
			job.set.keys_only = form == SL_SORT_KEYS;
			if (bits->at[k] <= all)
				SL_TRY(sl_job_measure(b, &job));
		}
	return SL_OK;
}

static enum sl_status measure_sorts(struct sl_bench *b, const struct sl_setting *set)
{
	static const struct sl_number_list both = {SL_SORT_FORMS, {SL_SORT_PAIRS, SL_SORT_KEYS}};
	const struct sl_number_list *forms = sl_number_list_or(&b->options->forms, &both);

	for (uint32_t i = 0; i < forms->n; i++)
		SL_TRY(measure_form(b, set, (enum sl_sort_form)forms->at[i]));
	return SL_OK;
}

/* Compactions and expansions. A call that moves columns writes no indices. */
static enum sl_status measure_moves(
	struct sl_bench *b, enum sl_primitive p, const struct sl_setting *set)
{
	static const struct sl_number_list half = {1, {SL_ALIVE_HALF}}, none = {1, {0}};
	const struct sl_number_list *survivors = sl_number_list_or(&b->options->survivors, &half);
	const struct sl_number_list *columns = sl_number_list_or(&b->options->columns, &none);

	for (uint32_t i = 0; i < survivors->n; i++)
		for (uint32_t k = 0; k < columns->n; k++) {
			struct sl_job job = {p, *set};

			job.set.alive = (enum sl_alive)survivors->at[i];
			job.set.columns = sl_columns_of_number(columns->at[k]);
			job.set.no_indices = job.set.columns.n > 0;
			SL_TRY(sl_job_measure(b, &job));
		}
	return SL_OK;
}

/* All jobs of one size and alignment of both arrays. */
static enum sl_status measure_all(struct sl_bench *b, uint32_t n, uint32_t off, uint32_t off_second)
{
	static const struct sl_number_list both = {2, {SL_U32, SL_U64}};
	const struct sl_number_list *types = sl_number_list_or(&b->options->types, &both);
	const struct sl_number_list *spare = &b->options->spare;
	struct sl_setting set = {.n = n,
		.input = SL_INPUT_RANDOM,
		.off = {off, off_second},
		.counted = spare->n > 0,
		.spare = spare->n > 0 ? spare->at[0] : 0};

	for (uint32_t i = 0; i < types->n; i++) {
		set.type = (enum sl_type)types->at[i];
		SL_TRY(sl_job_measure(b, &(struct sl_job){SL_SCAN, set}));
	}
	set.type = SL_U32;
	SL_TRY(measure_moves(b, SL_COMPACT, &set));
	for (uint32_t i = 0; i < types->n; i++) {
		set.type = (enum sl_type)types->at[i];
		if (sl_type_is_float(set.type)) /* of scans alone */
			continue;
		SL_TRY(measure_moves(b, SL_EXPAND, &set));
		SL_TRY(measure_sorts(b, &set));
	}
	return SL_OK;
}

/* All alignments of one size. */
static enum sl_status measure_alignments(struct sl_bench *b, uint32_t n)
{
	static const struct sl_number_list aligned = {1, {0}};
	const struct sl_number_list *first = sl_number_list_or(&b->options->off, &aligned);

	for (uint32_t i = 0; i < first->n; i++) {
		const struct sl_number_list same = {1, {first->at[i]}};
		const struct sl_number_list *second =
			sl_number_list_or(&b->options->off_second, &same);

		for (uint32_t k = 0; k < second->n; k++)
			SL_TRY(measure_all(b, n, first->at[i], second->at[k]));
	}
	return SL_OK;
}

/* Default sizes; the emulated device is slow. */
enum { N_USUAL = 1 << 27, N_EMULATED = 1 << 12 };

enum sl_status sl_bench_primitives(struct sl_bench *b)
{
	const struct sl_number_list usual = {1, {sl_device_is_emulated() ? N_EMULATED : N_USUAL}};
	const struct sl_number_list *sizes = sl_number_list_or(&b->options->sizes, &usual);

	if (b->options->only && sl_job_backend(b->options, SL_DEFLATE, 0))
		return sl_bench_deflate(b);
	sl_cell_row_heading();
	for (uint32_t i = 0; i < sizes->n; i++)
		SL_TRY(measure_alignments(b, sizes->at[i]));
	return SL_OK;
}
