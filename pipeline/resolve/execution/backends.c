/*
 * backends.c - parses NAME[:block=N][:items=N][:padding=on|off] and finds the backend, or chooses
 * one for auto.
 *
 * auto takes the backend of lowest rank (primitives/backends.def) that runs on the device of the
 * run. The rank is fixed, so the choice is the same on every machine with such a device.
 */
#include "pipeline/resolve/execution/execution.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/config/config.h"
#include "pipeline/config/reader/reader.h"
#include "pipeline/text/text.h"
#include "primitives/catalog.h"
#include "stages/formats/formats.h"

enum { BACKENDS_MAX = 32, WORDS_BYTES = 400 };

/* The value of a key below primitives, parsed. */
struct request {
	char key[SL_KEY_BYTES];
	enum sl_primitive primitive;
	char name[SL_TEXT_BYTES];
	struct sl_tuning tuning;
};

/* --- NAME:block=N:items=N:padding=off --------------------------------------------------------- */

/* The parameters of a tuning, and the values that each takes. */
enum { BLOCK, ITEMS, PADDING, PARAMETERS };
static const char *const parameters[] = {"block", "items", "padding"};
static const char *const values[] = {
	"a whole number from 1", "a whole number from 1", "the value on or off"};

/* Reads a number from 1; 0 when text is not one. */
static uint32_t read_number(const char *text)
{
	char why[SL_WHY_BYTES];
	uint64_t n;

	return sl_count_parse(text, &n, why) && n <= UINT32_MAX ? (uint32_t)n : 0;
}

/* The value of a parameter; 0 if the request has not set it. */
static uint32_t value_of(const struct request *w, int p)
{
	return p == BLOCK   ? w->tuning.block
	       : p == ITEMS ? w->tuning.items
	                    : (uint32_t)w->tuning.padding;
}

/* Sets a parameter that is not set; false if the text is not one of its values. */
static bool set_value(struct request *w, int p, const char *text)
{
	if (p == BLOCK)
		w->tuning.block = read_number(text);
	if (p == ITEMS)
		w->tuning.items = read_number(text);
	if (p == PADDING)
		w->tuning.padding = sl_padding_find(text);
	return value_of(w, p) > 0;
}

/* Reads "block=256" into the request; false after adding a problem. */
static bool read_tuning(struct sl_reader *r, const char *part, struct request *w)
{
	char shown[SL_SHOWN_BYTES], text[WORDS_BYTES], word[SL_TEXT_BYTES];
	size_t length = strcspn(part, "=");
	int p = BLOCK;

	snprintf(word, sizeof(word), "%.*s", (int)length, part);
	while (p < PARAMETERS && strcmp(word, parameters[p]) != 0)
		p++;
	sl_show(shown, part);
	if (p == PARAMETERS)
		sl_config_add_problem(r, w->key,
			"%s is not a tuning parameter (block=N: threads per block, items=N: items "
			"per thread, padding=on|off: of shared memory); use %s",
			shown, sl_suggest(word, parameters, PARAMETERS, text, sizeof(text)));
	else if (value_of(w, p) > 0)
		sl_config_add_problem(r, w->key, "%s repeats %s; remove it", shown, word);
	else if (!set_value(w, p, part[length] ? part + length + 1 : ""))
		sl_config_add_problem(r, w->key,
			"%s is not a valid tuning: %s takes %s; correct or remove it", shown, word,
			values[p]);
	else
		return true;
	return false;
}

/* Parses the value of a key below primitives; false after adding a problem. */
static bool read_request(
	struct sl_reader *r, enum sl_primitive p, const char *text, struct request *w)
{
	char copy[SL_TEXT_BYTES], *rest = copy;
	const char *part;

	memset(w, 0, sizeof(*w));
	snprintf(w->key, sizeof(w->key), "primitives.%s", sl_primitive_name(p));
	w->primitive = p;
	snprintf(copy, sizeof(copy), "%s", text);
	snprintf(w->name, sizeof(w->name), "%s", strsep(&rest, ":"));
	/* a tuning fits one backend, and auto can stand for another one on another machine */
	if (rest && strcmp(w->name, "auto") == 0)
		return sl_config_add_problem(r, w->key,
			"auto takes no block, items or padding; write auto alone, or name a backend");
	while ((part = strsep(&rest, ":")))
		if (!read_tuning(r, part, w))
			return false;
	return true;
}

const char *sl_choice_text(const struct sl_choice *c, char text[SL_CHOICE_BYTES])
{
	int n = snprintf(text, SL_CHOICE_BYTES, "%.*s", SL_CHOICE_BYTES / 2 - 1, c->backend->name);

	if (c->tuning.block)
		n += snprintf(text + n, SL_CHOICE_BYTES - (size_t)n, ":block=%u", c->tuning.block);
	if (c->tuning.items)
		n += snprintf(text + n, SL_CHOICE_BYTES - (size_t)n, ":items=%u", c->tuning.items);
	if (c->tuning.padding)
		snprintf(text + n, SL_CHOICE_BYTES - (size_t)n, ":padding=%s",
			sl_padding_name(c->tuning.padding));
	return text;
}

/* --- names ------------------------------------------------------------------------------------ */

/* Can survivors be compressed on the device of the run? */
static bool can_pack(const struct sl_choices *choices)
{
	return choices->device != SL_ON_CPU && choices->format &&
	       choices->format->packing.chunk_bytes > 0;
}

/* Can the run use a backend of the primitive in that space? */
static bool is_usable(const struct sl_choices *choices, enum sl_primitive p, enum sl_space space)
{
	/* the host compresses in every run what the device does not pack */
	if (p == SL_DEFLATE)
		return space == SL_HOST || can_pack(choices);
	return space == (choices->device == SL_ON_CPU ? SL_HOST : SL_DEVICE);
}

/* The backend of that name if the run can use it, else NULL. */
static const struct sl_backend *find(
	const struct sl_choices *choices, enum sl_primitive p, const char *name)
{
	const struct sl_backend *found;

	if (sl_find(p, name, &found) != SL_OK || !is_usable(choices, p, found->space))
		return NULL;
	return found;
}

/* Lists auto and all backends that the run can use; returns their number. */
static size_t list_words(
	const struct sl_choices *choices, enum sl_primitive p, const char *words[BACKENDS_MAX])
{
	size_t n = 0;

	words[n++] = "auto";
	for (const struct sl_catalog_entry *l = sl_catalog; l->name && n < BACKENDS_MAX - 1; l++)
		if (l->primitive == p && find(choices, p, l->name))
			words[n++] = l->name;
	return n;
}

/* Refuses deflate: device for a format whose files cannot be compressed on the device. */
static void refuse_pack(
	struct sl_reader *r, const struct sl_choices *choices, const struct request *w)
{
	const struct sl_format *f = choices->format;
	char shown[SL_SHOWN_BYTES], text[WORDS_BYTES];
	const char *words[BACKENDS_MAX];
	size_t n = 0;

	if (!f) /* an unknown format has a problem already */
		return;
	for (size_t i = 0; sl_formats[i] && n < BACKENDS_MAX; i++)
		if (sl_formats[i]->packing.chunk_bytes > 0)
			words[n++] = sl_formats[i]->name;
	sl_config_add_problem(r, w->key,
		"%s compresses files on the device, but a file of %s %s; use auto, or "
		"output.format: %s",
		sl_show(shown, w->name), f->name, f->no_streams,
		sl_list_words(text, sizeof(text), words, n));
}

/* Refuses a backend that is unknown or does not run on the device of the run. */
static void refuse_name(
	struct sl_reader *r, const struct sl_choices *choices, const struct request *w)
{
	static const char *const where[] = {"the host", "a device", "CUDA devices only"};
	const struct sl_catalog_entry *line = sl_catalog_find(w->primitive, w->name);
	char shown[SL_SHOWN_BYTES], text[WORDS_BYTES], why[WORDS_BYTES];
	const char *words[BACKENDS_MAX];
	size_t n = list_words(choices, w->primitive, words);

	sl_show(shown, w->name);
	if (!line) {
		sl_config_add_problem(r, w->key, "%s is not a backend of %s; use %s", shown,
			sl_primitive_name(w->primitive),
			sl_suggest(w->name, words, n, text, sizeof(text)));
		return;
	}
	/* the backend could run on this device, so it is the format that prevents it */
	if (w->primitive == SL_DEFLATE && choices->device != SL_ON_CPU) {
		refuse_pack(r, choices, w);
		return;
	}
	/* the emulated device runs device backends on any machine */
	if (line->runs_on == SL_RUNS_ON_DEVICE)
		words[n++] = "run.device: emulated";
	sl_config_add_problem(r, w->key, "%s runs on %s, but %s; use %s", shown,
		where[line->runs_on], sl_device_text(choices, why, sizeof(why)),
		sl_list_words(text, sizeof(text), words, n));
}

/* The backend that auto stands for: of those that the run can use, the one of lowest rank. */
static const struct sl_backend *find_best(const struct sl_choices *choices, enum sl_primitive p)
{
	const struct sl_backend *best = NULL, *b;
	uint32_t rank = UINT32_MAX;

	for (const struct sl_catalog_entry *e = sl_catalog; e->name; e++) {
		if (e->primitive != p || e->rank >= rank || !(b = find(choices, p, e->name)))
			continue;
		best = b;
		rank = e->rank;
	}
	return best;
}

/* --- choices ---------------------------------------------------------------------------------- */

/*
 * Checks the tuning against the limits of the device. Keys of more than 32 bits are sorted
 * as u64.
 */
static enum sl_status check_tuning(struct sl_reader *r, const struct sl_choices *choices,
	const struct request *w, const struct sl_backend *b)
{
	bool wide = w->primitive == SL_SORT && choices->key_bits > 32;
	enum sl_status s = sl_tuning_check(b, w->tuning, wide ? SL_U64 : SL_U32);

	if (s != SL_USAGE)
		return s;
	sl_config_add_problem(r, w->key, "%s", sl_last_error());
	return SL_OK;
}

/* Resolves one primitive. With an unknown device nothing can be checked, so only the syntax is. */
static enum sl_status resolve_backend(struct sl_reader *r, const struct sl_choices *choices,
	enum sl_primitive p, const char *text, struct sl_choice *choice)
{
	struct request w;
	bool automatic;

	if (!read_request(r, p, text, &w) || choices->device == SL_ON_AUTO)
		return SL_OK;
	automatic = strcmp(w.name, "auto") == 0;
	if (automatic && p == SL_SCAN)
		return SL_OK; /* compact and sort each use their own scan */
	choice->backend = automatic ? find_best(choices, p) : find(choices, p, w.name);
	choice->tuning = w.tuning;
	if (choice->backend)
		return check_tuning(r, choices, &w, choice->backend);
	if (automatic)
		sl_config_add_problem(r, w.key,
			"no %s backend runs on this device; use run.device: cpu",
			sl_primitive_name(p));
	else
		refuse_name(r, choices, &w);
	return SL_OK;
}

/*
 * The host's backend for auto. ISA-L has the lowest rank, but its higher levels do not make text
 * smaller, so a level above the lowest selects libdeflate.
 */
static const struct sl_backend *find_best_deflate(
	const struct sl_config *c, const struct sl_choices *choices)
{
	return c->output.level > 1 ? find(choices, SL_DEFLATE, "libdeflate")
	                           : find_best(choices, SL_DEFLATE);
}

/*
 * With auto, a GPU compresses survivors if the format allows it; the emulated device does so only
 * if named, because it is slow. Everything else is compressed by the fastest backend of the host. A
 * device that does not compress makes the records of a format that has them.
 */
static enum sl_status resolve_deflate(
	const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices)
{
	struct sl_choice deflate = {0};

	SL_TRY(resolve_backend(r, choices, SL_DEFLATE, c->primitives.deflate, &deflate));
	choices->deflate = deflate.backend;
	if (!deflate.backend)
		return SL_OK;
	if (deflate.backend->space == SL_DEVICE) {
		choices->pack = deflate.backend;
		choices->deflate = find_best_deflate(c, choices);
	} else if (strcmp(c->primitives.deflate, "auto") == 0) {
		choices->deflate = find_best_deflate(c, choices);
		if (choices->device == SL_ON_CUDA)
			choices->pack = find(choices, SL_DEFLATE, "device");
	}
	if (choices->pack)
		choices->form = SL_AS_STREAMS;
	else if (choices->device != SL_ON_CPU && choices->format &&
		 choices->format->packing.records)
		choices->form = SL_AS_RECORDS;
	return SL_OK;
}

enum sl_status sl_resolve_primitives(
	const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices)
{
	SL_TRY(resolve_backend(r, choices, SL_SCAN, c->primitives.scan, &choices->scan));
	SL_TRY(resolve_backend(r, choices, SL_COMPACT, c->primitives.compact, &choices->compact));
	SL_TRY(resolve_backend(r, choices, SL_SORT, c->primitives.sort, &choices->sort));
	return resolve_deflate(c, r, choices);
}
