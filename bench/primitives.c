/*
 * primitives.c - the command: every combination of what is asked for, size by size.
 *
 * A job has one input, one size, one number of bits; it is made once and done by all.
 */
#include "bench/bench.h"

/* A list, or what stands for it when nothing is asked. */
static const struct sl_numbers *or_usual(
	const struct sl_numbers *asked, const struct sl_numbers *usual)
{
	return asked->n > 0 ? asked : usual;
}

/* A job that has run out of time, or of memory, does not end the others. */
static enum sl_status measure(struct sl_bench *b, const struct sl_job *job)
{
	char text[SL_JOB_BYTES];
	enum sl_status s;

	if (!sl_job_backend(b->asked, job->primitive, 0))
		return SL_OK;
	if (!sl_bench_has_time(b, 0)) {
		sl_sheet_left_out(b->sheet, sl_job_text(job, text));
		return SL_OK;
	}
	s = sl_job_measure(b, job);
	if (s != SL_DEVICE_MEMORY && s != SL_HOST_MEMORY)
		return s;
	printf("not measured: %s\n", sl_last_error());
	sl_sheet_left_out(b->sheet, sl_last_error());
	return SL_OK;
}

/* One form. Bits that a type does not have are left to the other. */
static enum sl_status measure_form(
	struct sl_bench *b, const struct sl_setting *set, enum sl_form form)
{
	static const struct sl_numbers random = {1, {SL_INPUT_RANDOM}};
	const struct sl_numbers *inputs = or_usual(&b->asked->inputs, &random);
	uint32_t all = set->type == SL_U32 ? 32 : 64;
	const struct sl_numbers every = {1, {all}}, *bits = or_usual(&b->asked->bits, &every);

	for (uint32_t i = 0; i < inputs->n; i++)
		for (uint32_t k = 0; k < bits->n; k++) {
			struct sl_job job = {SL_SORT, *set};

			job.set.input = (enum sl_input)inputs->at[i];
			job.set.end_bit = bits->at[k];
			job.set.keys_only = form == SL_KEYS;
			if (bits->at[k] <= all)
				SL_TRY(measure(b, &job));
		}
	return SL_OK;
}

static enum sl_status measure_sorts(struct sl_bench *b, const struct sl_setting *set)
{
	static const struct sl_numbers both = {SL_FORMS, {SL_PAIRS, SL_KEYS}};
	const struct sl_numbers *forms = or_usual(&b->asked->forms, &both);

	for (uint32_t i = 0; i < forms->n; i++)
		SL_TRY(measure_form(b, set, (enum sl_form)forms->at[i]));
	return SL_OK;
}

static enum sl_status measure_scans(struct sl_bench *b, const struct sl_setting *set)
{
	struct sl_job job = {SL_SCAN, *set};

	job.set.input = SL_INPUT_RANDOM;
	return measure(b, &job);
}

/* With columns there are no indices. */
static enum sl_status measure_compacts(struct sl_bench *b, const struct sl_setting *set)
{
	static const struct sl_numbers half = {1, {SL_ALIVE_HALF}}, none = {1, {0}};
	const struct sl_numbers *survivors = or_usual(&b->asked->survivors, &half);
	const struct sl_numbers *columns = or_usual(&b->asked->columns, &none);

	for (uint32_t i = 0; i < survivors->n; i++)
		for (uint32_t k = 0; k < columns->n; k++) {
			struct sl_job job = {SL_COMPACT, *set};

			job.set.alive = (enum sl_alive)survivors->at[i];
			job.set.columns = sl_asked_columns(columns->at[k]);
			job.set.no_indices = job.set.columns.n > 0;
			SL_TRY(measure(b, &job));
		}
	return SL_OK;
}

/* All of one size and alignment. */
static enum sl_status measure_all(struct sl_bench *b, uint32_t n, uint32_t off)
{
	static const struct sl_numbers both = {2, {SL_U32, SL_U64}};
	const struct sl_numbers *types = or_usual(&b->asked->types, &both);
	struct sl_setting set = {.n = n, .off = {off, off}};

	for (uint32_t i = 0; i < types->n; i++) {
		set.type = (enum sl_type)types->at[i];
		SL_TRY(measure_scans(b, &set));
	}
	set.type = SL_U32;
	SL_TRY(measure_compacts(b, &set));
	for (uint32_t i = 0; i < types->n; i++) {
		set.type = (enum sl_type)types->at[i];
		SL_TRY(measure_sorts(b, &set));
	}
	return SL_OK;
}

/* On the emulated device, what can be waited for. */
enum { N_USUAL = 1 << 27, N_EMULATED = 1 << 12 };

enum sl_status sl_bench_primitives(struct sl_bench *b)
{
	static const struct sl_numbers aligned = {1, {0}};
	const struct sl_numbers usual = {1, {sl_device_is_emulated() ? N_EMULATED : N_USUAL}};
	const struct sl_numbers *sizes = or_usual(&b->asked->sizes, &usual);
	const struct sl_numbers *off = or_usual(&b->asked->off, &aligned);

	if (b->asked->only && sl_job_backend(b->asked, SL_DEFLATE, 0))
		return sl_bench_deflate(b);
	sl_cell_heading();
	for (uint32_t i = 0; i < sizes->n; i++)
		for (uint32_t k = 0; k < off->n; k++)
			SL_TRY(measure_all(b, sizes->at[i], off->at[k]));
	if (b->wrong)
		return sl_fail(SL_CHECK_FAILED, "an answer was wrong, see the table");
	return SL_OK;
}
