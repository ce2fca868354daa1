/*
 * volume.h - reads a regular grid of labels, the medium of each voxel, from a file.
 *
 *	.npy             one array of numpy with three dimensions; the first one is x
 *	.npz             the same, the only array of the file or the one named labels or vol
 *	.nii .nii.gz     NIfTI-1 in one file (https://nifti.nimh.nih.gov/nifti-1), without its transforms
 *	.bin .raw .vol   items without a header: x is the fastest index, then y
 *
 * A raw file is recognised by its suffix, all others by their first bytes. Items may be real numbers
 * if they are whole. Every byte of the file is read once.
 */
#ifndef SL_STAGES_INPUTS_VOLUME_H
#define SL_STAGES_INPUTS_VOLUME_H

#include <stddef.h>
#include <stdint.h>

#include "primitives/base/status.h"
#include "stages/models/common/rules_data.h"

/* The most voxels of a volume (1024^3), the largest label, and the most pixels of an image. */
enum {
	SL_VOLUME_VOXELS_MAX = 1 << 30,
	SL_VOLUME_LABEL_MAX = UINT16_MAX,
	SL_VOLUME_PIXELS_MAX = 1 << 24,
	SL_VOLUME_SIDE_MAX = 1 << 16 /* pixels along a side */
};

/*
 * Reads the file path. SL_BAD_INPUT for a file that is damaged, has another shape or labels that
 * are not whole numbers from 0 to 65535, or pixels that are no weights; SL_USAGE for a wrong
 * request. Free the volume with sl_volume_free(); after a failure it has no labels.
 */
enum sl_status sl_volume_read(
	const char *path, const struct sl_volume_request *request, struct sl_volume *v);

/* The same for the bytes of a file in memory; name is only used for its suffix. */
enum sl_status sl_volume_parse(const char *name, const void *file, size_t bytes,
	const struct sl_volume_request *request, struct sl_volume *v);

void sl_volume_free(struct sl_volume *v);

/*
 * Frees the volume later: the next sl_volume_read() of the same unchanged file, in any thread, takes
 * it instead of reading. At most one volume and one image are kept, the last ones.
 */
void sl_volume_keep(struct sl_volume *v);

#endif
