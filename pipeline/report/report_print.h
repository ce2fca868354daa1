/* report_print.h - the summary of a run as text. */
#ifndef SL_PIPELINE_REPORT_REPORT_PRINT_H
#define SL_PIPELINE_REPORT_REPORT_PRINT_H

#include "pipeline/report/report.h"

/* Prints fates, checks, times and files. */
enum sl_status sl_report_print(const struct sl_workspace *w, const struct sl_manifest *m,
	const struct sl_session *session, FILE *out);

#endif
