/*
 * messages.c - quoting and suggesting words; failures and memory at the end of a scope.
 *
 * Suggestions use the optimal string alignment distance: the number of letters to insert, delete,
 * replace or swap with a neighbour (Damerau, A technique for computer detection and correction of
 * spelling errors, 1964).
 */
#include "pipeline/text/text.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum {
	RING = 32,        /* texts of a thread that are valid at a time */
	SHOWN_MAX = 48,   /* bytes before the cut */
	LIST_BYTES = 448, /* a longer list of words is cut, so that the rest of the message fits */
	WORD_MAX = 64     /* longer words get no suggestion */
};

char *sl_message_part(void)
{
	static _Thread_local char parts[RING][SL_PART_BYTES];
	static _Thread_local unsigned used;

	return parts[used++ % RING];
}

const char *sl_said(const char *format, ...)
{
	char *text = sl_message_part();
	va_list args;

	va_start(args, format);
	vsnprintf(text, SL_PART_BYTES, format, args);
	va_end(args);
	return text;
}

const char *sl_shown(const char *text)
{
	/* the longest output: SHOWN_MAX - 1 bytes, a character and "...'" */
	char *shown = sl_message_part();
	size_t n = 0, used;

	shown[n++] = '\'';
	for (; *text && n < SHOWN_MAX; text += used)
		n += sl_printable_next(text, shown + n, &used);
	snprintf(shown + n, SL_PART_BYTES - n, *text ? "...'" : "'");
	return shown;
}

/* A full buffer leaves the text as it is, so messages are cut but never damaged. */
void sl_append(char *text, size_t size, const char *format, ...)
{
	size_t used = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + used, size - used, format, args);
	va_end(args);
}

const char *sl_listed(const char *const *words, size_t n)
{
	char *text = sl_message_part();

	*text = '\0';
	for (size_t i = 0; i < n; i++)
		sl_append(text, LIST_BYTES, "%s%s",
			i == 0      ? ""
			: i + 1 < n ? ", "
				    : " or ",
			words[i]);
	return text;
}

/* Folds case, and - into _: such differences do not count as typing errors. */
static int letter(char c)
{
	return c == '-' ? '_' : tolower((unsigned char)c);
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * The distance of two words of at most WORD_MAX letters. Entry [i][j] of the table is the distance
 * of the first i letters of a and the first j of b; row i needs only rows i-1 and i-2.
 */
static size_t distance(const char *a, const char *b)
{
	size_t row[3][WORD_MAX + 1], n = strlen(b);

	for (size_t j = 0; j <= n; j++)
		row[0][j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		size_t *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];

		now[0] = i;
		for (size_t j = 1; j <= n; j++) {
			bool same = letter(a[i - 1]) == letter(b[j - 1]);

			now[j] = least(last[j - 1] + !same, least(last[j], now[j - 1]) + 1);
			if (i > 1 && j > 1 && letter(a[i - 1]) == letter(b[j - 2]) &&
				letter(a[i - 2]) == letter(b[j - 1]))
				now[j] = least(now[j], before[j - 2] + 1);
		}
	}
	return row[strlen(a) % 3][n];
}

const char *sl_nearest(const char *written, const char *const *words, size_t n_words)
{
	/* one error per word, and one more per four letters */
	size_t length = strlen(written), best = 1 + length / 4;
	const char *found = NULL;

	if (length > WORD_MAX)
		return NULL;
	for (size_t i = 0; i < n_words; i++) {
		/*
		 * a distance of all letters is no resemblance; of equally near words the first wins
		 */
		size_t limit = least(best + (found == NULL), length), n = strlen(words[i]), far;

		/* the distance is at least the difference of the lengths */
		if (n > WORD_MAX || n >= length + limit || length >= n + limit)
			continue;
		far = distance(written, words[i]);
		if (far < limit) {
			best = far;
			found = words[i];
		}
	}
	return found;
}

const char *sl_suggested(const char *written, const char *const *words, size_t n)
{
	const char *near = sl_nearest(written, words, n);

	return near ? near : sl_listed(words, n);
}

/* In {a: 0,5}, YAML reads the value 0 and a key 5 without a value. */
bool sl_is_after_comma(const char *key)
{
	return *key && key[strspn(key, "0123456789")] == '\0';
}

const char *sl_sized(double bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	int u = 0;

	while (bytes >= 1024 && u < 6) {
		bytes /= 1024;
		u++;
	}
	return sl_said(u == 0 ? "%.0f %s" : "%.1f %s", bytes, units[u]);
}

const char *sl_duration(double seconds)
{
	double minutes = floor(seconds / 60 + 0.5), hours = floor(minutes / 60);

	if (seconds < 99.5)
		return sl_said("%.0f s", seconds);
	if (minutes < 100)
		return sl_said("%.0f min", minutes);
	if (hours < 48)
		return sl_said("%.0f h %02.0f min", hours, minutes - 60 * hours);
	return sl_said("%.0f d %.0f h", floor(hours / 24), hours - 24 * floor(hours / 24));
}

struct sl_failure sl_failure_keep(enum sl_status s)
{
	struct sl_failure f = {.status = s};

	memcpy(f.message, sl_last_error(), sizeof(f.message));
	return f;
}

enum sl_status sl_failure_first(const struct sl_failure *before, enum sl_status then)
{
	if (before->status == SL_OK)
		return then;
	sl_set_last_error(before->message);
	return before->status;
}
