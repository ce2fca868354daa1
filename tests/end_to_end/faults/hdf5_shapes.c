/*
 * hdf5_shapes.c - every attribute and every dataset of the HDF5 files that the program reads is
 * replaced by one of each type and each shape. The files stay valid HDF5, so a crash in the child
 * process that reads them is a defect of this program.
 */
#include <stdlib.h>

#include "pipeline/info/info.h"
#include "stages/formats/common/common.h"
#include "stages/formats/formats.h"
#include "stages/formats/hdf5/hdf5.h"
#include "stages/formats/images/images.h"
#include "stages/formats/phase_space/phase_space.h"
#include "tests/cases/sampling.h"
#include "tests/support/formats/phase_space_files.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

enum { NAMES_MOST = 128, NAME_BYTES = 128, FILE_ROOM = 1 << 20 };

/* --- types and shapes ------------------------------------------------------------------------- */

enum { TEXTS = 5, OWN_TYPE = 11, TYPES };

/* A new type: texts, numbers, others; type OWN_TYPE is that of the file. */
static hid_t make_type(int k, hid_t own)
{
	const size_t length[TEXTS] = {1, 31, 255, 4000, H5T_VARIABLE};
	const hid_t number[] = {H5T_STD_U64LE, H5T_STD_I8BE, H5T_IEEE_F64LE};
	const hsize_t three = 3;
	hid_t type;

	if (k == TEXTS + 3)
		return H5Tcreate(H5T_OPAQUE, 700);
	if (k == TEXTS + 4)
		return H5Tarray_create2(H5T_STD_I32LE, 1, &three);
	if (k == TEXTS + 5)
		return H5Tvlen_create(H5T_STD_I32LE);
	type = H5Tcopy(k < TEXTS ? H5T_C_S1 : k < OWN_TYPE ? number[k - TEXTS] : own);
	if (k < TEXTS)
		assert_true(H5Tset_size(type, length[k]) >= 0);
	return type;
}

/* Shape MANY has more values than any reader has room for: HDF5 fills those of datasets with 0. */
enum { MANY = 2, SHAPES = 6, ATTRIBUTE_MANY = 13, DATASET_MANY = 1 << 20 };

static hid_t make_space(int k, hsize_t many)
{
	const hsize_t size[][2] = {{1}, {2}, {many}, {2, 1}};
	static const int rank[] = {1, 1, 1, 2};

	return k == 4   ? H5Screate(H5S_SCALAR)
	       : k == 5 ? H5Screate(H5S_NULL)
	                : H5Screate_simple(rank[k], size[k], NULL);
}

/* ATTRIBUTE_MANY values of a type of up to 4000 bytes: texts without an end; lengths of 0. */
static const void *values_of(hid_t type)
{
	static char text[ATTRIBUTE_MANY * 4000], nothing[sizeof(text)];

	memset(text, 's', sizeof(text));
	return H5Tget_class(type) == H5T_VLEN || H5Tis_variable_str(type) > 0 ? nothing : text;
}

/* --- the places in a file --------------------------------------------------------------------- */

/* An attribute of an object, or a dataset if it has no name. */
struct place {
	char object[NAME_BYTES], attribute[NAME_BYTES];
};

struct places {
	struct place at[NAMES_MOST];
	int n;
};

static herr_t note_attribute(hid_t object, const char *name, const H5A_info_t *info, void *ctx)
{
	struct places *p = (struct places *)ctx;

	(void)object, (void)info;
	assert_true(p->n < NAMES_MOST);
	p->at[p->n] = p->at[p->n - 1];
	snprintf(p->at[p->n++].attribute, NAME_BYTES, "%s", name);
	return 0;
}

static herr_t note_object(hid_t file, const char *name, const H5O_info_t *info, void *ctx)
{
	struct places *p = (struct places *)ctx;
	struct place *own = &p->at[p->n++];

	assert_true(p->n < NAMES_MOST);
	*own = (struct place){.attribute = ""};
	snprintf(own->object, NAME_BYTES, "%s", name);
	assert_true(H5Aiterate_by_name(file, name, H5_INDEX_NAME, H5_ITER_INC, NULL, note_attribute,
			    p, H5P_DEFAULT) >= 0);
	if (info->type != H5O_TYPE_DATASET) /* a group cannot be replaced by itself */
		memmove(own, own + 1, (size_t)(--p->n - (own - p->at)) * sizeof(*own));
	return 0;
}

/* HDF5 1.12 added the last argument: which members of H5O_info_t are set. */
static herr_t visit_objects(hid_t file, H5O_iterate_t visit, void *ctx)
{
#if H5_VERSION_GE(1, 12, 0)
	return H5Ovisit3(file, H5_INDEX_NAME, H5_ITER_INC, visit, ctx, H5O_INFO_BASIC);
#else
	return H5Ovisit(file, H5_INDEX_NAME, H5_ITER_INC, visit, ctx);
#endif
}

static void replace(hid_t file, const struct place *at, int kind, int shape)
{
	const hid_t d = H5P_DEFAULT;
	const bool attribute = at->attribute[0] != '\0';
	hid_t old = attribute ? H5Aopen_by_name(file, at->object, at->attribute, d, d)
	                      : H5Dopen2(file, at->object, d);
	hid_t own = attribute ? H5Aget_type(old) : H5Dget_type(old);
	hid_t type = make_type(kind, own), made;
	hid_t space = make_space(shape, attribute ? ATTRIBUTE_MANY : DATASET_MANY);

	H5Tclose(own);
	H5Idec_ref(old);
	assert_true((attribute ? H5Adelete_by_name(file, at->object, at->attribute, d)
			       : H5Ldelete(file, at->object, d)) >= 0);
	made = attribute ? H5Acreate_by_name(file, at->object, at->attribute, type, space, d, d, d)
	                 : H5Dcreate2(file, at->object, type, space, d, d, d);
	if (made >= 0 && attribute)
		assert_true(H5Awrite(made, type, values_of(type)) >= 0);
	else if (made >= 0 && shape != MANY)
		assert_true(H5Dwrite(made, type, H5S_ALL, H5S_ALL, d, values_of(type)) >= 0);
	if (made >= 0) /* HDF5 refuses an attribute of 64 KiB */
		H5Idec_ref(made);
	H5Sclose(space);
	H5Tclose(type);
}

/* --- readers ---------------------------------------------------------------------------------- */

enum reader { OPENMC, OPENPMD, IMAGE, TALLIES };

static enum sl_status read_file(enum reader by, const void *file, size_t bytes)
{
	static _Alignas(SL_ALIGN) char room[1 << 20];
	struct sl_arena a = {.base = room, .size = sizeof(room)};
	struct sl_image_found image;
	struct sl_openmc openmc;
	struct sl_table t = {0};
	enum sl_status s;
	FILE *out;

	switch (by) {
	case OPENMC:
		return sl_openmc_open(file, bytes - SL_CRC_TRAILER_BYTES, &openmc);
	case OPENPMD:
		return sl_format_openpmd.read(file, bytes, &a, &t);
	case IMAGE:
		return sl_image_read(file, bytes, &image);
	default:
		out = fopen("/dev/null", "w");
		folder_write(&folder, "changed.tallies", file, bytes);
		s = sl_info(folder_path(&folder, "changed.tallies"), 0, false, out);
		fclose(out);
		return s;
	}
}

/* --- the test --------------------------------------------------------------------------------- */

/* Opens a copy of a file in memory for writing. */
static hid_t open_copy(const void *bytes, size_t size)
{
	hid_t access = H5Pcreate(H5P_FILE_ACCESS), file;

	H5Pset_fapl_core(access, 1 << 16, false);
	H5Pset_file_image(access, (void *)(uintptr_t)bytes, size);
	file = H5Fopen("image", H5F_ACC_RDWR, access);
	assert_true(file >= 0);
	H5Pclose(access);
	return file;
}

/* Reads the file with a valid checksum, whether it needs one or not. */
static enum sl_status read_changed(hid_t file, enum reader by)
{
	static char bytes[FILE_ROOM];
	ssize_t size;

	assert_true(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
	size = H5Fget_file_image(file, bytes, sizeof(bytes) - SL_CRC_TRAILER_BYTES);
	assert_true(size > 0);
	sl_crc_trailer_add(bytes, (size_t)size);
	return read_file(by, bytes, (size_t)size + SL_CRC_TRAILER_BYTES);
}

/* A file, and how it is read. */
struct file {
	const char *name;
	enum reader by;
	char *bytes;
	size_t size;
};

static void check_shape(const struct file *f, const struct place *at, int kind, int shape)
{
	hid_t file = open_copy(f->bytes, f->size);
	enum sl_status s;

	replace(file, at, kind, shape);
	s = read_changed(file, f->by);
	H5Fclose(file);
	if ((s != SL_OK && s != SL_BAD_INPUT) || (s && strstr(sl_last_error(), "crashed")))
		fail_msg("%s: %s '%s' of type %d and shape %d: status %s: %s", f->name, at->object,
			at->attribute, kind, shape, sl_status_name(s), sl_last_error());
}

/*
 * Tests a share of one of step combinations, and of many values of the type that the reader
 * expects.
 */
static void check_shapes(const char *name, enum reader by, uint32_t step)
{
	static struct places all;
	struct file f = {.name = name, .by = by};
	struct sl_sampled some, many;
	hid_t file;

	f.bytes = folder_read(&folder, name, &f.size);
	file = open_copy(f.bytes, f.size);
	all.n = 0;
	assert_true(visit_objects(file, note_object, &all) >= 0);
	assert_ok(read_changed(file, by));
	H5Fclose(file);
	some = sl_sampling_share((uint64_t)all.n * TYPES * SHAPES / step);
	many = sl_sampling_share((uint64_t)all.n);
	for (uint64_t k = some.first * step; k < (uint64_t)all.n * TYPES * SHAPES;
		k += some.step * step)
		check_shape(&f, &all.at[k / (TYPES * SHAPES)], (int)(k / SHAPES % TYPES),
			(int)(k % SHAPES));
	for (uint64_t k = many.first; k < (uint64_t)all.n; k += many.step)
		check_shape(&f, &all.at[k], OWN_TYPE, MANY);
	free(f.bytes);
}

TEST(source_banks)
{
	make_openmc(&folder, "s.h5", &(struct openmc_facts){.n = 3});
	check_shapes("s.h5", OPENMC, 5);
}

static const char text[] =
	"run: {name: t, particles: 100}\n"
	"model:\n  source_detector:\n    source: {type: disk, radius: 0.4 cm}\n"
	"    detector: {type: rectangle, distance: 4 cm, width: 6 cm, height: 4 cm, pixels: [9, 6]}\n"
	"keep: hit\ntallies: [x:4:-3 cm..3 cm, [x:2:-3 cm..3 cm, y:2:-2 cm..2 cm]]\n"
	"output: {image: true, columns: [id, pixel, weight, fate]}\n";

TEST(files_of_a_run)
{
	write_text(&folder, "c.yaml", text);
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "out"));
	check_shapes("out/t_000000.h5", OPENPMD, 41);
	check_shapes("out/t.image.h5", IMAGE, 41);
	check_shapes("out/t.tallies", TALLIES, 41);
}

BEFORE_TESTS()
{
	assert_ok(sl_formats_start());
}
