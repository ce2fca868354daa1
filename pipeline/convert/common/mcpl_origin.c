/* mcpl_origin.c - see common.h. */
#include "pipeline/convert/common/common.h"

#include <string.h>

#include "primitives/device/device.h"
#include "stages/formats/mcpl/mcpl.h"
#include "stages/formats/mcpl/mcpl_layout.h"

static bool begins_with(const struct sl_mcpl_string *s, const char *text)
{
	return s->length >= strlen(text) && memcmp(s->at, text, strlen(text)) == 0;
}

/* The strings of a header whose content depends on the run; at = NULL: there is none. */
struct own_strings {
	struct sl_mcpl_string run, config;
};

/* Finds the comment on the run, and the content of the blob whose name is SL_MCPL_CONFIG. */
static struct own_strings find_own(const struct sl_mcpl_head *h)
{
	const uint8_t *at = h->bytes + sl_mcpl_put_fixed(NULL, &h->fixed);
	struct own_strings own = {.run = {.at = NULL}};
	uint32_t config = h->fixed.blobs;

	sl_mcpl_next_string(&at);
	for (uint32_t i = 0; i < h->fixed.comments; i++) {
		struct sl_mcpl_string comment = sl_mcpl_next_string(&at);

		if (begins_with(&comment, SL_MCPL_RUN))
			own.run = comment; /* the last one: those before it are of input lists */
	}
	for (uint32_t i = 0; i < h->fixed.blobs; i++) {
		struct sl_mcpl_string name = sl_mcpl_next_string(&at);

		if (begins_with(&name, SL_MCPL_CONFIG) && name.length == strlen(SL_MCPL_CONFIG))
			config = i;
	}
	for (uint32_t i = 0; i < h->fixed.blobs; i++) {
		struct sl_mcpl_string blob = sl_mcpl_next_string(&at);

		if (i == config)
			own.config = blob;
	}
	return own;
}

/* Writes a string in two parts. */
static void put(struct sl_mcpl_buffer *w, const char *prefix, const struct sl_mcpl_string *s)
{
	sl_mcpl_write_u32(w, (uint32_t)strlen(prefix) + s->length);
	sl_mcpl_write(w, prefix, strlen(prefix));
	sl_mcpl_write(w, s->at, s->length);
}

enum sl_status sl_mcpl_head_set_origin(
	struct sl_mcpl_head *h, const char *merged, const struct sl_mcpl_head *first)
{
	const struct sl_mcpl_string text = {(const uint8_t *)merged, (uint32_t)strlen(merged)};
	struct own_strings own = find_own(h), model = first ? find_own(first) : own;
	size_t fixed = sl_mcpl_put_fixed(NULL, &h->fixed);
	const uint8_t *at = h->bytes + fixed;
	struct sl_mcpl_buffer w = {NULL, 0};
	void *memory;

	SL_TRY(sl_memory_get(SL_HOST,
		h->size + strlen(SL_MCPL_MERGED) + text.length + model.config.length, &memory));
	w.at = (uint8_t *)memory;
	sl_mcpl_write(&w, h->bytes, fixed);
	for (uint64_t i = 0; i < sl_mcpl_count_strings(&h->fixed); i++) {
		struct sl_mcpl_string s = sl_mcpl_next_string(&at);

		if (s.at == own.run.at)
			put(&w, SL_MCPL_MERGED, &text);
		else
			put(&w, "", s.at == own.config.at ? &model.config : &s);
	}
	sl_memory_give(SL_HOST, h->bytes);
	h->bytes = w.at;
	h->size = w.used;
	return SL_OK;
}
