/*
 * compact.c - the test case of compact: from no item to all items alive, any alignment, every scan
 * backend, and additional columns of all sizes.
 */
#include "case.h"

#include <stdio.h>
#include <string.h>

/* Block numbers. Column k is read from block FROM + 2 * k and written to block TO + 2 * k. */
enum { KEEP, OUT, N_OUT, FROM, TO };

static void describe(const struct sl_setting *set, char *text, size_t size)
{
	const struct sl_moved_columns *columns = &set->columns;
	size_t used = (size_t)snprintf(text, size, "%s, scan %s", sl_alive_name(set->alive),
		set->scan ? set->scan->name : "default");

	if (columns->n > 0)
		snprintf(text + used, size - used, ", %u columns of %u bytes%s", columns->n,
			columns->bytes, set->no_indices ? ", no indices" : "");
	sl_describe_offsets(set, text, size);
}

/* --- the input -------------------------------------------------------------------------------- */

/* Item size of column k. If the setting asks for all sizes: 4, 8, 16, 32, 1, 2 in turn. */
static uint32_t bytes_of(const struct sl_setting *set, uint32_t k)
{
	return set->columns.bytes > 0 ? set->columns.bytes : UINT32_C(1) << (k + 2) % 6;
}

/* The input is the flags, then the columns of random bits, each in whole words. */
static size_t words_before(const struct sl_setting *set, uint32_t column)
{
	size_t words = ((size_t)set->n + 7) / 8;

	for (uint32_t k = 0; k < column; k++)
		words += ((size_t)set->n * bytes_of(set, k) + 7) / 8;
	return words;
}

static uint8_t *keep_of(const struct sl_trial *t)
{
	return (uint8_t *)t->input;
}

static uint64_t *column_of(const struct sl_trial *t, uint32_t k)
{
	return (uint64_t *)t->input + words_before(&t->set, k);
}

static enum sl_status make_input(struct sl_trial *t)
{
	const uint32_t n = t->set.columns.n;

	SL_TRY(sl_memory_get(SL_HOST, words_before(&t->set, n) * sizeof(uint64_t), &t->input));
	sl_alive_fill(t->set.alive, t->set.n, keep_of(t));
	for (uint32_t k = 0; k < n; k++) {
		uint64_t *column = column_of(t, k), *end = column_of(t, k + 1);

		for (uint64_t i = 0; column + i < end; i++)
			column[i] = sl_mixed((uint64_t)(k + 1) << 40 | i);
	}
	return SL_OK;
}

/* --- a run ------------------------------------------------------------------------------------ */

static enum sl_status make(struct sl_trial *t)
{
	const struct sl_setting *set = &t->set;
	struct sl_shape shape = {.n = set->n,
		.tuning = set->tuning,
		.scan = {.backend = set->scan},
		.n_columns = set->columns.n};

	sl_trial_count(t);
	shape.n = t->most;
	SL_TRY(make_input(t));
	SL_TRY(sl_trial_block(t, set->n, 1, set->off[0], keep_of(t)));
	SL_TRY(sl_trial_block(
		t, set->no_indices ? 0 : set->n, sizeof(uint32_t), set->off[1], NULL));
	SL_TRY(sl_trial_block(t, 1, sizeof(uint32_t), 0, NULL));
	for (uint32_t k = 0; k < set->columns.n; k++) {
		SL_TRY(sl_trial_block(
			t, set->n, bytes_of(set, k), set->off[k % 2], column_of(t, k)));
		SL_TRY(sl_trial_block(t, set->n, bytes_of(set, k), set->off[k / 2 % 2], NULL));
	}
	SL_TRY(sl_trial_count_block(t));
	return sl_trial_scratch(t, &shape);
}

static enum sl_status run(struct sl_trial *t)
{
	struct sl_exec x = sl_trial_exec(t);
	struct sl_compact_column column[SL_COMPACT_COLUMNS_MAX];
	struct sl_compact_job job = {.keep = (const uint8_t *)t->block[KEEP].at,
		.out = t->set.no_indices ? NULL : (uint32_t *)t->block[OUT].at,
		.n_out = (uint32_t *)t->block[N_OUT].at,
		.n = t->most,
		.n_on_device = t->n_on_device,
		.n_type = t->set.n_type,
		.n_columns = t->set.columns.n,
		.column = column,
		.scan = {.backend = t->set.scan}};
	enum sl_status s;

	for (uint32_t k = 0; k < job.n_columns; k++)
		column[k] = (struct sl_compact_column){
			t->block[FROM + 2 * k].at, t->block[TO + 2 * k].at, bytes_of(&t->set, k)};
	s = sl_compact(t->backend, &x, &job);
	memset(column, 0xff, sizeof(column)); /* sl_compact() must not use it after it returns */
	return s;
}

/* --- the answer ------------------------------------------------------------------------------- */

/* The count, and the indices if the job has such an output. */
static enum sl_status right_list(const struct sl_trial *t)
{
	const uint8_t *keep = keep_of(t);
	const uint32_t *out = (const uint32_t *)t->result[OUT],
		       n_out = *(uint32_t *)t->result[N_OUT];
	uint32_t n_kept = 0;

	for (uint32_t i = 0; i < t->set.n; i++) {
		if (keep[i] && !t->set.no_indices && out[n_kept] != i)
			return sl_fail(SL_CHECK_FAILED, "survivor %u is %u, not %u", n_kept,
				out[n_kept], i);
		n_kept += keep[i] != 0;
	}
	if (n_out == n_kept)
		return SL_OK;
	return sl_fail(SL_CHECK_FAILED, "%u survivors were counted, not %u", n_out, n_kept);
}

static enum sl_status compare_column(
	uint32_t n, const uint8_t *keep, const char *from, const char *to, size_t bytes)
{
	const char *at = to;

	for (uint32_t i = 0; i < n; i++) {
		if (!keep[i])
			continue;
		if (memcmp(at, from + i * bytes, bytes) != 0)
			return sl_fail(SL_CHECK_FAILED, "survivor %zu is not item %u",
				(size_t)(at - to) / bytes, i);
		at += bytes;
	}
	return SL_OK;
}

static enum sl_status right(const struct sl_trial *t)
{
	SL_TRY(right_list(t));
	for (uint32_t k = 0; k < t->set.columns.n; k++)
		SL_TRY(sl_add_context(
			compare_column(t->set.n, keep_of(t), (const char *)column_of(t, k),
				(const char *)t->result[TO + 2 * k], bytes_of(&t->set, k)),
			"column %u of %u bytes", k, bytes_of(&t->set, k)));
	return SL_OK;
}

static uint64_t count_kept(const struct sl_trial *t)
{
	const uint8_t *keep = keep_of(t);
	uint64_t n_kept = 0;

	for (uint32_t i = 0; i < t->set.n; i++)
		n_kept += keep[i] != 0;
	return n_kept;
}

/* Only the bytes of the survivors count: a backend may write anything after them. */
static void answer_bytes(const struct sl_trial *t, uint64_t bytes[SL_TRIAL_BLOCKS])
{
	const uint64_t n_kept = count_kept(t);

	bytes[OUT] = t->set.no_indices ? 0 : n_kept * sizeof(uint32_t);
	for (uint32_t k = 0; k < t->set.columns.n; k++)
		bytes[TO + 2 * k] = n_kept * bytes_of(&t->set, k);
}

/* Bytes read of a column: whole memory sectors of 32 bytes, each in which an item survives. */
static uint64_t bytes_read(const struct sl_trial *t, uint32_t item_bytes)
{
	enum { SECTOR = 32 };
	const uint8_t *keep = keep_of(t);
	uint32_t items = SECTOR / item_bytes;
	uint64_t bytes = 0;
	bool alive = false;

	for (uint32_t i = 0; i < t->set.n; i++) {
		alive = alive || keep[i];
		if (i % items == items - 1 || i == t->set.n - 1) {
			bytes += alive ? SECTOR : 0;
			alive = false;
		}
	}
	return bytes;
}

/*
 * Lower bound: every flag is read, every survivor is written, and each sector of a column that
 * contains a survivor is read.
 */
static uint64_t bytes_moved(const struct sl_trial *t)
{
	const uint64_t n_kept = count_kept(t);
	uint64_t bytes = t->set.n, read = 0;

	bytes += t->set.no_indices ? 0 : n_kept * sizeof(uint32_t);
	for (uint32_t k = 0; k < t->set.columns.n; k++) {
		if (k == 0 || t->set.columns.bytes == 0)
			read = bytes_read(t, bytes_of(&t->set, k));
		bytes += read + n_kept * bytes_of(&t->set, k);
	}
	return bytes;
}

const struct sl_case sl_case_compact = {
	SL_COMPACT, describe, make, run, right, answer_bytes, bytes_moved};
