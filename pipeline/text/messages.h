/*
 * messages.h - text for messages: quoting what a user wrote, suggesting known words, printing
 * sizes.
 */
#ifndef SL_PIPELINE_TEXT_MESSAGES_H
#define SL_PIPELINE_TEXT_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "primitives/base/hd.h"
#include "primitives/base/printable.h"

enum { SL_SHOWN_BYTES = 80 };

/*
 * Writes text in single quotes for a message: a long text is cut, and made printable (printable.h).
 * Returns shown.
 */
const char *sl_show(char shown[SL_SHOWN_BYTES], const char *text);

/* Appends to the string in text, a buffer of size bytes; cuts what does not fit. */
void sl_append(char *text, size_t size, const char *format, ...) SL_PRINTF(3, 4);

/* Writes n words as "a, b or c". Returns text. */
const char *sl_list_words(char *text, size_t size, const char *const *words, size_t n);

/* The word nearest to written by edit distance, or NULL when none is near. */
const char *sl_nearest(const char *written, const char *const *words, size_t n_words);

/* The word nearest to written, or all n words written to text as "a, b or c". */
const char *sl_suggest(
	const char *written, const char *const *words, size_t n, char *text, size_t size);

/*
 * Is the key all digits, as the 000 that YAML makes of 1,000 in a mapping? SL_COMMA_ADVICE says
 * what to write instead.
 */
bool sl_is_after_comma(const char *key);
#define SL_COMMA_ADVICE "0.5 not 0,5, and 1_000 not 1,000"

/* Writes a number of bytes with a binary unit, such as "1.5 GiB". Returns text. */
const char *sl_sized(double bytes, char text[32]);

/* Writes a duration as "45 s", "12 min", "3 h 07 min" or "2 d 5 h". Returns text. */
enum { SL_DURATION_BYTES = 32 };
const char *sl_duration(double seconds, char text[SL_DURATION_BYTES]);

#endif
