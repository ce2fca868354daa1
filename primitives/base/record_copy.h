/* record_copy.h - copies a record: few bytes, of which a compiler does not know the number. */
#ifndef SL_PRIMITIVES_BASE_RECORD_COPY_H
#define SL_PRIMITIVES_BASE_RECORD_COPY_H

#include <stddef.h>
#include <string.h>

/*
 * Copies a record that does not overlap its copy. A call of memcpy() takes about 3 ns for 28 to 96
 * bytes in the cache, copies of parts of a known size 0.7 to 2 ns (AMD EPYC, gcc 12.2 -O3).
 */
static inline void sl_record_copy(void *to, const void *from, size_t bytes)
{
	enum { PART = 16 };
	char *copy = (char *)to;
	const char *record = (const char *)from;

	if (bytes < PART) {
		memcpy(copy, record, bytes);
		return;
	}
	for (size_t i = 0; i + PART < bytes; i += PART)
		memcpy(copy + i, record + i, PART);
	memcpy(copy + bytes - PART, record + bytes - PART, PART);
}

#endif
