/*
 * list_filter.cu - see list_filter.h: one thread for each particle, by the rules that the host has.
 *
 * Memory traffic: reads the columns that a rule names, once, and writes one flag, key or item.
 */
#include "stages/selection/list_filter.h"

#include <float.h>

#include "primitives/kernel/kernel.cuh"

enum { BLOCK = 256 };

static __device__ __forceinline__ uint64_t place_of_thread(void)
{
	return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

/* --- items ------------------------------------------------------------------------------------ */

/* A number as a double, and as a whole number modulo 2^64. */
struct number {
	double real;
	uint64_t whole;
};

template <class T> static __device__ __forceinline__ struct number load(const char *at)
{
	T value;

	memcpy(&value, at, sizeof(value));
	return {(double)value, (uint64_t)(int64_t)value};
}

/* The cast of a real number to a whole one is not defined for all of them, and not needed. */
template <class T> static __device__ __forceinline__ struct number load_real(const char *at)
{
	T value;

	memcpy(&value, at, sizeof(value));
	return {(double)value, 0};
}

static __device__ struct number load_item(const struct sl_items *items, uint64_t i)
{
	const char *at = (const char *)items->data + (int64_t)i * items->stride;
	bool is_signed = items->kind == 'i';

	if (items->kind == 'f')
		return items->bytes == 4 ? load_real<float>(at) : load_real<double>(at);
	switch (items->bytes) {
	case 1:
		return is_signed ? load<int8_t>(at) : load<uint8_t>(at);
	case 2:
		return is_signed ? load<int16_t>(at) : load<uint16_t>(at);
	case 4:
		return is_signed ? load<int32_t>(at) : load<uint32_t>(at);
	default:
		return is_signed ? load<int64_t>(at) : load<uint64_t>(at);
	}
}

static __global__ void real_kernel(struct sl_items items, float *to, uint32_t *wrong)
{
	uint64_t i = place_of_thread();

	if (i >= items.n)
		return;
	double value = load_item(&items, i).real;

	to[i] = (float)value;
	if (isinf((float)value) && !isinf(value))
		atomicMin(wrong, (uint32_t)i);
}

template <class T>
static __global__ void whole_kernel(
	struct sl_items items, double lo, double hi, T *to, uint32_t *wrong)
{
	uint64_t i = place_of_thread();

	if (i >= items.n)
		return;
	struct number number = load_item(&items, i);

	to[i] = (T)number.whole;
	if (number.real < lo || number.real > hi)
		atomicMin(wrong, (uint32_t)i);
}

template <class T>
static enum sl_status convert_wholes(
	const struct sl_items *items, double lo, double hi, T *to, uint32_t *wrong, sl_stream s)
{
	return SL_LAUNCH(
		whole_kernel<T>, sl_grid(items->n, BLOCK), BLOCK, 0, s, *items, lo, hi, to, wrong);
}

enum sl_status SL_NAME(sl_queue_convert)(const struct sl_items *items, enum sl_column column,
	double lo, double hi, void *to, uint32_t *wrong, sl_stream s)
{
	switch (sl_column_facts[column].type) {
	case SL_TYPE_F32:
		return SL_LAUNCH(real_kernel, sl_grid(items->n, BLOCK), BLOCK, 0, s, *items,
			(float *)to, wrong);
	case SL_TYPE_U32:
		return convert_wholes(items, lo, hi, (uint32_t *)to, wrong, s);
	case SL_TYPE_U64:
		return convert_wholes(items, lo, hi, (uint64_t *)to, wrong, s);
	case SL_TYPE_U8:
		return convert_wholes(items, lo, hi, (uint8_t *)to, wrong, s);
	case SL_TYPE_I32:
		return convert_wholes(items, lo, hi, (int32_t *)to, wrong, s);
	}
	return SL_OK;
}

template <class T>
static __global__ void take_kernel(
	const char *data, int64_t stride, const uint32_t *index, uint32_t n, T *to)
{
	uint64_t j = place_of_thread();

	if (j < n)
		memcpy(&to[j], data + (int64_t)index[j] * stride, sizeof(T));
}

template <class T>
static enum sl_status take(
	const struct sl_items *items, const uint32_t *index, uint32_t n, void *to, sl_stream s)
{
	return SL_LAUNCH(take_kernel<T>, sl_grid(n, BLOCK), BLOCK, 0, s, (const char *)items->data,
		items->stride, index, n, (T *)to);
}

enum sl_status SL_NAME(sl_queue_take)(
	const struct sl_items *items, const uint32_t *index, uint32_t n, void *to, sl_stream s)
{
	switch (items->bytes) {
	case 1:
		return take<uint8_t>(items, index, n, to, s);
	case 2:
		return take<uint16_t>(items, index, n, to, s);
	case 4:
		return take<uint32_t>(items, index, n, to, s);
	default:
		return take<uint64_t>(items, index, n, to, s);
	}
}

/* --- particles -------------------------------------------------------------------------------- */

static __device__ __forceinline__ uint64_t id_of(const struct sl_columns *c, uint64_t i)
{
	return c->id ? c->id[i] : i;
}

static __global__ void list_filter_kernel(struct sl_program condition, sl_fate_set keep,
	struct sl_columns c, uint32_t n, uint8_t *flag)
{
	uint64_t i = place_of_thread();

	if (i >= n)
		return;
	uint8_t fate = c.fate ? c.fate[i] : (uint8_t)SL_FATE_listed;
	bool kept = fate < SL_FATE_COUNT && sl_has_fate(keep, fate);

	if (kept && condition.n > 0 && sl_has_fate(condition.fates, fate))
		kept = sl_condition_holds(&condition, &c, i, id_of(&c, i), fate);
	flag[i] = kept ? 1 : 0;
}

enum sl_status SL_NAME(sl_queue_list_filter)(const struct sl_program *condition, sl_fate_set keep,
	const struct sl_columns *c, uint32_t n, uint8_t *flag, sl_stream s)
{
	return SL_LAUNCH(
		list_filter_kernel, sl_grid(n, BLOCK), BLOCK, 0, s, *condition, keep, *c, n, flag);
}

struct list_fields {
	struct sl_key_rule at[SL_KEY_FIELDS_MAX];
};

template <class Key>
static __global__ void list_key_kernel(struct list_fields fields, uint32_t n_fields,
	struct sl_columns c, const uint32_t *index, uint32_t n, Key *key)
{
	uint64_t j = place_of_thread();

	if (j < n)
		key[j] = (Key)sl_key_pack(fields.at, n_fields, &c, index[j], id_of(&c, index[j]));
}

enum sl_status SL_NAME(sl_queue_list_key)(const struct sl_key_rule *field, uint32_t n_fields,
	bool narrow, const struct sl_columns *c, const uint32_t *index, uint32_t n, void *key,
	sl_stream s)
{
	uint32_t blocks = sl_grid(n, BLOCK);
	struct list_fields fields = {};

	for (uint32_t k = 0; k < n_fields; k++)
		fields.at[k] = field[k];
	if (narrow)
		return SL_LAUNCH(list_key_kernel<uint32_t>, blocks, BLOCK, 0, s, fields, n_fields,
			*c, index, n, (uint32_t *)key);
	return SL_LAUNCH(list_key_kernel<uint64_t>, blocks, BLOCK, 0, s, fields, n_fields, *c,
		index, n, (uint64_t *)key);
}
