/*
 * report_devices.h - what a run says about its devices, and about its ranks under MPI: in the plan, in the
 * summary and in run.json.
 */
#ifndef SL_PIPELINE_REPORT_REPORT_DEVICES_H
#define SL_PIPELINE_REPORT_REPORT_DEVICES_H

#include <stdio.h>

#include "pipeline/run/run.h"
#include "pipeline/text/json.h"

enum { SL_DEVICES_TEXT_BYTES = 128 };

/* Writes "NVIDIA H200" or "2 x NVIDIA H200": the devices that the run uses. Returns text. */
const char *sl_devices_text(const struct sl_plan *plan, char text[SL_DEVICES_TEXT_BYTES]);

/* Prints the memory of each device, and how many of the named devices the run uses if not all. */
void sl_devices_print_memory(const struct sl_plan *plan, FILE *out);

/* Of a run under MPI: the array "ranks" of the member "times" of run.json, and the same as text. */
void sl_ranks_report(struct sl_json *j, const struct sl_workspace *w);
void sl_ranks_print(const struct sl_workspace *w, FILE *out);

/* For several devices: prints the batches of each one, and the failures of those that were dropped. */
void sl_devices_print(const struct sl_workspace *w, const struct sl_session *session, FILE *out);

/* For several devices: the array "devices" of the member "times" of run.json. */
void sl_devices_report(
	struct sl_json *j, const struct sl_workspace *w, const struct sl_session *session);

#endif
