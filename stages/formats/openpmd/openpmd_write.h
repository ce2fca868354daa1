/* openpmd_write.h - makes the HDF5 file of a packed batch (format.h, image_bytes and assemble). */
#ifndef SL_STAGES_FORMATS_OPENPMD_OPENPMD_WRITE_H
#define SL_STAGES_FORMATS_OPENPMD_OPENPMD_WRITE_H

#include "stages/formats/common/format.h"

size_t sl_openpmd_image_bytes(const struct sl_table *most, const struct sl_file_facts *run);
enum sl_status sl_openpmd_assemble(const struct sl_file_facts *run,
	const struct sl_batch_facts *batch, const struct sl_packed *p, void *image, size_t size,
	struct sl_pieces *file);

#endif
