/* phase_space_mcpl.c - see phase_space.h. */
#include "stages/formats/phase_space/phase_space.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "primitives/base/arena.h"
#include "primitives/device/device.h"
#include "stages/formats/mcpl/mcpl.h"

/* The statistic of the number of primary particles, and what precedes a title. */
#define HISTORIES "stat:sum:%s_orig_histories:"
#define TITLE     "Title: "

static_assert(SL_PHASE_SPACE_HEAD_BYTES >= 56 + 3 * 64 + SL_IAEA_TITLE_BYTES,
	"the header of a list as MCPL must fit");

void sl_phase_space_record(
	const struct sl_mcpl_header *to, const struct sl_mcpl_particle *p, uint8_t *out)
{
	const struct sl_mcpl_record r = sl_mcpl_record_of_header(to);
	uint32_t words[SL_MCPL_RECORD_MOST / sizeof(uint32_t)]; /* out can have any alignment */

	sl_mcpl_encode(&r, p, words);
	memcpy(out, words, r.bytes);
}

size_t sl_phase_space_head(
	const struct sl_phase_space *s, uint64_t particles, uint8_t out[SL_PHASE_SPACE_HEAD_BYTES])
{
	char text[sizeof(HISTORIES) + 8 + SL_IAEA_TITLE_BYTES];
	char value[SL_MCPL_VALUE_BYTES + 1];
	struct sl_mcpl_buffer w = {out, 0};
	struct sl_mcpl_header h = s->fields;
	bool is_counted = s->histories >= 0;
	bool is_titled = *s->iaea.title != '\0';

	h.particles = particles;
	h.comments = (uint32_t)is_counted + (uint32_t)is_titled;
	w.used = sl_mcpl_put_fixed(out, &h);
	sl_mcpl_write_text(&w, s->format->what);
	if (is_titled) {
		snprintf(text, sizeof(text), TITLE "%s", s->iaea.title);
		sl_mcpl_write_text(&w, text);
	}
	if (is_counted) {
		sl_mcpl_print_value(s->histories, value);
		snprintf(text, sizeof(text), HISTORIES "%s", s->format->name, value);
		sl_mcpl_write_text(&w, text);
	}
	return w.used;
}

enum sl_status sl_phase_space_to_mcpl(const struct sl_phase_space *s, void **file, size_t *bytes)
{
	SL_CLOSED_BY(sl_host_give) void *made = NULL;
	uint8_t head[SL_PHASE_SPACE_HEAD_BYTES], *at;
	size_t head_bytes = sl_phase_space_head(s, s->fields.particles, head);
	struct sl_mcpl_particle p;

	*file = NULL;
	*bytes = sl_size_add(
		head_bytes, sl_size_mul((size_t)s->fields.particles, s->fields.record_bytes));
	SL_TRY(sl_memory_get(SL_HOST, *bytes, &made));
	memcpy(made, head, head_bytes);
	at = (uint8_t *)made + head_bytes;
	for (uint64_t i = 0; i < s->fields.particles; i++, at += s->fields.record_bytes) {
		SL_TRY(sl_phase_space_particle(s, i, &p));
		sl_phase_space_record(&s->fields, &p, at);
	}
	*file = made;
	made = NULL;
	return SL_OK;
}
