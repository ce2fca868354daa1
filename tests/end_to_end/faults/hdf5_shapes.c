/*
 * hdf5_shapes.c - every attribute and every dataset of the HDF5 files that the program reads is replaced by one of
 * each type and each shape. The files stay valid HDF5, so a crash in the child process that reads them is a
 * defect of this program.
 */
#include <stdlib.h>

#include "pipeline/info/info_histograms.h"
#include "stages/formats/common/crc_trailer.h"
#include "stages/formats/formats.h"
#include "stages/formats/hdf5/hdf5_file.h"
#include "stages/formats/images/image_file_read.h"
#include "stages/formats/phase_space/openmc.h"
#include "tests/cases/sampling.h"
#include "tests/support/formats/phase_space_files.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

enum { NAMES_MOST = 128, NAME_BYTES = 128, FILE_ROOM = 1 << 20 };

/* --- types and shapes ------------------------------------------------------------------------- */

static hid_t text_of(size_t bytes)
{
	hid_t type = H5Tcopy(H5T_C_S1);

	assert_true(H5Tset_size(type, bytes) >= 0);
	return type;
}

enum { OWN_TYPE = 11, TYPES };

/* A new type; type OWN_TYPE is that of the file. */
static hid_t make_type(int k, hid_t own)
{
	const hsize_t three = 3;

	switch (k) {
	case 0:
		return text_of(1);
	case 1:
		return text_of(31);
	case 2:
		return text_of(255);
	case 3:
		return text_of(4000);
	case 4:
		return text_of(H5T_VARIABLE);
	case 5:
		return H5Tcopy(H5T_STD_U64LE);
	case 6:
		return H5Tcopy(H5T_STD_I8BE);
	case 7:
		return H5Tcopy(H5T_IEEE_F64LE);
	case 8:
		return H5Tcreate(H5T_OPAQUE, 700);
	case 9:
		return H5Tarray_create2(H5T_STD_I32LE, 1, &three);
	case 10:
		return H5Tvlen_create(H5T_STD_I32LE);
	default:
		return H5Tcopy(own);
	}
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
	hid_t old = at->attribute[0] ? H5Aopen_by_name(file, at->object, at->attribute, H5P_DEFAULT,
					       H5P_DEFAULT)
	                             : H5Dopen2(file, at->object, H5P_DEFAULT);
	hid_t own = at->attribute[0] ? H5Aget_type(old) : H5Dget_type(old);
	hid_t type = make_type(kind, own), made;
	hid_t space = make_space(shape, at->attribute[0] ? ATTRIBUTE_MANY : DATASET_MANY);

	H5Tclose(own);
	H5Idec_ref(old);
	if (at->attribute[0]) {
		assert_true(H5Adelete_by_name(file, at->object, at->attribute, H5P_DEFAULT) >= 0);
		made = H5Acreate_by_name(file, at->object, at->attribute, type, space, H5P_DEFAULT,
			H5P_DEFAULT, H5P_DEFAULT);
		if (made >= 0)
			assert_true(H5Awrite(made, type, values_of(type)) >= 0);
	} else {
		assert_true(H5Ldelete(file, at->object, H5P_DEFAULT) >= 0);
		made = H5Dcreate2(
			file, at->object, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
		if (made >= 0 && shape != MANY)
			assert_true(H5Dwrite(made, type, H5S_ALL, H5S_ALL, H5P_DEFAULT,
					    values_of(type)) >= 0);
	}
	if (made >= 0) /* HDF5 refuses an attribute of 64 KiB */
		H5Idec_ref(made);
	H5Sclose(space);
	H5Tclose(type);
}

/* --- readers ---------------------------------------------------------------------------------- */

typedef enum sl_status reader(const char *name, const void *file, size_t bytes);

static enum sl_status read_openmc(const char *name, const void *file, size_t bytes)
{
	struct sl_openmc o;

	(void)name;
	return sl_openmc_open(file, bytes - SL_CRC_TRAILER_BYTES, &o);
}

static enum sl_status read_openpmd(const char *name, const void *file, size_t bytes)
{
	static _Alignas(SL_ALIGN) char room[1 << 20];
	struct sl_arena a = {.base = room, .size = sizeof(room)};
	struct sl_table t;

	(void)name;
	return sl_format_openpmd.read(file, bytes, &a, &t);
}

static enum sl_status read_image(const char *name, const void *file, size_t bytes)
{
	struct sl_image_found found;

	(void)name;
	return sl_image_read(file, bytes, &found);
}

static enum sl_status read_tallies(const char *name, const void *file, size_t bytes)
{
	FILE *out = fopen("/dev/null", "w");
	enum sl_status s;

	folder_write(&folder, name, file, bytes);
	s = sl_info_histograms(folder_path(&folder, name), out);
	fclose(out);
	return s;
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
static enum sl_status read_changed(hid_t file, reader *read, const char *name)
{
	static char bytes[FILE_ROOM];
	ssize_t size;

	assert_true(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
	size = H5Fget_file_image(file, bytes, sizeof(bytes) - SL_CRC_TRAILER_BYTES);
	assert_true(size > 0);
	sl_crc_trailer_add(bytes, (size_t)size);
	return read(name, bytes, (size_t)size + SL_CRC_TRAILER_BYTES);
}

/* Tests one of step combinations, and always many values of the type that the reader expects. */
static void check_shapes(const char *name, reader *read, uint32_t step)
{
	static struct places all;
	size_t size;
	char *bytes = folder_read(&folder, name, &size);
	hid_t file = open_copy(bytes, size);
	int n = 0;

	all.n = 0;
	assert_true(visit_objects(file, note_object, &all) >= 0);
	assert_ok(read_changed(file, read, "changed"));
	H5Fclose(file);
	for (uint32_t k = 0; k < (uint32_t)all.n * TYPES * SHAPES; k++) {
		const struct place *at = &all.at[k / (TYPES * SHAPES)];
		int kind = (int)(k / SHAPES % TYPES), shape = (int)(k % SHAPES);
		enum sl_status s;

		if (k % sl_sampling_step(step) != 0 && (kind != OWN_TYPE || shape != MANY))
			continue;
		file = open_copy(bytes, size);
		replace(file, at, kind, shape);
		s = read_changed(file, read, "changed");
		H5Fclose(file);
		if ((s != SL_OK && s != SL_BAD_INPUT) || (s && strstr(sl_last_error(), "crashed")))
			fail_msg("%s: %s '%s' of type %d and shape %d: status %s: %s", name,
				at->object, at->attribute, kind, shape, sl_status_name(s),
				sl_last_error());
		n++;
	}
	print_message("%s: %d places, %d changed files\n", name, all.n, n);
	assert_true(n > 0);
	free(bytes);
}

TEST(source_banks)
{
	make_openmc(&folder, "s.h5", &(struct openmc_facts){.n = 3});
	check_shapes("s.h5", read_openmc, 5);
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
	check_shapes("out/t_000000.h5", read_openpmd, 41);
	check_shapes("out/t.image.h5", read_image, 41);
	check_shapes("out/t.tallies", read_tallies, 41);
}

BEFORE_TESTS()
{
	assert_ok(sl_formats_start());
}
