/*
 * json.h - writes JSON to a stream or into a buffer of fixed size: manifest lines, run.json,
 * --json.
 *
 *	struct sl_json j = sl_json_start(text, sizeof(text), false);
 *
 *	sl_json_object(&j, NULL);
 *	sl_json_u64(&j, "batch", 17);           {"batch":17,"fates":{"hit":3}}
 *	sl_json_object(&j, "fates");
 *	sl_json_u64(&j, "hit", 3);
 *	sl_json_close(&j);
 *	sl_json_close(&j);
 *	if (!sl_json_fits(&j)) ...
 *
 * key is NULL for an item of an array and for the outermost value. Like snprintf, the writer keeps
 * counting when the buffer is full: used is the length of the complete text, so a buffer of 0 bytes
 * measures. A stream has no limit; its errors stay in the stream (ferror). Bytes that are not UTF-8
 * become U+FFFD. The output is valid YAML too.
 */
#ifndef SL_PIPELINE_TEXT_JSON_H
#define SL_PIPELINE_TEXT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { SL_JSON_DEPTH = 32 };

struct sl_json {
	FILE *out; /* NULL: a buffer */
	char *text;
	size_t size, used;         /* used counts on when the text is cut; it has no final NUL */
	bool indented;             /* one member per line; else one line without spaces */
	bool raw;                  /* bytes that are not printable stay as they are */
	unsigned depth;            /* number of open objects and arrays */
	bool filled;               /* the innermost object or array has a member */
	char close[SL_JSON_DEPTH]; /* the closing bracket of each */
};

/* Starts a writer on text, a buffer of size bytes that the caller owns. */
struct sl_json sl_json_start(char *text, size_t size, bool indented);

/* Starts an indented writer on a stream. */
struct sl_json sl_json_stream(FILE *out);

/* Open an object or an array; close the innermost one. */
void sl_json_object(struct sl_json *j, const char *key);
void sl_json_array(struct sl_json *j, const char *key);
void sl_json_close(struct sl_json *j);

void sl_json_text(struct sl_json *j, const char *key, const char *value);
void sl_json_u64(struct sl_json *j, const char *key, uint64_t value);
void sl_json_bool(struct sl_json *j, const char *key, bool value);

/*
 * Writes the shortest number that reads back to the same bits, independent of the locale; null for
 * NaN and infinity.
 */
void sl_json_real(struct sl_json *j, const char *key, double value);

/* Write n values as an array in one line, also when indented. */
void sl_json_u64s(struct sl_json *j, const char *key, const uint64_t *values, size_t n);
void sl_json_reals(struct sl_json *j, const char *key, const double *values, size_t n);

/* Writes a value that is JSON already. */
void sl_json_formatted(struct sl_json *j, const char *key, const char *value);

/* Writes value as a string of that many hexadecimal digits. */
void sl_json_hex(struct sl_json *j, const char *key, uint64_t value, int digits);

#endif
