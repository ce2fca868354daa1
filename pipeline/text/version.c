/* version.c - the only file that is compiled again when the commit changes. */
#include "pipeline/text/text.h"

const char *sl_version(void)
{
	return SL_VERSION;
}

const char *sl_commit(void)
{
	return SL_COMMIT;
}
