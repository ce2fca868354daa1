/* input_source.c - see inputs.h. */
#include "stages/inputs/inputs.h"

const struct sl_mcpl_header *sl_input_source_fields(const struct sl_input_source *f)
{
	return f->space ? &f->space->fields : &f->stream.header;
}

/* The second file, or NULL. An empty file is not mapped. */
static const struct sl_map *partner_of(const struct sl_input_source *f)
{
	return f->space && f->space->partner.bytes > 0 ? &f->space->partner : NULL;
}

size_t sl_input_source_bytes(const struct sl_input_source *f)
{
	return f->map.bytes + (partner_of(f) ? partner_of(f)->bytes : 0);
}

uint32_t sl_input_source_crc(const struct sl_input_source *f)
{
	const struct sl_map *second = partner_of(f);
	uint32_t crc = sl_crc32(f->map.at, f->map.bytes);

	return second ? sl_crc32_combine(crc, sl_crc32(second->at, second->bytes), second->bytes)
	              : crc;
}

uint64_t sl_input_source_stamp(const struct sl_input_source *f, uint64_t stamp)
{
	stamp = sl_map_stamp(&f->map, stamp);
	return partner_of(f) ? sl_map_stamp(partner_of(f), stamp) : stamp;
}

bool sl_input_source_is_changed(const struct sl_input_source *f, const char *path)
{
	return sl_map_is_changed(&f->map, path) ||
	       (f->space && sl_phase_space_is_changed(f->space, path));
}

bool sl_input_source_is(const struct sl_input_source *f, uint64_t device, uint64_t number)
{
	const struct sl_map *second = partner_of(f);

	return (f->map.device == device && f->map.number == number) ||
	       (second && second->device == device && second->number == number);
}

struct sl_mcpl_part sl_input_source_part(const struct sl_input_source *f)
{
	if (f->space)
		return (struct sl_mcpl_part){.file = f->space->head, .bytes = f->space->head_bytes};
	return (struct sl_mcpl_part){.file = f->map.at, .bytes = f->map.bytes};
}

enum sl_status sl_reading_begin_gzip(struct sl_reading *r, uint32_t k)
{
	const struct sl_map *map = &r->source[k].map;

	r->gzip_file = SL_NO_INPUT_FILE;
	if (r->gzipped)
		SL_TRY(sl_mcpl_rewind(&r->gzip, map->at, map->bytes));
	else
		SL_TRY(sl_mcpl_open(&r->gzip, map->at, map->bytes));
	r->gzipped = true;
	SL_TRY(sl_mcpl_skip_head(&r->gzip));
	r->gzip_file = k;
	return SL_OK;
}
