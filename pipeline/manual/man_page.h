/* man_page.h - pages for man. */
#ifndef SL_PIPELINE_MANUAL_MAN_PAGE_H
#define SL_PIPELINE_MANUAL_MAN_PAGE_H

#include "pipeline/manual/manual.h"

/* Prints the page of command c ("sluice-run(1)"); -1: of the program. */
void sl_man_page(const struct sl_manual *m, int c, FILE *out);

#endif
