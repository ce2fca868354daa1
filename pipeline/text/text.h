/* text.h - text in memory, in files and on terminals */
#ifndef SL_PIPELINE_TEXT_TEXT_H
#define SL_PIPELINE_TEXT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "primitives/base/hd.h"
#include "primitives/base/printable.h"
#include "primitives/base/status.h"
#include "primitives/files/files.h"

/* --- printable_stream ------------------------------------------------------------------------- */

/* The standard output of the program, without what a terminal would obey. */

/*
 * Makes all that is written to stdout printable (primitives/base/printable.h), except line breaks
 * and tabs: commands print names and texts that are in files of others. SL_HOST_MEMORY if there is
 * no memory for it.
 */
enum sl_status sl_printable_stdout(void);

/* --- text_file -------------------------------------------------------------------------------- */

/*
 * A stream that writes a file of text below an open directory and commits it.
 *
 * 	struct sl_text_file f;
 *
 * 	SL_TRY(sl_text_file_begin(&f, dir, "run.json"));
 * 	fprintf(f.out, ...);
 * 	return sl_text_file_commit(&f);
 *
 * The memory is a buffer of fixed size, whatever the length of the text. The file replaces an older
 * one atomically: a reader sees the old file or the new one (primitives/files/files.h).
 */

struct sl_text_file {
	FILE *out;               /* the stream; a failure to write is reported by the commit */
	struct sl_file_writer w; /* of the .part file */
	enum sl_status status; /* of the first write that failed; its message is sl_last_error() */
	uint32_t crc;          /* CRC-32 of the bytes that left the buffer */
	char buffer[1 << 15];
};

/* Creates NAME.part. *f must not move until the commit. dir must stay valid until then. */
enum sl_status sl_text_file_begin(
	struct sl_text_file *f, const struct sl_dir *dir, const char *name);

/* CRC-32 of all that was written until now; it empties the buffer. */
uint32_t sl_text_file_crc(struct sl_text_file *f);

/* Ends the file and gives it its name. After a failure there is no .part file. */
enum sl_status sl_text_file_commit(struct sl_text_file *f);

/* --- text_memory ------------------------------------------------------------------------------ */

/*
 * A stream that collects a text in memory and reports when there is none for it.
 *
 * 	struct sl_text_memory t;
 * 	char *text;
 * 	size_t bytes;
 *
 * 	SL_TRY(sl_text_memory_begin(&t));
 * 	fprintf(t.out, ...);
 * 	SL_TRY(sl_text_memory_end(&t, "the manual", &text, &bytes));
 *
 * open_memstream(3) of glibc 2.36 loses a line for which it cannot allocate, and neither ferror()
 * nor fclose() reports it: the text is then incomplete without an error.
 */

struct sl_text_memory {
	FILE *out; /* the stream; lack of memory is reported by sl_text_memory_end() */
	char *text;
	size_t bytes, space;
	bool failed;
	char buffer[1 << 12];
};

/* Opens the stream. *t must not move until the end. */
enum sl_status sl_text_memory_begin(struct sl_text_memory *t);

/*
 * Closes the stream and gives the text, a 0 after its *bytes bytes, to the caller, who frees it
 * with free(). SL_HOST_MEMORY if a part of it was lost; *text is then NULL. what names the text in
 * the message.
 */
enum sl_status sl_text_memory_end(
	struct sl_text_memory *t, const char *what, char **text, size_t *bytes);

/* --- version ---------------------------------------------------------------------------------- */

/* Which program this is. */

/* The version, "0.1.0". */
const char *sl_version(void);

/*
 * The git commit at the time of configuration, with "-dirty" if files were changed; or "unknown".
 */
const char *sl_commit(void);

/* --- messages --------------------------------------------------------------------------------- */

/*
 * Text for messages: quoting what a user wrote, suggesting known words, printing
 * sizes.
 *
 * A text for a part of a message, such as a name or a size, is one of 32 of this thread, in
 * turn, so that a message can have several; it is valid until 32 more were made. Functions whose
 * name ends in _text return one too.
 */
enum { SL_PART_BYTES = 640 };
char *sl_message_part(void);

/* Formats a part of a message. */
const char *sl_said(const char *format, ...) SL_PRINTF(1, 2);

/* The text in single quotes: a long one is cut, and made printable (printable.h). */
const char *sl_shown(const char *text);

/* Appends to the string in text, a buffer of size bytes; cuts what does not fit. */
void sl_append(char *text, size_t size, const char *format, ...) SL_PRINTF(3, 4);

/* The n words as "a, b or c", cut if they are many. */
const char *sl_listed(const char *const *words, size_t n);

/* The word nearest to written by edit distance, or NULL when none is near. */
const char *sl_nearest(const char *written, const char *const *words, size_t n_words);

/* The word nearest to written, or all n words as "a, b or c". */
const char *sl_suggested(const char *written, const char *const *words, size_t n);

/*
 * Is the key all digits, as the 000 that YAML makes of 1,000 in a mapping? SL_COMMA_ADVICE says
 * what to write instead.
 */
bool sl_is_after_comma(const char *key);
#define SL_COMMA_ADVICE "0.5 not 0,5, and 1_000 not 1,000"

/* A failure, or SL_OK, whose message stays while something is closed or removed. */
struct sl_failure {
	enum sl_status status;
	char message[SL_MESSAGE_BYTES];
};

/* Keeps s with sl_last_error(). */
struct sl_failure sl_failure_keep(enum sl_status s);

/* Returns the first failure of before and then, and makes its message the last one. */
enum sl_status sl_failure_first(const struct sl_failure *before, enum sl_status then);

/* A number of bytes with a binary unit, such as "1.5 GiB". */
const char *sl_sized(double bytes);

/* A duration as "45 s", "12 min", "3 h 07 min" or "2 d 5 h". */
const char *sl_duration(double seconds);

/* --- decimal_number --------------------------------------------------------------------------- */

/* Scans a decimal number without rounding it, and converts it. */

enum { SL_DIGITS_MAX = 400 };

/* The value is digits * 10^scale; with n_digits = 0 it is 0. */
struct sl_decimal {
	bool negative;
	bool infinite;
	bool grouped; /* has _ between digits: 1_000_000 */
	bool padded;  /* has a leading 0 before other digits: 0777 */
	int n_digits; /* without leading zeros */
	char digits[SL_DIGITS_MAX + 1];
	long scale;
	const char *end; /* first byte after the number */
};

/*
 * Scans the longest number at the start of text: [+-] digits [. digits] [e [+-] digits] or [+-]
 * inf. False when there is none, or when it has more than SL_DIGITS_MAX significant digits.
 */
bool sl_decimal_scan(const char *text, struct sl_decimal *number);

enum sl_integer_result {
	SL_INTEGER_OK,
	SL_INTEGER_NEGATIVE,
	SL_INTEGER_FRACTION,
	SL_INTEGER_TOO_LARGE
};

/* Converts to an integer exactly. */
enum sl_integer_result sl_decimal_to_integer(const struct sl_decimal *number, uint64_t *value);

/* The double nearest to number * 10^shift; false when that overflows, or underflows to 0. */
bool sl_decimal_to_double(const struct sl_decimal *number, int shift, double *value);

/* The shortest text that reads back to the same bits. */
const char *sl_double_text(double value);

/* --- json ------------------------------------------------------------------------------------- */

/*
 * Writes JSON to a stream or into a buffer of fixed size: manifest lines, run.json,
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

/*
 * Writes members, each a word and its value, with a space after each but the last one. A value is a
 * bracket that opens an object or an array, or %s for a text, %g a real, %lu a uint64_t, %u a
 * uint32_t, %8x the same as a text of hex digits, %d a bool. } or ] closes the innermost one, and {
 * alone opens an item of an array:
 *
 *	sl_json_add(j, "{ name %s size { width %u height %u } }", name, width, height);
 *
 * The word %s is an argument. A member whose word ends in ? is left out if its value is "", NULL, 0
 * or false.
 */
void sl_json_add(struct sl_json *j, const char *format, ...) SL_PRINTF(2, 3);

/* Write n values as an array in one line, also when indented. */
void sl_json_u64s(struct sl_json *j, const char *key, const uint64_t *values, size_t n);
void sl_json_reals(struct sl_json *j, const char *key, const double *values, size_t n);

/* Writes a value that is JSON already. */
void sl_json_formatted(struct sl_json *j, const char *key, const char *value);

/* Writes value as a string of that many hexadecimal digits. */
void sl_json_hex(struct sl_json *j, const char *key, uint64_t value, int digits);

/* --- yaml ------------------------------------------------------------------------------------- */

/*
 * Reads a YAML document as a tree of nodes with line and column.
 *
 * A thin layer over libyaml. It also reads JSON (the manifest and run.json), which is YAML. Aliases
 * and anchors (which can expand without limit), tags, a second document, more than 32 levels and
 * repeated keys are refused.
 */

struct sl_yaml;

enum sl_node_kind { SL_SCALAR, SL_LIST, SL_MAPPING };

/* Number of a node in its tree; 0: no node. All functions accept 0. */
typedef int sl_node;

enum { SL_YAML_BYTES = 1 << 20 }; /* the longest text that is accepted */

struct sl_yaml_problem {
	size_t line, column; /* counted from 1; 0: no place */
	char text[512];
};

/*
 * Parses text. SL_BAD_INPUT with *problem set when the text is not accepted. The caller frees
 * *tree, also after a failure. The text is not used after the call.
 */
enum sl_status sl_yaml_parse(
	const char *text, size_t bytes, struct sl_yaml **tree, struct sl_yaml_problem *problem);
void sl_yaml_free(struct sl_yaml *tree);

enum { SL_YAML_ROOT = 1 }; /* the root of each tree */
enum sl_node_kind sl_yaml_kind(const struct sl_yaml *tree, sl_node node);
void sl_yaml_place(const struct sl_yaml *tree, sl_node node, size_t *line, size_t *column);

/*
 * The distance in columns from the place of a scalar to byte offset of its text. 0 when the scalar
 * spans lines or contains escapes, so that the distance is unknown.
 */
size_t sl_yaml_inside(const struct sl_yaml *tree, sl_node node, size_t offset);

/* The text of a scalar, "" for other nodes; *bytes (may be NULL) is its length, NULs included. */
const char *sl_yaml_text(const struct sl_yaml *tree, sl_node node, size_t *bytes);

/* Number of items of a list or mapping, and item i; *key (may be NULL) is its key in a mapping. */
size_t sl_yaml_size(const struct sl_yaml *tree, sl_node node);
sl_node sl_yaml_item(const struct sl_yaml *tree, sl_node node, size_t i, sl_node *key);

/* The value of a key in a mapping, or of the path of a key below it, "a.b"; 0 if there is none. */
sl_node sl_yaml_get(const struct sl_yaml *tree, sl_node mapping, const char *path);

/* Reads a scalar of digits only; false if it is not one or exceeds 64 bits. */
bool sl_yaml_u64(const struct sl_yaml *tree, sl_node node, uint64_t *value);

/* The number at such a path, a whole one, or the one that a scalar begins with; 0 if there is none. */
uint64_t sl_yaml_number(const struct sl_yaml *tree, sl_node mapping, const char *path);
double sl_yaml_real(const struct sl_yaml *tree, sl_node mapping, const char *path);

#endif
