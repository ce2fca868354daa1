/*
 * tables.c - joins tables, or MCPL files read as tables, into one MCPL file or one table.
 *
 * It reads the inputs twice. The first pass checks that their columns agree, counts the rows and
 * finds the columns that have one value everywhere; the second pass writes. One input is in memory
 * at a time, plus the whole output if that is a table.
 */
#include "pipeline/convert/tables.h"

#include <string.h>

#include "pipeline/convert/origin.h"
#include "stages/formats/mcpl/mcpl.h"
#include "pipeline/convert/tables_to_mcpl.h"
#include "pipeline/convert/tables_to_table.h"

static void note_lost(struct sl_conversion *c, const struct sl_mcpl_lost *lost)
{
	if (lost->comments || lost->blobs)
		sl_convert_note(c, "dropped: %u comments, %u blobs (only MCPL has them)",
			lost->comments, lost->blobs);
	if (lost->digits)
		sl_convert_note(c, "rounded: 8-byte numbers to 4-byte columns");
}

enum sl_status sl_convert_tables(struct sl_conversion *c, bool of_lists)
{
	struct sl_convert_tables_job j = {
		.c = c, .of_lists = of_lists, .list = {.file = {.fd = -1}}};
	struct sl_origin origin;
	enum sl_status s;

	SL_TRY(sl_for_each_table(&j, sl_survey_add));
	note_lost(c, &j.all.lost);
	s = sl_origin_find(c, j.all.columns, &origin);
	j.batch = origin.batch;
	if (s == SL_OK)
		s = sl_format_is_mcpl(c->format) ? sl_tables_to_mcpl(&j) : sl_tables_to_table(&j);
	c->particles = j.all.rows;
	sl_origin_free(&origin);
	return s;
}
