/*
 * volume.c - see volume.h.
 *
 * Each format makes a stream of bytes that begins with the items, and states their type and shape.
 * Where z is the fastest index (order C), some planes of one x are read and then transposed, so
 * that labels are written in whole cache lines.
 */
#include "stages/inputs/volume.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "primitives/device/device.h"
#include "primitives/files/files.h"
#include "stages/formats/tables/tables.h"
#include "stages/inputs/inputs.h"

enum { BUFFER_BYTES = 1 << 14, PLANES = 32 };

static const char advice[] =
	"; check that it is the right file, and write labels with numpy.save() "
	"as an array of three dimensions, or as NIfTI-1";

/* A file that is read. */
struct volume_file {
	const char *name;
	const uint8_t *at;
	size_t bytes;
	const struct sl_volume_request *request;
	struct sl_npy_stream in;
	struct sl_npy array;
	struct sl_volume *v;
};

static enum sl_status refuse(const char *problem)
{
	return sl_fail(SL_BAD_INPUT, "%s%s", problem, advice);
}

/* --- items ------------------------------------------------------------------------------------ */

/* Fails because of the item with that number in the file. */
static enum sl_status refuse_label(const struct volume_file *f, uint32_t number, double value)
{
	const bool fortran = f->array.fortran;
	const uint32_t ny = f->v->size[1], first = f->v->size[fortran ? 0 : 2];
	const uint32_t i = number % first, j = number / first % ny, k = number / first / ny;

	return sl_fail(SL_BAD_INPUT,
		"voxel (%u, %u, %u) is %.9g; labels are whole numbers from 0 to %d, the numbers of "
		"media: correct the file",
		fortran ? i : k, j, fortran ? k : i, value, SL_VOLUME_LABEL_MAX);
}

/* Reads n items, of which the first has that number in the file, to labels. */
static enum sl_status read_labels(
	struct volume_file *f, uint32_t first, uint32_t n, uint16_t *labels)
{
	const struct sl_npy *a = &f->array;
	const bool bytes = a->bytes == 1 && a->kind == 'u'; /* the usual case */
	uint8_t buffer[BUFFER_BYTES];
	uint32_t some, largest = f->v->largest;

	for (uint32_t done = 0; done < n; done += some) {
		some = BUFFER_BYTES / a->bytes;
		some = some < n - done ? some : n - done;
		SL_TRY(sl_npy_read(&f->in, buffer, (size_t)some * a->bytes));
		for (uint32_t i = 0; i < some; i++) {
			double value = bytes ? buffer[i] : sl_npy_value(a, buffer + i * a->bytes);
			bool fits = value >= 0 && value <= SL_VOLUME_LABEL_MAX;

			labels[done + i] = fits ? (uint16_t)value : 0;
			if (labels[done + i] != value)
				return refuse_label(f, first + done + i, value);
			largest = labels[done + i] > largest ? labels[done + i] : largest;
		}
	}
	f->v->largest = largest;
	return SL_OK;
}

/* Transposes n planes of constant x, from x on; each has ny rows of nz labels. */
static void place_planes(
	const uint16_t *planes, size_t stride, uint32_t x, uint32_t n, const struct sl_volume *v)
{
	const size_t nx = v->size[0], ny = v->size[1], nz = v->size[2];

	for (size_t j = 0; j < ny; j++)
		for (size_t k = 0; k < nz; k++) {
			uint16_t *to = v->labels + x + nx * (j + ny * k);

			for (uint32_t i = 0; i < n; i++)
				to[i] = planes[i * stride + j * nz + k];
		}
}

/* Reads items in order C. */
static enum sl_status read_planes(struct volume_file *f)
{
	struct sl_volume *v = f->v;
	const uint32_t plane = v->size[1] * v->size[2];
	const uint32_t some = v->size[0] < PLANES ? v->size[0] : PLANES;
	const size_t stride = (size_t)plane + PLANES; /* not a power of 2, for the cache */
	SL_CLOSED_BY(sl_host_give) uint16_t *planes = NULL;
	uint32_t n;

	SL_TRY(sl_host_get(some * stride, sizeof(*planes), &planes));
	for (uint32_t x = 0; x < v->size[0]; x += n) {
		n = v->size[0] - x < some ? v->size[0] - x : some;
		for (uint32_t i = 0; i < n; i++)
			SL_TRY(read_labels(f, (x + i) * plane, plane, planes + i * stride));
		place_planes(planes, stride, x, n, v);
	}
	return SL_OK;
}

/* Reads all items of an image. */
static enum sl_status read_image(struct volume_file *f)
{
	const struct sl_npy *a = &f->array;
	struct sl_volume *v = f->v;
	uint8_t item[16]; /* no type of numbers is larger */
	double total = 0;

	if (a->dimensions != 2 || a->n == 0 || a->n > SL_VOLUME_PIXELS_MAX ||
		a->size[0] > SL_VOLUME_SIDE_MAX || a->size[1] > SL_VOLUME_SIDE_MAX)
		return sl_fail(SL_BAD_INPUT,
			"the array has %u dimensions and %zu items; an image has two dimensions of at "
			"most %d, and 1 to 2^24 pixels: save it with the shape (nx, ny)",
			a->dimensions, a->n, SL_VOLUME_SIDE_MAX);
	v->size[0] = (uint32_t)a->size[0], v->size[1] = (uint32_t)a->size[1], v->size[2] = 1;
	SL_TRY(sl_add_context(sl_host_get(a->n, sizeof(*v->pixels), &v->pixels), "the image"));
	for (uint32_t k = 0; k < a->n; k++) {
		const uint32_t i = a->fortran ? k % v->size[0] : k / v->size[1],
			       j = a->fortran ? k / v->size[0] : k % v->size[1];
		double *pixel = &v->pixels[j + (size_t)v->size[1] * i];

		SL_TRY(sl_npy_read(&f->in, item, a->bytes));
		*pixel = sl_npy_value(a, item);
		if (!(*pixel >= 0 && *pixel <= 1e100))
			return sl_fail(SL_BAD_INPUT,
				"pixel (%u, %u) is %g; weights are numbers from 0 to 1e100: correct "
				"the file",
				i, j, *pixel);
		total += *pixel;
	}
	if (total == 0)
		return sl_fail(SL_BAD_INPUT,
			"all its pixels are 0, so no particle starts; correct the file");
	return sl_npy_end(&f->in);
}

/* Checks the shape, gets the memory and reads all items. */
static enum sl_status read_items(struct volume_file *f)
{
	const uint32_t *asked = f->request->size;
	const struct sl_npy *a = &f->array;
	struct sl_volume *v = f->v;

	if (a->dimensions != 3)
		return sl_fail(SL_BAD_INPUT,
			"the array has %u dimensions, and a volume has three; save it with the shape "
			"(nx, ny, nz)",
			a->dimensions);
	if (a->n == 0 || a->n > SL_VOLUME_VOXELS_MAX)
		return sl_fail(SL_BAD_INPUT,
			"the volume has %zu voxels, and 1 to 1024^3 are possible; cut it or make the "
			"voxels larger",
			a->n);
	for (int d = 0; d < 3; d++)
		v->size[d] = (uint32_t)a->size[d];
	if (asked[0] && memcmp(asked, v->size, sizeof(v->size)) != 0)
		return sl_fail(SL_BAD_INPUT,
			"the volume has the shape %u x %u x %u, not %u x %u x %u as stated; correct one "
			"of them",
			v->size[0], v->size[1], v->size[2], asked[0], asked[1], asked[2]);
	SL_TRY(sl_add_context(sl_host_get(a->n, sizeof(*v->labels), &v->labels), "the labels"));
	SL_TRY(a->fortran ? read_labels(f, 0, (uint32_t)a->n, v->labels) : read_planes(f));
	return sl_npy_end(&f->in);
}

/* --- formats ---------------------------------------------------------------------------------- */

static enum sl_status read_npy(struct volume_file *f)
{
	SL_TRY(sl_npy_read_header(&f->in, &f->array));
	return f->request->image ? read_image(f) : read_items(f);
}

/* Finds the array with the labels: one of their names, or the only array. */
static enum sl_status find_array(
	const struct volume_file *f, struct sl_zip_member *found, const uint8_t **data)
{
	uint32_t arrays = 0;
	bool named = false;
	struct sl_zip zip;

	if (!sl_zip_open_any(&zip, f->at, f->bytes))
		return refuse("it does not end as a zip archive");
	for (uint64_t i = 0; i < zip.n; i++) {
		struct sl_zip_member m;
		const uint8_t *at;
		size_t length;
		bool is;

		if (!sl_npz_next(&zip, &m, &at, &length))
			return refuse("its directory is damaged");
		is = sl_is_text(m.name, length, "labels") || sl_is_text(m.name, length, "vol");
		if (!is && (named || length == 0))
			continue;
		arrays = is && !named ? 1 : arrays + 1;
		named = is;
		*found = m;
		*data = at;
	}
	if (arrays != 1)
		return refuse(
			"it has no array, or several and not one of them is named labels or vol");
	return SL_OK;
}

static enum sl_status read_npz(struct volume_file *f)
{
	const uint8_t *data = NULL;
	struct sl_zip_member m;

	SL_TRY(find_array(f, &m, &data));
	f->in.stored = NULL;
	SL_TRY(sl_npy_open_member(&f->in, &m, data));
	return sl_add_context(read_npy(f), "member %.*s", (int)m.name_bytes, m.name);
}

/* A type of numpy by its short name or by its long one: uint16 is u2. */
static bool read_type(const char *type, struct sl_npy *a)
{
	char letters[8], text[16];
	unsigned bits;

	if (sscanf(type, "%7[a-z]%u", letters, &bits) == 2 && letters[1] && bits % 8 == 0) {
		snprintf(text, sizeof(text), "%c%u", letters[0], bits / 8);
		type = text;
	}
	return sl_npy_type(type, strlen(type), a);
}

static enum sl_status read_raw(struct volume_file *f)
{
	const struct sl_volume_request *r = f->request;
	struct sl_npy *a = &f->array;

	if (!r->size[0] || !r->size[1] || !r->size[2] || !r->type)
		return sl_fail(SL_USAGE, "a raw file does not state its shape and the type of its "
					 "items; give both");
	if (!read_type(r->type, a))
		return sl_fail(SL_USAGE,
			"%s is not a type of numbers; write uint8, uint16, int32 or float32, or >u2 for big-endian",
			r->type);
	a->dimensions = 3;
	a->fortran = true;
	a->n = sl_size_mul(sl_size_mul(r->size[0], r->size[1]), r->size[2]);
	for (int d = 0; d < 3; d++)
		a->size[d] = r->size[d];
	if (sl_size_mul(a->n, a->bytes) != f->bytes)
		return sl_fail(SL_BAD_INPUT,
			"the file has %zu bytes, not those of %u x %u x %u items of %u bytes; correct "
			"the shape or the type",
			f->bytes, r->size[0], r->size[1], r->size[2], a->bytes);
	return read_items(f);
}

/* --- NIfTI-1 ---------------------------------------------------------------------------------- */

/* Reads the header from the stream, what follows until the first item, and the items. */
static enum sl_status read_nifti(struct volume_file *f)
{
	uint8_t header[SL_NIFTI_BYTES], byte;
	const char *problem;
	uint32_t offset;

	SL_TRY(sl_npy_read(&f->in, header, sizeof(header)));
	problem = sl_nifti_header(header, &f->array, f->v->edge_mm, &offset);
	if (problem)
		return refuse(problem);
	for (uint32_t at = SL_NIFTI_BYTES; at < offset; at++)
		SL_TRY(sl_npy_read(&f->in, &byte, 1));
	if (f->in.stored ? sl_size_mul(f->array.n, f->array.bytes) != f->in.left
			 : f->array.n / SL_INFLATE_RATIO_MAX > f->bytes)
		return refuse("its shape does not agree with its size");
	return read_items(f);
}

/* --- entry ------------------------------------------------------------------------------------ */

static bool begins_with(const struct volume_file *f, const char *text, size_t bytes)
{
	return f->bytes >= bytes && memcmp(f->at, text, bytes) == 0;
}

static bool ends_with(const char *name, const char *suffix)
{
	const size_t length = strlen(name), bytes = strlen(suffix);

	return length >= bytes && strcasecmp(name + length - bytes, suffix) == 0;
}

/* A raw file has any bytes, so only its name tells it; all others have a first number. */
static enum sl_status read_format(struct volume_file *f)
{
	if (f->request->image && !begins_with(f, "\x93NUMPY", 6) && !begins_with(f, "PK", 2))
		return sl_fail(SL_BAD_INPUT,
			"it is no array of numpy; save the image with numpy.save() or numpy.savez()");
	if (ends_with(f->name, ".bin") || ends_with(f->name, ".raw") || ends_with(f->name, ".vol"))
		return read_raw(f);
	if (begins_with(f, "\x93NUMPY", 6))
		return read_npy(f);
	if (begins_with(f, "PK", 2))
		return read_npz(f);
	if (sl_is_gzip(f->at, f->bytes)) {
		f->in.stored = NULL;
		f->in.left = UINT64_MAX;
		SL_TRY(sl_inflate_begin(&f->in.z, SL_GZIP, f->at, f->bytes));
		f->in.z.members = true;
		return read_nifti(f);
	}
	if (f->bytes >= 4 && sl_is_nifti(f->at))
		return read_nifti(f);
	return refuse(
		"it is none of .npy, .npz, .nii, .nii.gz, and its name does not end in .bin, .raw "
		"or .vol");
}

enum sl_status sl_volume_parse(const char *name, const void *file, size_t bytes,
	const struct sl_volume_request *request, struct sl_volume *v)
{
	struct volume_file f = {.name = name,
		.at = (const uint8_t *)file,
		.bytes = bytes,
		.request = request,
		.in = {.advice = advice, .stored = (const uint8_t *)file, .left = bytes},
		.v = v};
	enum sl_status s;

	*v = (struct sl_volume){0};
	s = read_format(&f);
	sl_npy_close(&f.in);
	if (s != SL_OK)
		sl_volume_free(v);
	return s;
}

/*
 * What sl_volume_keep() got last, a volume and an image: a run reads them when its configuration is
 * resolved, and needs them again when it makes the data of its rules. An exchange moves them, so
 * that no two threads have one.
 */
static _Atomic(struct sl_volume *) kept[2];

static void free_kept(struct sl_volume *v)
{
	if (v)
		sl_volume_free(v);
	sl_memory_give(SL_HOST, v);
}

void sl_volume_keep(struct sl_volume *v)
{
	void *memory;

	if (sl_memory_get(SL_HOST, sizeof(*v), &memory) != SL_OK) {
		sl_volume_free(v);
		return;
	}
	memcpy(memory, v, sizeof(*v));
	free_kept(atomic_exchange(&kept[v->pixels != NULL], (struct sl_volume *)memory));
	*v = (struct sl_volume){0};
}

/* Whether the volume of this stamp was kept; it then is in *v. Only raw files state a type. */
static bool take_kept(uint64_t stamp, const struct sl_volume_request *r, struct sl_volume *v)
{
	struct sl_volume *k = atomic_exchange(&kept[r->image], NULL);
	bool same = k && k->stamp == stamp &&
	            (r->size[0] ? memcmp(r->size, k->size, sizeof(k->size)) == 0 : !r->type);

	if (same) {
		*v = *k;
		*k = (struct sl_volume){0};
	}
	free_kept(k);
	return same;
}

enum sl_status sl_volume_read(
	const char *path, const struct sl_volume_request *request, struct sl_volume *v)
{
	struct sl_map map;
	enum sl_status s = SL_OK;
	uint64_t stamp;

	*v = (struct sl_volume){0};
	SL_TRY(sl_map_file(path, &map));
	stamp = sl_map_stamp(
		&map, request->type ? sl_crc32(request->type, strlen(request->type)) : 0);
	if (!take_kept(stamp, request, v)) {
		s = sl_volume_parse(path, map.at, map.bytes, request, v);
		v->stamp = stamp;
	}
	if (s == SL_OK && sl_map_is_changed(&map, path)) {
		sl_volume_free(v);
		s = sl_fail(SL_BAD_INPUT, "the file was changed while it was read; run again");
	}
	sl_unmap(&map);
	return sl_add_context(s, "%s", path);
}

void sl_volume_free(struct sl_volume *v)
{
	sl_memory_give(SL_HOST, v->labels);
	sl_memory_give(SL_HOST, v->pixels);
	*v = (struct sl_volume){0};
}
