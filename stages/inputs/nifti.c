/* nifti.c - the header of a NIfTI-1 file, whose fields nifti1.h of the NIfTI group defines. */
#include "stages/inputs/inputs.h"

#include <math.h>
#include <string.h>

#include "primitives/base/size.h"
#include "stages/formats/tables/tables.h"

/* A number at an offset of the header; see nifti1.h for the names of the fields. */
static double field(const uint8_t *header, bool big_endian, int at, char kind, uint32_t bytes)
{
	const struct sl_npy a = {.kind = kind, .bytes = bytes, .big_endian = big_endian};

	return sl_npy_value(&a, header + at);
}

/* Whether the first number of the header is its size, in one of the byte orders. */
static bool has_size(const uint8_t *header, double size)
{
	return field(header, false, 0, 'i', 4) == size || field(header, true, 0, 'i', 4) == size;
}

/* Reads the fields dim, datatype and bitpix. */
static const char *read_shape(const uint8_t *h, bool big, struct sl_npy *a)
{
	static const int codes[] = {2, 4, 8, 16, 64, 256, 512, 768, 1024, 1280};
	static const char types[] = "u1i2i4f4f8i1u2u4i8u8";
	const double dimensions = field(h, big, 40, 'i', 2), code = field(h, big, 70, 'i', 2);

	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		if (code == codes[i])
			sl_npy_type(types + 2 * i, 2, a);
	if (a->bytes == 0 || field(h, big, 72, 'i', 2) != 8 * a->bytes)
		return "its datatype is not one of whole or real numbers";
	a->big_endian = big;
	a->fortran = true;
	a->dimensions = 3;
	a->n = 1;
	for (int d = 0; d < 7; d++) {
		double size = d < dimensions ? field(h, big, 42 + 2 * d, 'i', 2) : 1;

		if (!(dimensions >= 1 && dimensions <= 7 && size >= 1))
			return "its field dim is not a shape";
		if (d < 3)
			a->size[d] = (uint64_t)size;
		else if (size > 1)
			a->dimensions = (uint32_t)d + 1;
		a->n = sl_size_mul(a->n, (size_t)size);
	}
	return NULL;
}

/* Reads pixdim in the unit of xyzt_units, which is mm if it is unknown. */
static void read_edges(const uint8_t *h, bool big, double edge_mm[3])
{
	static const double units[8] = {1, 1000, 1, 1e-3};

	for (int d = 0; d < 3; d++)
		edge_mm[d] = field(h, big, 80 + 4 * d, 'f', 4) * units[h[123] & 7];
	if (!(edge_mm[0] > 0 && edge_mm[1] > 0 && edge_mm[2] > 0))
		edge_mm[0] = edge_mm[1] = edge_mm[2] = 0;
}

bool sl_is_nifti(const uint8_t *file)
{
	return has_size(file, SL_NIFTI_BYTES) || has_size(file, 540 /* NIfTI-2 */);
}

const char *sl_nifti_header(const uint8_t *h, struct sl_npy *a, double edge_mm[3], uint32_t *offset)
{
	const bool big = field(h, false, 0, 'i', 4) != SL_NIFTI_BYTES;
	const double slope = field(h, big, 112, 'f', 4), first = field(h, big, 108, 'f', 4);
	const char *problem;

	if (!has_size(h, SL_NIFTI_BYTES) || memcmp(h + 344, "n+1", 4) != 0)
		return "it is not NIfTI-1 in one file (NIfTI-2 and pairs of files are not read)";
	problem = read_shape(h, big, a);
	if (problem)
		return problem;
	read_edges(h, big, edge_mm);
	/* a slope of 0 or NaN means that values are not scaled, and a NaN is no offset */
	if (slope != 0 && !isnan(slope) && (slope != 1 || fabs(field(h, big, 116, 'f', 4)) > 0))
		return "its values are scaled (scl_slope, scl_inter), and labels are not";
	if (!(first >= SL_NIFTI_BYTES && first <= 1 << 24))
		return "its field vox_offset is not an offset after the header";
	*offset = (uint32_t)first;
	return NULL;
}
