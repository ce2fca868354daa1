/* scan/scan.h - a scan within another primitive. */
#ifndef SL_PRIMITIVES_SCAN_SCAN_H
#define SL_PRIMITIVES_SCAN_SCAN_H

#include "primitives/primitives.h"

SL_C_BEGIN

/*
 * For backends that are built on a scan of u32 counts: the one of the job, or else usual. The first
 * function cuts its scratch for n counts; the second one queues it, with the unused part of the
 * scratch of x. A scan that does not take n_on_device adds up all counts.
 */
void sl_inner_scan_cut(struct sl_arena *a, const struct sl_choice *chosen,
	const struct sl_backend *usual, uint32_t n);
enum sl_status sl_inner_scan(const struct sl_exec *x, const struct sl_choice *chosen,
	const struct sl_backend *usual, const struct sl_scan_job *job);

SL_C_END

#endif
