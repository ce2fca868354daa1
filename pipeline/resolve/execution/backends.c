/* backends.c - the backends that a configuration names, as naive:block=128, or leaves to auto. */
#include "pipeline/resolve/execution/backends.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/config/options.h"
#include "pipeline/config/reader/diagnostics.h"
#include "pipeline/config/values.h"
#include "pipeline/resolve/execution/device.h"
#include "pipeline/text/messages.h"
#include "primitives/catalog.h"
#include "stages/formats/formats.h"

enum { BACKENDS_MAX = 32, WORDS_BYTES = 400 };

/* A primitive of the run, and what the configuration says of it. */
struct wish {
	char key[SL_KEY_BYTES];
	enum sl_primitive primitive;
	char name[SL_TEXT_BYTES];
	struct sl_tuning tuning;
};

/* --- NAME:block=N:items=N --------------------------------------------------------------------- */

/* The whole number from 1 that text is; 0 when it is none. */
static uint32_t read_number(const char *text)
{
	char why[SL_WHY_BYTES];
	uint64_t n;

	return sl_count_parse(text, &n, why) && n <= UINT32_MAX ? (uint32_t)n : 0;
}

/* Reads "block=256", or complains. */
static bool read_tuning(struct sl_reader *r, const char *part, struct wish *w)
{
	static const char *const words[] = {"block", "items"};
	uint32_t *const fields[] = {&w->tuning.block, &w->tuning.items};
	char shown[SL_SHOWN_BYTES], text[WORDS_BYTES], word[SL_TEXT_BYTES];
	size_t length = strcspn(part, "=");
	uint32_t *field = NULL, n = part[length] ? read_number(part + length + 1) : 0;

	snprintf(word, sizeof(word), "%.*s", (int)length, part);
	for (int i = 0; i < 2; i++)
		if (strcmp(word, words[i]) == 0)
			field = fields[i];
	sl_show(shown, part);
	if (field && *field == 0 && n > 0) {
		*field = n;
		return true;
	}
	if (!field)
		sl_config_complain(r, w->key,
			"%s is no tuning (block=N, threads a block, and items=N, items a thread, "
			"are), try %s",
			shown, sl_suggest(word, words, 2, text, sizeof(text)));
	else if (*field > 0)
		sl_config_complain(
			r, w->key, "%s repeats %s (once is enough), try removing it", shown, word);
	else
		sl_config_complain(r, w->key,
			"%s is no tuning (%s takes a whole number from 1), try leaving it out",
			shown, word);
	return false;
}

/* Reads what the configuration says; false, with a complaint, when it is not of that form. */
static bool read_wish(struct sl_reader *r, enum sl_primitive p, const char *text, struct wish *w)
{
	char copy[SL_TEXT_BYTES], *rest = copy;
	const char *part;

	memset(w, 0, sizeof(*w));
	snprintf(w->key, sizeof(w->key), "primitives.%s", sl_primitive_name(p));
	w->primitive = p;
	snprintf(copy, sizeof(copy), "%s", text);
	snprintf(w->name, sizeof(w->name), "%s", strsep(&rest, ":"));
	if (rest && strcmp(w->name, "auto") == 0) {
		sl_config_complain(r, w->key,
			"auto is tuned (it chooses for itself), try auto alone or a name");
		return false;
	}
	while ((part = strsep(&rest, ":")))
		if (!read_tuning(r, part, w))
			return false;
	return true;
}

/* --- names ------------------------------------------------------------------------------------ */

/* Can survivors be compressed on the device that computes them? */
static bool can_press(const struct sl_choices *choices)
{
	return choices->device != SL_ON_CPU && choices->format &&
	       choices->format->packing.chunk_bytes > 0;
}

/* Can the run have a primitive in that space? */
static bool is_of_run(const struct sl_choices *choices, enum sl_primitive p, enum sl_space space)
{
	if (p == SL_DEFLATE)
		return space == SL_HOST || can_press(choices);
	return space == (choices->device == SL_ON_CPU ? SL_HOST : SL_DEVICE);
}

/* The backend, when this run can have it. */
static const struct sl_backend *find(
	const struct sl_choices *choices, enum sl_primitive p, const char *name)
{
	const struct sl_backend *found;

	if (sl_find(p, name, &found) != SL_OK || !is_of_run(choices, p, found->space))
		return NULL;
	return found;
}

/* All that the run can have, auto first. */
static size_t list_words(
	const struct sl_choices *choices, enum sl_primitive p, const char *words[BACKENDS_MAX])
{
	size_t n = 0;

	words[n++] = "auto";
	for (const struct sl_line *l = sl_matrix; l->name && n < BACKENDS_MAX - 1; l++)
		if (l->primitive == p && find(choices, p, l->name))
			words[n++] = l->name;
	return n;
}

/* A file of the format has nothing that a device could compress: says why, and which has. */
static void refuse_press(
	struct sl_reader *r, const struct sl_choices *choices, const struct wish *w)
{
	const struct sl_format *f = choices->format;
	char shown[SL_SHOWN_BYTES], text[WORDS_BYTES];
	const char *words[BACKENDS_MAX];
	size_t n = 0;

	if (!f) /* of a format that nobody knows enough is said */
		return;
	for (size_t i = 0; sl_formats[i] && n < BACKENDS_MAX; i++)
		if (sl_formats[i]->packing.chunk_bytes > 0)
			words[n++] = sl_formats[i]->name;
	sl_config_complain(r, w->key,
		"%s compresses what the device has made of survivors (a file of %s %s), try auto, "
		"or output.format: %s",
		sl_show(shown, w->name), f->name, f->no_streams,
		sl_list_words(text, sizeof(text), words, n));
}

/* No run of this kind can have the backend: says why, and what it can have. */
static void refuse_name(struct sl_reader *r, const struct sl_choices *choices, const struct wish *w)
{
	static const char *const where[] = {"the host", "a device", "CUDA devices alone"};
	const struct sl_line *line = sl_matrix_find(w->primitive, w->name);
	char shown[SL_SHOWN_BYTES], text[WORDS_BYTES], why[WORDS_BYTES];
	const char *words[BACKENDS_MAX];
	size_t n = list_words(choices, w->primitive, words);

	sl_show(shown, w->name);
	if (!line) {
		sl_config_complain(r, w->key, "%s is no %s (no backend has that name), try %s",
			shown, sl_primitive_name(w->primitive),
			sl_suggest(w->name, words, n, text, sizeof(text)));
		return;
	}
	if (w->primitive == SL_DEFLATE && choices->device != SL_ON_CPU) {
		refuse_press(r, choices, w);
		return;
	}
	if (line->reach == SL_RUNS_ON_DEVICE)
		words[n++] = "run.device: emulated";
	sl_config_complain(r, w->key, "%s works on %s (%s), try %s", shown, where[line->reach],
		sl_say_device(choices, why, sizeof(why)),
		sl_list_words(text, sizeof(text), words, n));
}

/* What auto stands for: the fastest that the run can have. */
static const struct sl_backend *find_best(const struct sl_choices *choices, enum sl_primitive p)
{
	static const char *const order[] = {
		"shared", "work_efficient", "naive", "libdeflate", "cpu"};
	const struct sl_backend *best = NULL;

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]) && !best; i++)
		best = find(choices, p, order[i]);
	for (const struct sl_line *l = sl_matrix; l->name && !best; l++)
		best = find(choices, p, l->name);
	return best;
}

/* --- choices ---------------------------------------------------------------------------------- */

static enum sl_status check_tuning(struct sl_reader *r, const struct sl_choices *choices,
	const struct wish *w, const struct sl_backend *b)
{
	bool wide = w->primitive == SL_SORT && choices->key_bits > 32;
	enum sl_status s = sl_tuning_check(b, w->tuning, wide ? SL_U64 : SL_U32);

	if (s != SL_USAGE)
		return s;
	sl_config_complain(r, w->key, "%s", sl_last_error());
	return SL_OK;
}

static enum sl_status resolve_backend(struct sl_reader *r, const struct sl_choices *choices,
	enum sl_primitive p, const char *text, struct sl_choice *choice)
{
	struct wish w;
	bool automatic;

	if (!read_wish(r, p, text, &w) || choices->device == SL_ON_AUTO)
		return SL_OK;
	automatic = strcmp(w.name, "auto") == 0;
	if (automatic && p == SL_SCAN)
		return SL_OK; /* each has the scan that suits it */
	choice->backend = automatic ? find_best(choices, p) : find(choices, p, w.name);
	choice->tuning = w.tuning;
	if (choice->backend)
		return check_tuning(r, choices, &w, choice->backend);
	if (automatic)
		sl_config_complain(r, w.key,
			"auto finds nothing (no %s works on a device), try run.device: cpu",
			sl_primitive_name(p));
	else
		refuse_name(r, choices, &w);
	return SL_OK;
}

/*
 * Survivors of a GPU are compressed there, where they can be, and what else there is to compress by
 * the host's fastest; the emulated device only if it is asked to. Any device makes records.
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
		choices->deflate = find_best(choices, SL_DEFLATE);
	} else if (choices->device == SL_ON_CUDA && strcmp(c->primitives.deflate, "auto") == 0) {
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
