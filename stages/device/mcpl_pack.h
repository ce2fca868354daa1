/* mcpl_pack.h - makes records of the MCPL format on a device. */
#ifndef SL_STAGES_DEVICE_MCPL_PACK_H
#define SL_STAGES_DEVICE_MCPL_PACK_H

#include "primitives/device/device.h"
#include "stages/formats/mcpl/mcpl_record.h"
#include "stages/particle/table.h"

SL_C_BEGIN

/*
 * Queues the kernel that writes the n > 0 rows of t as records to words, n * r->bytes bytes. If
 * used is not NULL, sets *used to that number. The columns, words and used are device memory.
 */
typedef enum sl_status sl_records_launcher(const struct sl_table *t, const struct sl_mcpl_record *r,
	uint32_t n, uint32_t *words, size_t *used, sl_stream s);
sl_records_launcher sl_queue_records, sl_queue_records_emulated;

SL_C_END

#endif
