/*
 * printable.h - text that a terminal prints and does not obey.
 *
 * Files of others contain control characters: a terminal takes an escape sequence for a command,
 * and a line break in a name looks like a line of this program. Each byte of a control character
 * (C0, DEL, C1) and of invalid UTF-8 is printed as \xNN. Messages are made printable where they are
 * formatted (status.c), other output where it is written (pipeline/text/text.h).
 */
#ifndef SL_PRIMITIVES_BASE_PRINTABLE_H
#define SL_PRIMITIVES_BASE_PRINTABLE_H

#include <stddef.h>
#include <stdint.h>

#include "hd.h"

SL_C_BEGIN

/*
 * Decodes the code point at text and returns its length in bytes; 0 when it is not valid UTF-8
 * (overlong forms, surrogates and values above 10FFFF included).
 */
size_t sl_utf8_decode(const unsigned char *text, uint32_t *point);

/* The longest printable form of a character: two bytes of C1 as \xNN. */
enum { SL_PRINTABLE_BYTES = 8 };

/*
 * Writes the printable form of the first character of text, of *used bytes, without a NUL. Returns
 * its length. text ends with a NUL.
 */
size_t sl_printable_next(const char *text, char to[SL_PRINTABLE_BYTES], size_t *used);

/*
 * Writes the printable form of text to a buffer of size bytes, cut before the first character that
 * does not fit.
 */
void sl_printable(char *to, size_t size, const char *text);

SL_C_END

#endif
