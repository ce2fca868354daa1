/*
 * number_list.h - a list of numbers, as the command line writes it: "2^20,2^24..2^27,1000".
 */
#ifndef SL_BENCH_MEASURE_NUMBER_LIST_H
#define SL_BENCH_MEASURE_NUMBER_LIST_H

#include <stdbool.h>
#include <stdint.h>

enum { SL_NUMBER_LIST_MAX = 64 };

struct sl_number_list {
	uint32_t n;
	uint32_t at[SL_NUMBER_LIST_MAX];
};

/* Appends value. False if the list is full or the value has more than 32 bits. */
bool sl_number_list_add(struct sl_number_list *list, uint64_t value);

/* Appends the number "N" or "2^N-K", or every power of two of the range "2^A..2^B". */
bool sl_number_list_read(const char *text, struct sl_number_list *list);

/* Reads one number of the form "N", "2^N" or "2^N-K"; *end is the first character after it. */
bool sl_number_read(const char *text, const char **end, uint64_t *value);

/* Returns list, or usual if list is empty. */
static inline const struct sl_number_list *sl_number_list_or(
	const struct sl_number_list *list, const struct sl_number_list *usual)
{
	return list->n > 0 ? list : usual;
}

#endif
