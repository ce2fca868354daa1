/*
 * list_filter.h - selects and orders the particles of columns on a device, and copies their items:
 * for arrays that another library made, with any type of number and any stride.
 *
 * The id of a particle is that of its column, or its place; its fate is that of its column, or
 * listed.
 */
#ifndef SL_STAGES_SELECTION_LIST_FILTER_H
#define SL_STAGES_SELECTION_LIST_FILTER_H

#include "primitives/device/device.h"
#include "stages/selection/key.h"
#include "stages/selection/program.h"

SL_C_BEGIN

/* An array of numbers. kind as in NumPy: f, i, u, ? */
struct sl_items {
	const void *data;
	int64_t stride; /* bytes from item to item; 0: one number for all */
	uint32_t n, bytes;
	char kind;
};

/*
 * Converts items to those of a column, as reading a list does, to `to`. *wrong: becomes the least
 * place of an item that the column cannot hold: a real number that is not finite in single
 * precision, or a whole one outside of lo to hi. All pointers are device memory.
 */
typedef enum sl_status sl_convert_launcher(const struct sl_items *items, enum sl_column column,
	double lo, double hi, void *to, uint32_t *wrong, sl_stream s);

/* Sets the flags of n particles: 1 if the fate is in keep, and the condition holds for it. */
typedef enum sl_status sl_list_filter_launcher(const struct sl_program *condition, sl_fate_set keep,
	const struct sl_columns *c, uint32_t n, uint8_t *flag, sl_stream s);

/* Packs the keys of the particles at n indices: uint32_t if narrow, else uint64_t. */
typedef enum sl_status sl_list_key_launcher(const struct sl_key_rule *field, uint32_t n_fields,
	bool narrow, const struct sl_columns *c, const uint32_t *index, uint32_t n, void *key,
	sl_stream s);

/* Copies the items at n indices, of 1, 2, 4 or 8 bytes, to `to`. */
typedef enum sl_status sl_take_launcher(
	const struct sl_items *items, const uint32_t *index, uint32_t n, void *to, sl_stream s);

sl_convert_launcher sl_queue_convert, sl_queue_convert_emulated;
sl_list_filter_launcher sl_queue_list_filter, sl_queue_list_filter_emulated;
sl_list_key_launcher sl_queue_list_key, sl_queue_list_key_emulated;
sl_take_launcher sl_queue_take, sl_queue_take_emulated;

SL_C_END

#endif
