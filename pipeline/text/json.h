/*
 * json.h - writes JSON into a fixed buffer: the lines of the manifest, run.json, --json.
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
 * key is NULL for an item of an array and for the outermost value. As snprintf does, a writer whose
 * buffer is full goes on counting: used says how many bytes it takes, so a buffer of no bytes
 * measures. Text that is not UTF-8 is made so (U+FFFD), and what is written reads back as YAML too.
 */
#ifndef SL_PIPELINE_TEXT_JSON_H
#define SL_PIPELINE_TEXT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SL_JSON_DEPTH = 32 };

struct sl_json {
	char *text;
	size_t size, used;
	bool indented;             /* a member a line; else all in one line without spaces */
	unsigned depth;            /* objects and arrays that are open */
	bool filled;               /* the innermost has a member already */
	char close[SL_JSON_DEPTH]; /* what ends each */
};

struct sl_json sl_json_start(char *text, size_t size, bool indented);

/* Opens an object or an array; closes the innermost one. */
void sl_json_object(struct sl_json *j, const char *key);
void sl_json_array(struct sl_json *j, const char *key);
void sl_json_close(struct sl_json *j);

void sl_json_text(struct sl_json *j, const char *key, const char *value);
void sl_json_u64(struct sl_json *j, const char *key, uint64_t value);
void sl_json_bool(struct sl_json *j, const char *key, bool value);

/* The shortest number that reads back as value, in every locale the same; null for what JSON has no
 * number for. */
void sl_json_real(struct sl_json *j, const char *key, double value);

/* n values as an array in one line, however the rest is written. */
void sl_json_u64s(struct sl_json *j, const char *key, const uint64_t *values, size_t n);
void sl_json_reals(struct sl_json *j, const char *key, const double *values, size_t n);

/* value as a string of that many hexadecimal digits. */
void sl_json_hex(struct sl_json *j, const char *key, uint64_t value, int digits);

/* Did all of it fit, the final NUL included? */
bool sl_json_fits(const struct sl_json *j);

#endif
