/*
 * messages.h - words that people wrote: shown without harm, and matched to those that are known.
 */
#ifndef SL_PIPELINE_TEXT_MESSAGES_H
#define SL_PIPELINE_TEXT_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "primitives/base/hd.h"

enum { SL_SHOWN_BYTES = 80 };

/*
 * Writes text in quotes, as a message may show it: a long one cut, control characters as \xNN (a
 * terminal must not obey them). Returns shown.
 */
const char *sl_show(char shown[SL_SHOWN_BYTES], const char *text);

/* Appends to text, which holds size bytes; what does not fit is cut. */
void sl_append(char *text, size_t size, const char *format, ...) SL_PRINTF(3, 4);

/* Writes "a, b or c" for n words. Returns text. */
const char *sl_list_words(char *text, size_t size, const char *const *words, size_t n);

/* The word nearest to written by edit distance, or NULL when none is near. */
const char *sl_nearest(const char *written, const char *const *words, size_t n_words);

/* What to try for a word that is none of words: the nearest, or all of them, written to text. */
const char *sl_suggest(
	const char *written, const char *const *words, size_t n, char *text, size_t size);

/*
 * Is a key what follows the comma of a number, as the 000 of 1,000? YAML takes it for one, without
 * a value. And what to try then.
 */
bool sl_is_after_comma(const char *key);
#define SL_COMMA_ADVICE "0.5 for 0,5 and 1_000 for 1,000"

/* Writes a number of bytes with a binary unit, such as "1.5 GiB". Returns text. */
const char *sl_sized(double bytes, char text[32]);

#endif
