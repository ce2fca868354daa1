/*
 * mcpl_to_mcpl.c - joins MCPL files into one MCPL file; records are copied unchanged.
 *
 * The header precedes the records and contains their number and the sums of stat:sum comments. So
 * all headers are read and joined first, and a second pass over the files copies the records.
 */
#include "pipeline/convert/convert.h"

#include <string.h>

#include "primitives/device/device.h"
#include "stages/formats/mcpl/mcpl.h"
#include "stages/formats/mcpl/mcpl_head.h"
#include "stages/formats/mcpl/mcpl_layout.h"
#include "stages/formats/mcpl/mcpl_stream.h"

/* --- origin ----------------------------------------------------------------------------------- */

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

/*
 * Gives headers of several runs of this program the same origin, so that they can be merged:
 * replaces the comment on the run by one with the text merged (struct sl_file_facts), and the
 * content of the blob with the configuration by that of first, unless first is NULL. Other
 * programs' headers stay as they are.
 */
static enum sl_status set_origin(
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

/* --- headers and records ---------------------------------------------------------------------- */

/* The sum of the headers, and the text on merged runs that replaces the run of each; NULL: none. */
struct header_sum {
	struct sl_mcpl_head head;
	const char *merged;
};

/* First pass: merges the header of an input into the sum, a struct header_sum. */
static enum sl_status join_head(
	struct sl_conversion *c, const char *path, const struct sl_map *file, void *sum_memory)
{
	struct header_sum *sum = (struct header_sum *)sum_memory;
	struct sl_mcpl_head more;
	bool recovered;
	enum sl_status s;

	SL_TRY(sl_add_context(
		sl_mcpl_head_read(file->at, file->bytes, &more, &recovered), "%s", path));
	if (recovered)
		sl_convert_note_recovered(c, path, more.fixed.particles);
	s = sum->merged ? set_origin(&more, sum->merged, sum->head.bytes ? &sum->head : NULL)
	                : SL_OK;
	if (s == SL_OK)
		return sl_add_context(sl_mcpl_head_join(&sum->head, &more), "%s", path);
	sl_mcpl_head_free(&more);
	return s;
}

/* Copies as many records as the header of the stream states. */
static enum sl_status copy_records(struct sl_conversion *c, const char *path,
	struct sl_mcpl_stream *s, struct sl_record_output *o)
{
	const uint8_t *records;
	bool more;
	size_t n;

	SL_TRY(sl_mcpl_skip_head(s));
	for (;;) {
		SL_TRY(sl_mcpl_raw(s, SL_MCPL_RAW_BYTES, &records, &n));
		if (n == 0)
			break;
		SL_TRY(sl_record_output_add_all(o, records, n));
		c->particles += n;
	}
	SL_TRY(sl_mcpl_end(s, &more));
	if (more && !s->recovered)
		sl_convert_note_trailing(c, path);
	return SL_OK;
}

/* Second pass: copies the records of an input to the output, a struct sl_record_output. */
static enum sl_status copy_list(
	struct sl_conversion *c, const char *path, const struct sl_map *file, void *output)
{
	struct sl_mcpl_stream s;
	enum sl_status status;

	SL_TRY(sl_add_context(sl_mcpl_open(&s, file->at, file->bytes), "%s", path));
	status = sl_add_context(
		copy_records(c, path, &s, (struct sl_record_output *)output), "%s", path);
	sl_mcpl_close(&s);
	c->files++;
	return status;
}

/*
 * The header of the output states the number of records, so a different number means a changed
 * file.
 */
enum sl_status sl_convert_mcpl(struct sl_conversion *c, const struct sl_runs *runs)
{
	struct header_sum sum = {.merged = runs->merged ? runs->json : NULL};
	struct sl_record_output o = {.block = NULL};
	enum sl_status s = sl_convert_for_each(c, join_head, &sum);

	if (s == SL_OK) {
		sl_mcpl_head_finish(&sum.head);
		s = sl_convert_begin_list(c, sum.head.bytes, sum.head.size, &sum.head.fixed, &o);
	}
	if (s == SL_OK)
		s = sl_convert_for_each(c, copy_list, &o);
	s = sl_convert_end_list(c, s, &o);
	sl_mcpl_head_free(&sum.head);
	return s;
}
