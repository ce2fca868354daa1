/* convert_table.c - stub */
#include "pipeline/convert.h"
enum sl_status sl_convert_tables(struct sl_converting *c, bool of_lists)
{
	(void)c, (void)of_lists;
	return sl_fail(SL_USAGE, "not yet");
}
