/*
 * global_sort.c - the command global_sort: sorts keys that are distributed over the devices of --devices.
 *
 * Rows for the first device alone, for the first 2, 4, ... of the list and for all. Each device has n random
 * keys, so the ratio to one device is that of keys per second. The time is that of the whole call on the
 * host, which waits for all devices: sorts, search for the boundaries, exchange and merge. Before the timing
 * the result is checked: keys ascend, each index belongs to its key, and equal keys are in their order; of
 * keys alone, the sum of their hashes.
 */
#include "bench/commands/global_sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/base/clock.h"
#include "primitives/global_sort/global_sort.h"
#include "stages/host/host_pipeline.h"
#include "tests/cases/inputs.h"

enum { N_USUAL = 1 << 27, N_EMULATED = 1 << 10, SAMPLES_USUAL = 15, SAMPLES_MOST = 256 };

/* One row: n keys for each of n_shares devices. */
struct row {
	struct sl_bench *b;
	struct sl_global_sort sort;
	uint32_t n, n_shares;
	bool keys_only;
	uint64_t *input; /* the n keys of share 0 on the host */
	struct sl_device device[SL_DEVICES_MAX];
	struct sl_global_share share[SL_DEVICES_MAX];
	/* Copies of the keys and indices before the sort, on the devices. */
	void *key[SL_DEVICES_MAX];
	uint32_t *index[SL_DEVICES_MAX];
};

/* Key number i of share k. Shares have different keys, because a constant is added to all of them. */
static uint64_t key_of(const struct row *r, uint32_t k, uint32_t i)
{
	uint64_t key = r->input[i] + k * UINT64_C(0x9e3779b97f4a7c15);

	return r->sort.type == SL_U32 ? (uint32_t)key : key;
}

static size_t key_bytes(const struct row *r)
{
	return sl_type_bytes(r->sort.type);
}

static void put_key(const struct row *r, void *keys, uint32_t i, uint64_t key)
{
	if (r->sort.type == SL_U32)
		((uint32_t *)keys)[i] = (uint32_t)key;
	else
		((uint64_t *)keys)[i] = key;
}

static uint64_t get_key(const struct row *r, const void *keys, uint64_t i)
{
	return r->sort.type == SL_U32 ? ((const uint32_t *)keys)[i] : ((const uint64_t *)keys)[i];
}

/* --- memory ----------------------------------------------------------------------------------- */

/* Makes the keys and indices of share k on the host, and copies them to the device. */
static enum sl_status fill_share(struct row *r, uint32_t k)
{
	const struct sl_global_share *s = &r->share[k];
	uint64_t *keys = (uint64_t *)malloc(r->n * sizeof(*keys));
	uint32_t *index = (uint32_t *)malloc(r->n * sizeof(*index));
	enum sl_status status = SL_OK;

	if (!keys || !index)
		status = sl_fail(SL_HOST_MEMORY, "no memory for %u keys", r->n);
	for (uint32_t i = 0; status == SL_OK && i < r->n; i++) {
		put_key(r, keys, i, key_of(r, k, i));
		index[i] = k * r->n + i;
	}
	if (status == SL_OK)
		status = sl_copy(r->key[k], keys, r->n * key_bytes(r), s->stream);
	if (status == SL_OK && !r->keys_only)
		status = sl_copy(r->index[k], index, r->n * sizeof(*index), s->stream);
	if (status == SL_OK)
		status = sl_stream_wait(s->stream);
	free(keys);
	free(index);
	return status;
}

static enum sl_status open_share(struct row *r, uint32_t k, uint32_t number)
{
	const uint64_t keys = (uint64_t)r->n * r->n_shares;
	struct sl_global_share *s = &r->share[k];

	SL_TRY(sl_device_use((int)number, &r->device[k]));
	s->device = &r->device[k];
	s->n = r->n;
	s->scratch.size = sl_global_sort_scratch(&r->sort, r->n, keys, r->n_shares, r->keys_only);
	SL_TRY(sl_stream_make(&s->stream));
	SL_TRY(sl_memory_get(SL_DEVICE, s->scratch.size, &s->scratch.base));
	SL_TRY(sl_memory_get(SL_DEVICE, r->n * key_bytes(r), &s->key));
	SL_TRY(sl_memory_get(SL_DEVICE, r->n * key_bytes(r), &s->key_out));
	SL_TRY(sl_memory_get(SL_DEVICE, r->n * key_bytes(r), &r->key[k]));
	if (!r->keys_only) {
		const size_t bytes = r->n * sizeof(uint32_t);

		SL_TRY(sl_memory_get(SL_DEVICE, bytes, (void **)&s->index));
		SL_TRY(sl_memory_get(SL_DEVICE, bytes, (void **)&s->index_out));
		SL_TRY(sl_memory_get(SL_DEVICE, bytes, (void **)&r->index[k]));
	}
	return fill_share(r, k);
}

static void close_row(struct row *r)
{
	for (uint32_t k = 0; k < r->n_shares; k++) {
		struct sl_global_share *s = &r->share[k];

		if (!s->device || !sl_device_switch(s->device))
			continue;
		sl_memory_give(SL_DEVICE, s->scratch.base);
		sl_memory_give(SL_DEVICE, s->key);
		sl_memory_give(SL_DEVICE, s->key_out);
		sl_memory_give(SL_DEVICE, r->key[k]);
		sl_memory_give(SL_DEVICE, s->index);
		sl_memory_give(SL_DEVICE, s->index_out);
		sl_memory_give(SL_DEVICE, r->index[k]);
		sl_stream_free(s->stream);
	}
	(void)sl_device_switch(&r->b->device);
}

/* --- the check -------------------------------------------------------------------------------- */

/* What has been checked of the sorted keys of all shares. */
struct checked {
	uint64_t n, key, index; /* keys so far; the last pair */
	uint64_t hashes;        /* sum of the hashes of the keys */
};

static uint64_t hash_of(uint64_t key)
{
	key = (key ^ key >> 31) * UINT64_C(0x7fb5d329728ea185);
	return (key ^ key >> 27) * UINT64_C(0x81dadef4bc2dd44d);
}

/* The order of one pair, and that its index is that of its key. */
static bool is_right(const struct row *r, struct checked *c, uint64_t key, const uint32_t *index)
{
	const uint64_t at = index ? *index : 0;
	bool right = c->n == 0 || c->key < key || (c->key == key && (!index || c->index < at));

	if (index && right)
		right = at < (uint64_t)r->n * r->n_shares &&
		        key == key_of(r, (uint32_t)(at / r->n), (uint32_t)(at % r->n));
	c->hashes += hash_of(key);
	c->n++;
	c->key = key;
	c->index = at;
	return right;
}

/* Checks the part of share k, which is copied to keys and index on the host. */
static enum sl_status check_part(
	const struct row *r, uint32_t k, void *keys, uint32_t *index, struct checked *c)
{
	const struct sl_global_share *s = &r->share[k];
	const uint64_t part = sl_global_sort_part((uint64_t)r->n * r->n_shares, r->n_shares, k);

	if (!sl_device_switch(s->device))
		return sl_fail(SL_DEVICE_FAILED, "device %d has failed", s->device->number);
	SL_TRY(sl_copy(keys, s->key_out, part * key_bytes(r), s->stream));
	if (!r->keys_only)
		SL_TRY(sl_copy(index, s->index_out, part * sizeof(*index), s->stream));
	SL_TRY(sl_stream_wait(s->stream));
	for (uint64_t i = 0; i < part; i++)
		if (!is_right(r, c, get_key(r, keys, i), r->keys_only ? NULL : &index[i]))
			return sl_fail(SL_CHECK_FAILED, "wrong answer: pair %llu of device %d",
				(unsigned long long)i, s->device->number);
	return SL_OK;
}

static enum sl_status check_row(const struct row *r)
{
	struct checked c = {0};
	uint64_t *keys = (uint64_t *)malloc(r->n * sizeof(*keys)), hashes = 0;
	uint32_t *index = (uint32_t *)malloc(r->n * sizeof(*index));
	enum sl_status s =
		keys && index ? SL_OK : sl_fail(SL_HOST_MEMORY, "no memory for %u keys", r->n);

	for (uint32_t k = 0; s == SL_OK && k < r->n_shares; k++) {
		for (uint32_t i = 0; i < r->n; i++)
			hashes += hash_of(key_of(r, k, i));
		s = check_part(r, k, keys, index, &c);
	}
	free(keys);
	free(index);
	if (s == SL_OK && hashes != c.hashes)
		s = sl_fail(SL_CHECK_FAILED, "wrong answer: the keys are not those of the input");
	return s;
}

/* --- times ------------------------------------------------------------------------------------ */

/* Restores the input, and sorts; *ms is the time of the sort. */
static enum sl_status sort_once(struct row *r, double *ms)
{
	uint64_t start;

	for (uint32_t k = 0; k < r->n_shares; k++) {
		const struct sl_global_share *s = &r->share[k];

		if (!sl_device_switch(s->device))
			return sl_fail(SL_DEVICE_FAILED, "device %d has failed", s->device->number);
		SL_TRY(sl_copy(s->key, r->key[k], r->n * key_bytes(r), s->stream));
		if (!r->keys_only)
			SL_TRY(sl_copy(s->index, r->index[k], r->n * sizeof(uint32_t), s->stream));
		SL_TRY(sl_stream_wait(s->stream));
	}
	start = sl_now_ns();
	SL_TRY(sl_global_sort(&r->sort, r->share, r->n_shares));
	*ms = 1e-6 * (double)(sl_now_ns() - start);
	return SL_OK;
}

static enum sl_status time_row(struct row *r, struct sl_spread *t)
{
	const struct sl_number_list *samples = &r->b->options->samples;
	uint32_t n = samples->n > 0 ? samples->at[0] : SAMPLES_USUAL;
	double ms[SAMPLES_MOST];

	n = n < 1 ? 1 : n < SAMPLES_MOST ? n : SAMPLES_MOST;
	for (uint32_t i = 0; i < n; i++)
		SL_TRY(sort_once(r, &ms[i]));
	*t = sl_spread_of(ms, n);
	return SL_OK;
}

/* Prints the row, and adds it to the table. one: keys per second of one device; the emulated device has no times. */
static void show_row(const struct row *r, const struct sl_spread *t, double *one)
{
	const double keys = (double)r->n * r->n_shares;
	double rate = sl_device_is_emulated() ? (double)NAN : 1e-6 * keys / t->median;
	const char *type = r->sort.type == SL_U32 ? "u32" : "u64",
		   *form = r->keys_only ? "keys" : "pairs";

	if (r->n_shares == 1)
		*one = rate;
	const struct sl_bench_field fields[] = {{"sort", form, 0, 0}, {"type", type, 0, 0},
		{"devices", NULL, r->n_shares, 3}, {"n_per_device", NULL, r->n, 10},
		{"samples", NULL, t->n, 4},
		{"ms_median", NULL, sl_device_is_emulated() ? (double)NAN : t->median, 6},
		{"ms_min", NULL, sl_device_is_emulated() ? (double)NAN : t->least, 6},
		{"ms_max", NULL, sl_device_is_emulated() ? (double)NAN : t->most, 6},
		{"g_keys_per_s", NULL, rate, 5}, {"one_device_times", NULL, rate / *one, 4}};

	sl_bench_table_row(r->b->table, fields, sizeof(fields) / sizeof(fields[0]));
	printf("%-6s %4s %8u %12u", form, type, r->n_shares, r->n);
	if (sl_device_is_emulated())
		printf("  right\n");
	else
		printf("  %10.4f %10.4f %10.4f %10.3f %8.2f\n", t->median, t->least, t->most, rate,
			rate / *one);
}

static enum sl_status measure_open(struct row *r, double *one)
{
	struct sl_spread t;
	double ms;

	for (uint32_t k = 0; k < r->n_shares; k++)
		SL_TRY(open_share(r, k, r->b->options->devices.at[k]));
	SL_TRY(sort_once(r, &ms));
	SL_TRY(check_row(r));
	SL_TRY(time_row(r, &t));
	show_row(r, &t, one);
	return SL_OK;
}

static enum sl_status measure(struct row r, uint32_t n_shares, double *one)
{
	enum sl_status s;

	r.n_shares = n_shares;
	if (!r.keys_only && (uint64_t)r.n * n_shares > UINT64_C(1) << 32)
		return sl_fail(SL_USAGE,
			"--n %u: %u devices have more than 2^32 pairs, which indices of "
			"32 bits do not tell apart; use fewer, or --sort keys",
			r.n, n_shares);
	s = measure_open(&r, one);
	close_row(&r);
	return s;
}

/* All numbers of devices for one size, type and form. */
static enum sl_status measure_counts(struct sl_bench *b, struct row r)
{
	const uint32_t all = b->options->devices.n;
	enum sl_status s = SL_OK;
	double one = (double)NAN;

	r.b = b;
	r.sort.end_bit = (uint32_t)(8 * key_bytes(&r));
	SL_TRY(sl_find(SL_SORT, "shared", &r.sort.sort.backend));
	r.input = (uint64_t *)malloc(r.n * sizeof(*r.input));
	if (!r.input)
		return sl_fail(SL_HOST_MEMORY, "no memory for %u keys", r.n);
	sl_input_fill(SL_INPUT_RANDOM, SL_U64, r.n, r.input);
	for (uint32_t k = 1; s == SL_OK && k < all; k *= 2)
		if (sl_bench_has_time(b, 0))
			s = measure(r, k, &one);
	if (s == SL_OK && sl_bench_has_time(b, 0))
		s = measure(r, all, &one);
	free(r.input);
	return s;
}

enum sl_status sl_bench_global_sort(struct sl_bench *b)
{
	static const struct sl_number_list both = {2, {SL_U32, SL_U64}},
					   forms_both = {2, {SL_SORT_PAIRS, SL_SORT_KEYS}};
	const struct sl_number_list usual = {1, {sl_device_is_emulated() ? N_EMULATED : N_USUAL}};
	const struct sl_number_list *sizes = sl_number_list_or(&b->options->sizes, &usual);
	const struct sl_number_list *types = sl_number_list_or(&b->options->types, &both);
	const struct sl_number_list *forms = sl_number_list_or(&b->options->forms, &forms_both);

	if (b->options->devices.n == 0 || b->options->devices.n > SL_DEVICES_MAX)
		return sl_fail(SL_USAGE,
			"global_sort needs the numbers of 1 to %d devices; example: --devices 0,1",
			SL_DEVICES_MAX);
	printf("\n%-6s %4s %8s %12s  %10s %10s %10s %10s %8s\n", "sort", "type", "devices",
		"n per device", "median ms", "min", "max", "G keys/s", "one");
	for (uint32_t i = 0; i < sizes->n; i++)
		for (uint32_t k = 0; k < types->n; k++)
			for (uint32_t f = 0; f < forms->n; f++)
				SL_TRY(measure_counts(
					b, (struct row){.n = sizes->at[i],
						   .sort.type = (enum sl_type)types->at[k],
						   .keys_only = forms->at[f] == SL_SORT_KEYS}));
	return SL_OK;
}
