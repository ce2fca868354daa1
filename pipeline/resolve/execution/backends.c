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

#include "primitives/catalog.h"
#include "stages/formats/formats.h"

enum { BACKENDS_MAX = 32 };

/* The parameters of a tuning, and the values that each takes. */
enum { BLOCK, ITEMS, PADDING, PARAMETERS };
static const char *const parameters[] = {"block", "items", "padding"};
static const char *const values[] = {
	"a whole number from 1", "a whole number from 1", "the value on or off"};

/* The value of a key below primitives, parsed. */
struct request {
	char key[SL_KEY_BYTES];
	enum sl_primitive primitive;
	char name[SL_TEXT_BYTES];
	uint32_t value[PARAMETERS]; /* 0: not set */
};

/* --- NAME:block=N:items=N:padding=off --------------------------------------------------------- */

/* Reads a number from 1; 0 when text is not one. */
static uint32_t read_number(const char *text)
{
	uint64_t n;

	return sl_count_parse(text, &n) && n <= UINT32_MAX ? (uint32_t)n : 0;
}

/* Reads "block=256" into the request; false after adding a problem. */
static bool read_tuning(struct sl_resolver *v, char *part, struct request *w)
{
	const char *shown = sl_shown(part), *word = strsep(&part, "=");
	int p = BLOCK;

	part = part ? part : "";
	while (p < PARAMETERS && strcmp(word, parameters[p]) != 0)
		p++;
	if (p == PARAMETERS)
		return sl_config_add_problem(v->r, w->key,
			"%s is not a tuning parameter (block=N: threads per block, items=N: items "
			"per thread, padding=on|off: of shared memory); use %s",
			shown, sl_suggested(word, parameters, PARAMETERS));
	if (w->value[p] > 0)
		return sl_config_add_problem(v->r, w->key, "%s repeats %s; remove it", shown, word);
	w->value[p] = p == PADDING ? (uint32_t)sl_padding_find(part) : read_number(part);
	return w->value[p] > 0 ||
	       sl_config_add_problem(v->r, w->key,
		       "%s is not a valid tuning: %s takes %s; correct or remove it", shown, word,
		       values[p]);
}

/* Parses the value of a key below primitives; false after adding a problem. */
static bool read_request(
	struct sl_resolver *v, enum sl_primitive p, const char *text, struct request *w)
{
	char copy[SL_TEXT_BYTES], *rest = copy, *part;

	memset(w, 0, sizeof(*w));
	snprintf(w->key, sizeof(w->key), "primitives.%s", sl_primitive_name(p));
	w->primitive = p;
	snprintf(copy, sizeof(copy), "%s", text);
	snprintf(w->name, sizeof(w->name), "%s", strsep(&rest, ":"));
	/* a tuning fits one backend, and auto can stand for another one on another machine */
	if (rest && strcmp(w->name, "auto") == 0)
		return sl_config_add_problem(v->r, w->key,
			"auto takes no block, items or padding; write auto alone, or name a backend");
	while ((part = strsep(&rest, ":")))
		if (!read_tuning(v, part, w))
			return false;
	return true;
}

const char *sl_choice_text(const struct sl_choice *c)
{
	char *text = sl_message_part();

	strcpy(text, c->backend->name);
	if (c->tuning.block)
		sl_append(text, SL_PART_BYTES, ":block=%u", c->tuning.block);
	if (c->tuning.items)
		sl_append(text, SL_PART_BYTES, ":items=%u", c->tuning.items);
	if (c->tuning.padding)
		sl_append(text, SL_PART_BYTES, ":padding=%s", sl_padding_name(c->tuning.padding));
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
static void refuse_pack(struct sl_resolver *v, const struct request *w)
{
	const struct sl_format *f = v->to->format;
	const char *words[BACKENDS_MAX];
	size_t n = 0;

	if (!f) /* an unknown format has a problem already */
		return;
	for (size_t i = 0; sl_formats[i] && n < BACKENDS_MAX; i++)
		if (sl_formats[i]->packing.chunk_bytes > 0)
			words[n++] = sl_formats[i]->name;
	sl_config_add_problem(v->r, w->key,
		"%s compresses files on the device, but a file of %s %s; use auto, or output.format: %s",
		sl_shown(w->name), f->name, f->no_streams, sl_listed(words, n));
}

/* Refuses a backend that is unknown or does not run on the device of the run. */
static void refuse_name(struct sl_resolver *v, const struct request *w)
{
	static const char *const where[] = {"the host", "a device", "CUDA devices only"};
	const struct sl_catalog_entry *line = sl_catalog_find(w->primitive, w->name);
	const char *words[BACKENDS_MAX];
	size_t n = list_words(v->to, w->primitive, words);

	if (!line) {
		sl_config_add_problem(v->r, w->key, "%s is not a backend of %s; use %s",
			sl_shown(w->name), sl_primitive_name(w->primitive),
			sl_suggested(w->name, words, n));
	} else if (w->primitive == SL_DEFLATE && v->to->device != SL_ON_CPU) {
		/* the backend could run on this device, so it is the format that prevents it */
		refuse_pack(v, w);
	} else {
		/* the emulated device runs device backends on any machine */
		if (line->runs_on == SL_RUNS_ON_DEVICE)
			words[n++] = "run.device: emulated";
		sl_config_add_problem(v->r, w->key, "%s runs on %s, but %s; use %s",
			sl_shown(w->name), where[line->runs_on], sl_device_text(v->to),
			sl_listed(words, n));
	}
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
 * Resolves one primitive. With an unknown device nothing can be checked, so only the syntax is.
 * Keys of more than 32 bits are sorted as u64.
 */
static enum sl_status resolve_backend(
	struct sl_resolver *v, enum sl_primitive p, const char *text, struct sl_choice *choice)
{
	const bool wide = p == SL_SORT && v->to->key_bits > 32;
	enum sl_status s = SL_OK;
	struct request w;
	bool automatic;

	if (!read_request(v, p, text, &w) || v->to->device == SL_ON_AUTO)
		return SL_OK;
	automatic = strcmp(w.name, "auto") == 0;
	if (automatic && p == SL_SCAN)
		return SL_OK; /* compact and sort each use their own scan */
	choice->backend = automatic ? find_best(v->to, p) : find(v->to, p, w.name);
	choice->tuning = (struct sl_tuning){.block = w.value[BLOCK],
		.items = w.value[ITEMS],
		.padding = (enum sl_padding)w.value[PADDING]};
	if (choice->backend)
		s = sl_tuning_check(choice->backend, choice->tuning, wide ? SL_U64 : SL_U32);
	else if (automatic)
		sl_config_add_problem(v->r, w.key,
			"no %s backend runs on this device; use run.device: cpu",
			sl_primitive_name(p));
	else
		refuse_name(v, &w);
	if (s == SL_USAGE)
		sl_config_add_problem(v->r, w.key, "%s", sl_last_error());
	return s == SL_USAGE ? SL_OK : s;
}

/*
 * The host's backend for auto. ISA-L has the lowest rank, but its higher levels do not make text
 * smaller, so a level above the lowest selects libdeflate.
 */
static const struct sl_backend *find_best_deflate(const struct sl_resolver *v)
{
	return v->c->output.level > 1 ? find(v->to, SL_DEFLATE, "libdeflate")
	                              : find_best(v->to, SL_DEFLATE);
}

/*
 * With auto, a GPU compresses survivors if the format allows it; the emulated device does so only
 * if named, because it is slow. Everything else is compressed by the fastest backend of the host. A
 * device that does not compress makes the records of a format that has them.
 */
static enum sl_status resolve_deflate(struct sl_resolver *v)
{
	struct sl_choice deflate = {0};

	SL_TRY(resolve_backend(v, SL_DEFLATE, v->c->primitives.deflate, &deflate));
	v->to->deflate = deflate.backend;
	if (!deflate.backend)
		return SL_OK;
	if (deflate.backend->space == SL_DEVICE) {
		v->to->pack = deflate.backend;
		v->to->deflate = find_best_deflate(v);
	} else if (strcmp(v->c->primitives.deflate, "auto") == 0) {
		v->to->deflate = find_best_deflate(v);
		if (v->to->device == SL_ON_CUDA)
			v->to->pack = find(v->to, SL_DEFLATE, "device");
	}
	if (v->to->pack)
		v->to->form = SL_AS_STREAMS;
	else if (v->to->device != SL_ON_CPU && v->to->format && v->to->format->packing.records)
		v->to->form = SL_AS_RECORDS;
	return SL_OK;
}

enum sl_status sl_resolve_primitives(struct sl_resolver *v)
{
	SL_TRY(resolve_backend(v, SL_SCAN, v->c->primitives.scan, &v->to->scan));
	SL_TRY(resolve_backend(v, SL_COMPACT, v->c->primitives.compact, &v->to->compact));
	SL_TRY(resolve_backend(v, SL_SORT, v->c->primitives.sort, &v->to->sort));
	return resolve_deflate(v);
}
