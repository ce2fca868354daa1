/* reading.c - see inputs.h. */
#include "stages/inputs/inputs.h"

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
