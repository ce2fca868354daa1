/*
 * tuning.c - see tuning.h.
 *
 * The file is parsed strictly, line by line, into a new table. The table replaces the one in use only
 * if the whole file is correct.
 */
#include "primitives/tuning.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "primitives/files/read.h"
#include "primitives/launch_config.h"

/* The backends that can be tuned: those of CUDA devices that also run on the emulated device. */
static const struct sl_backend *const tunable[] = {
#define SL_BACKEND(primitive, name, rank)
#define SL_CUDA_BACKEND(primitive, name, rank)
#define SL_DEVICE_BACKEND(primitive, name, rank) &sl_##primitive##_##name##_emulated,
#include "primitives/backends.def"
#undef SL_BACKEND
#undef SL_CUDA_BACKEND
#undef SL_DEVICE_BACKEND
	NULL};

struct table {
	uint32_t n;
	struct sl_tuning_line line[SL_TUNINGS_MAX];
};

static struct table current;
static char current_path[SL_TUNING_PATH_BYTES];

/* --- a line ----------------------------------------------------------------------------------- */

enum { WORDS_MOST = 8, WORD_SHOWN = 40 };

/* Splits a line at blanks, which become NULs. Returns the number of words, at most WORDS_MOST. */
static int split_words(char *line, char *word[WORDS_MOST])
{
	char *rest;
	int n = 0;

	for (char *at = strtok_r(line, " \t\r", &rest); at && n < WORDS_MOST;
		at = strtok_r(NULL, " \t\r", &rest))
		word[n++] = at;
	return n;
}

/* Reads digits only, or 2^k if power is set. False if text is neither, or exceeds 32 bits. */
static bool read_number(const char *text, bool power, uint32_t *value)
{
	const char *digits = power && strncmp(text, "2^", 2) == 0 ? text + 2 : text;
	unsigned long n;

	if (*digits == '\0' || strlen(digits) > 10 ||
		strspn(digits, "0123456789") != strlen(digits))
		return false;
	n = strtoul(digits, NULL, 10);
	if (digits != text && n > 31)
		return false;
	if (digits != text)
		n = 1ul << n;
	*value = (uint32_t)n;
	return n <= UINT32_MAX;
}

static enum sl_status read_backend(const char *word, const struct sl_backend **backend)
{
	char name[96];

	for (size_t i = 0; (*backend = tunable[i]) != NULL; i++) {
		snprintf(name, sizeof(name), "%s/%s", sl_primitive_name((*backend)->primitive),
			(*backend)->name);
		if (strcmp(name, word) == 0)
			return SL_OK;
	}
	return sl_fail(SL_USAGE,
		"%.*s is not a tunable backend (sluice list shows them); write one, for example "
		"sort/shared",
		WORD_SHOWN, word);
}

static enum sl_status read_type(
	const char *word, const struct sl_backend *backend, enum sl_type *type)
{
	bool wide = strcmp(word, "u64") == 0;

	if (!wide && strcmp(word, "u32") != 0)
		return sl_fail(SL_USAGE, "%.*s is not a type; use u32 or u64", WORD_SHOWN, word);
	if (wide && backend->primitive == SL_COMPACT)
		return sl_fail(SL_USAGE, "compact has no u64 (its indices are u32); use u32");
	*type = wide ? SL_U64 : SL_U32;
	return SL_OK;
}

/* "block=256". */
static enum sl_status read_field(const char *word, const char *name, uint32_t *value)
{
	size_t length = strlen(name);

	if (strncmp(word, name, length) == 0 && word[length] == '=' &&
		read_number(word + length + 1, false, value) && *value > 0)
		return SL_OK;
	return sl_fail(
		SL_USAGE, "%.*s is not %s= and a whole number from 1", WORD_SHOWN, word, name);
}

/* "padding=off". */
static enum sl_status read_padding(const char *word, enum sl_padding *padding)
{
	static const char name[] = "padding=";

	if (strncmp(word, name, strlen(name)) == 0)
		*padding = sl_padding_find(word + strlen(name));
	return *padding != SL_PADDING_DEFAULT
	               ? SL_OK
	               : sl_fail(SL_USAGE, "%.*s is not padding=on or padding=off", WORD_SHOWN,
				 word);
}

/* Lines of one backend and type ascend, so none occurs twice. */
static enum sl_status check_order(const struct table *t, const struct sl_tuning_line *line)
{
	for (uint32_t i = 0; i < t->n; i++) {
		const struct sl_tuning_line *other = &t->line[i];

		if (other->backend == line->backend && other->type == line->type &&
			strcmp(other->device, line->device) == 0 && other->from >= line->from)
			return sl_fail(SL_USAGE,
				"from %u follows from %u of line %u, but lines of one backend and "
				"type must ascend; reorder them",
				line->from, other->from, other->line);
	}
	return SL_OK;
}

static enum sl_status read_tuned(char *word[WORDS_MOST], int n, struct sl_tuning_line *line)
{
	const struct sl_limits any = {.block_threads = UINT32_MAX, .shared_bytes = SIZE_MAX};

	if ((n != 6 && n != 7) || strcmp(word[2], "from") != 0)
		return sl_fail(SL_USAGE,
			"this is not a line of a tuning file, which has six words, or seven with a "
			"padding; write for example: sort/shared u32 from 0 block=384 items=20");
	if (line->device[0] == '\0')
		return sl_fail(SL_USAGE,
			"no device is named before this line; add a line such as: device NVIDIA "
			"H200");
	SL_TRY(read_backend(word[0], &line->backend));
	SL_TRY(read_type(word[1], line->backend, &line->type));
	if (!read_number(word[3], true, &line->from))
		return sl_fail(SL_USAGE,
			"%.*s is not a number of items; write for example 4194304 or 2^22",
			WORD_SHOWN, word[3]);
	SL_TRY(read_field(word[4], "block", &line->tuning.block));
	SL_TRY(read_field(word[5], "items", &line->tuning.items));
	line->tuning.padding = SL_PADDING_DEFAULT;
	if (n == 7)
		SL_TRY(read_padding(word[6], &line->tuning.padding));
	return sl_tuning_check_limits(line->backend, line->tuning, line->type, &any);
}

/* The name is the rest of the line, including blanks within it. */
static enum sl_status read_device(const char *rest, char device[96])
{
	size_t length;

	rest += strspn(rest, " \t");
	length = strlen(rest);
	while (length > 0 && strchr(" \t\r", rest[length - 1]))
		length--;
	if (length == 0 || length >= 96)
		return sl_fail(SL_USAGE,
			"a device has a name of 1 to 95 characters, as sluice-bench prints it");
	snprintf(device, 96, "%.*s", (int)length, rest);
	return SL_OK;
}

static enum sl_status read_line(char *text, struct table *t, struct sl_tuning_line *line)
{
	static const char device[] = "device";
	char *word[WORDS_MOST], *comment = strchr(text, '#');
	int n;

	if (comment)
		*comment = '\0';
	text += strspn(text, " \t\r");
	if (*text == '\0')
		return SL_OK;
	if (strncmp(text, device, strlen(device)) == 0 && strchr(" \t", text[strlen(device)]))
		return read_device(text + strlen(device), line->device);
	n = split_words(text, word);
	SL_TRY(read_tuned(word, n, line));
	SL_TRY(check_order(t, line));
	if (t->n == SL_TUNINGS_MAX)
		return sl_fail(SL_USAGE, "more than %d lines; remove some", SL_TUNINGS_MAX);
	t->line[t->n++] = *line;
	return SL_OK;
}

/* --- a file ----------------------------------------------------------------------------------- */

static enum sl_status read_lines(const char *path, char *text, size_t bytes, struct table *t)
{
	struct sl_tuning_line line = {.line = 0};

	if (strlen(text) != bytes)
		return sl_fail(SL_USAGE,
			"%s contains a NUL byte, so it is not a tuning file; check the path", path);
	for (char *next; text; text = next) {
		next = strchr(text, '\n');
		if (next)
			*next++ = '\0';
		line.line++;
		SL_TRY(sl_add_context(read_line(text, t, &line), "%s:%u", path, line.line));
	}
	return SL_OK;
}

enum sl_status sl_tuning_read(const char *path)
{
	void *table = NULL;
	char *text = NULL;
	size_t bytes;
	enum sl_status s;

	SL_TRY(sl_path_read(path, SL_TUNING_BYTES_MAX, &text, &bytes));
	s = sl_memory_get(SL_HOST, sizeof(struct table), &table);
	if (s == SL_OK) {
		memset(table, 0, sizeof(struct table));
		s = read_lines(path, text, bytes, (struct table *)table);
	}
	if (s == SL_OK) {
		memcpy(&current, table, sizeof(current));
		snprintf(current_path, sizeof(current_path), "%s", path);
	}
	sl_memory_give(SL_HOST, table);
	sl_memory_give(SL_HOST, text);
	return s;
}

void sl_tuning_clear(void)
{
	current.n = 0;
	current_path[0] = '\0';
}

void sl_tuning_default_path(char path[SL_TUNING_PATH_BYTES])
{
	const char *named = getenv("SL_TUNING"), *config = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");

	path[0] = '\0';
	if (named) {
		snprintf(path, SL_TUNING_PATH_BYTES, "%s", named);
		return;
	}
	if (config && config[0] == '/')
		snprintf(path, SL_TUNING_PATH_BYTES, "%s/sluice/tuning", config);
	else if (home && home[0] == '/')
		snprintf(path, SL_TUNING_PATH_BYTES, "%s/.config/sluice/tuning", home);
	if (path[0] && sl_path_is_missing(path, F_OK))
		path[0] = '\0';
}

/* --- looking up ------------------------------------------------------------------------------- */

const char *sl_tuning_path(void)
{
	return current_path;
}

uint32_t sl_tuning_lines(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < current.n; i++)
		n += strcmp(current.line[i].device, sl_device_name()) == 0;
	return n;
}

static bool is_same(const struct sl_backend *p, const struct sl_backend *q)
{
	return p->primitive == q->primitive && strcmp(p->name, q->name) == 0;
}

/* The lines ascend, so the last one with from <= n applies. */
const struct sl_tuning_line *sl_tuning_find(
	const struct sl_backend *b, enum sl_type type, uint32_t n)
{
	const struct sl_tuning_line *found = NULL;

	if (b->space != SL_DEVICE || b->tunable.block == 0)
		return NULL;
	for (uint32_t i = 0; i < current.n; i++) {
		const struct sl_tuning_line *l = &current.line[i];

		if (l->type == type && l->from <= n && is_same(l->backend, b) &&
			strcmp(l->device, sl_device_name()) == 0)
			found = l;
	}
	return found;
}
