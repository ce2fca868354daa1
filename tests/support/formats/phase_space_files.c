/* phase_space_files.c - see phase_space_files.h. */
#include "tests/support/formats/phase_space_files.h"

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/basic/check.h"
#include "tests/support/formats/mcpl_lists.h"

/* The values of constants in IAEA headers. */
static const double constants[7] = {1.5, -2.25, 27.25, 0.6, 0, -0.8, 0.125};

/* A number in lo .. hi that depends on i and k only. */
static double number(uint32_t i, uint32_t k, double lo, double hi)
{
	uint32_t at = i * 7919u + k * 104729u + 1;

	next_random(&at);
	return lo + (hi - lo) * next_random(&at);
}

/* A direction: any, but of every tenth particle one that is longer than 1 in single precision. */
static void direction_of(uint32_t i, double d[3])
{
	double phi = number(i, 1, 0, 6.283185307), w = number(i, 2, -1, 1), s = sqrt(1 - w * w);

	d[0] = i % 10 == 3 ? 1.0625 : s * cos(phi);
	d[1] = i % 10 == 3 ? 0 : s * sin(phi);
	d[2] = i % 10 == 3 ? 0 : w;
}

/* --- IAEA ------------------------------------------------------------------------------------- */

uint32_t iaea_record_bytes(const struct iaea_facts *facts)
{
	uint32_t bytes = 5 + 4 * (facts->floats + facts->longs);

	for (int k = 0; k < 7; k++)
		bytes += k != 5 && !facts->constant[k] ? 4 : 0;
	return bytes;
}

const char *iaea_header(const struct iaea_facts *facts)
{
	static char text[8192];
	size_t used = 0;

#define ADD(...) (used += (size_t)snprintf(text + used, sizeof(text) - used, __VA_ARGS__))
	ADD("$IAEA_INDEX:\n0\n$TITLE:\n  a test \r\n\n$FILE_TYPE:\n0\n\n$CHECKSUM:\n%lu\n\n",
		(unsigned long)facts->n * iaea_record_bytes(facts));
	ADD("$RECORD_CONTENTS:\n");
	for (int k = 0; k < 7; k++)
		ADD("    %d     // %c is stored ?\n", !facts->constant[k], "XYZUVWT"[k]);
	ADD("    %u // Extra floats stored ?\n    %u // Extra longs stored ?\n", facts->floats,
		facts->longs);
	for (uint32_t k = 0; k < facts->floats; k++)
		ADD("    3     // ZLAST\n");
	for (uint32_t k = 0; k < facts->longs; k++)
		ADD("    %d     // extra long\n", facts->latch && k + 1 == facts->longs ? 2 : 1);
	ADD("\n$RECORD_CONSTANT:\n");
	for (int k = 0; k < 7; k++)
		if (facts->constant[k])
			ADD("    %.9g   // Constant\n", constants[k]);
	ADD("\n$RECORD_LENGTH:\n%u\n\n$BYTE_ORDER:\n%d\n\n$ORIG_HISTORIES:\n1000000\n\n",
		iaea_record_bytes(facts), facts->big_endian ? 4321 : 1234);
	ADD("$PARTICLES:\n%u\n\n$COORDINATE_SYSTEM_DESCRIPTION:\n", facts->n);
#undef ADD
	return text;
}

/* What record i contains, except its direction: in single precision, in the units of the file. */
static void iaea_values(uint32_t i, double value[7], double *energy, double direction[3])
{
	direction_of(i, direction);
	for (int k = 0; k < 3; k++)
		value[k] = (double)(float)number(i, 10u + (uint32_t)k, -20, 20);
	for (int k = 0; k < 2; k++)
		value[3 + k] = (double)(float)direction[k];
	value[5] = 0;
	value[6] = (double)(float)number(i, 20, 0, 2);
	*energy = (double)(float)number(i, 21, 0.001, 18);
}

static void put_word(const struct iaea_facts *facts, uint32_t word, uint8_t **at)
{
	if (facts->big_endian)
		word = __builtin_bswap32(word);
	memcpy(*at, &word, sizeof(word));
	*at += sizeof(word);
}

static void put_float(const struct iaea_facts *facts, double number, uint8_t **at)
{
	float narrow = (float)number;
	uint32_t word;

	memcpy(&word, &narrow, sizeof(word));
	put_word(facts, word, at);
}

/* Every third particle begins a history; the types are 1 to 5 in turn. */
void iaea_record(const struct iaea_facts *facts, uint32_t i, uint8_t *record)
{
	double value[7], energy, direction[3];
	int type = (int)(i % 5) + 1;
	uint8_t *at = record + 1;

	iaea_values(i, value, &energy, direction);
	record[0] = (uint8_t)(int8_t)(direction[2] < 0 ? -type : type);
	put_float(facts, i % 3 == 0 ? -energy : energy, &at);
	for (int k = 0; k < 7; k++)
		if (k != 5 && !facts->constant[k])
			put_float(facts, value[k], &at);
	for (uint32_t k = 0; k < facts->floats; k++)
		put_float(facts, 7 + k, &at);
	for (uint32_t k = 0; k < facts->longs; k++)
		put_word(facts, 0x80000000u + i * 3 + k, &at);
}

void make_iaea(const struct folder *f, const char *name, const struct iaea_facts *facts)
{
	uint32_t bytes = iaea_record_bytes(facts);
	uint8_t *records = (uint8_t *)malloc((size_t)facts->n * bytes + 1);
	const char *header = iaea_header(facts);
	char path[128];

	assert_non_null(records);
	for (uint32_t i = 0; i < facts->n; i++)
		iaea_record(facts, i, records + (size_t)i * bytes);
	snprintf(path, sizeof(path), "%s.IAEAheader", name);
	folder_write(f, path, header, strlen(header));
	snprintf(path, sizeof(path), "%s.IAEAphsp", name);
	folder_write(f, path, records, (size_t)facts->n * bytes);
	free(records);
}

struct sl_mcpl_particle iaea_expected(const struct iaea_facts *facts, uint32_t i)
{
	static const int32_t codes[] = {22, 11, -11, 2112, 2212};
	double value[7], energy, direction[3], square, length;

	iaea_values(i, value, &energy, direction);
	for (int k = 0; k < 7; k++)
		if (facts->constant[k])
			value[k] = (double)(float)constants[k];
	square = value[3] * value[3] + value[4] * value[4];
	length = square > 1 ? sqrt(square) : 1;
	if (!facts->constant[5])
		value[5] = square > 1 ? 0 : sqrt(1 - square);
	if (!facts->constant[5] && direction[2] < 0)
		value[5] = -value[5];
	return (struct sl_mcpl_particle){.position = {value[0], value[1], value[2]},
		.direction = {value[3] / length, value[4] / length, value[5]},
		.energy = energy,
		.weight = value[6],
		.pdg = codes[i % 5],
		.flags = facts->latch ? 0x80000000u + i * 3 + facts->longs - 1 : i % 3 == 0};
}

/* --- OpenMC ----------------------------------------------------------------------------------- */

/* An item in memory; HDF5 converts it to the type in the file. */
struct site {
	double r[3], u[3], energy, time, weight;
	int32_t group, surface, particle;
	double unused;
};

static struct site site_of(const struct openmc_facts *facts, uint32_t i)
{
	static const int32_t codes[] = {2112, 22, 11, -11};
	struct site s = {.energy = number(i, 30, 1e-3, 2e7),
		.time = number(i, 31, 0, 1e-6),
		.weight = number(i, 32, 0, 2),
		.group = (int32_t)(i % 7),
		.surface = (int32_t)(i % 3) - 1};

	s.particle = facts->coded ? codes[i % 4] : (int32_t)(i % 4);
	direction_of(i, s.u);
	for (int k = 0; k < 3; k++)
		s.r[k] = number(i, 33u + (uint32_t)k, -50, 50);
	return s;
}

struct sl_mcpl_particle openmc_expected(const struct openmc_facts *facts, uint32_t i)
{
	static const int32_t codes[] = {2112, 22, 11, -11};
	struct site s = site_of(facts, i);

	return (struct sl_mcpl_particle){.position = {s.r[0], s.r[1], s.r[2]},
		.direction = {s.u[0], s.u[1], s.u[2]},
		.energy = s.energy * 1e-6,
		.time = facts->no_time ? 0 : s.time * 1e3,
		.weight = s.weight,
		.pdg = codes[i % 4],
		.flags = facts->no_surface ? 0 : (uint32_t)s.surface};
}

/* The type of a position in the file or, at the offset of its numbers, in memory. */
static hid_t triple_type(void)
{
	hid_t type = H5Tcreate(H5T_COMPOUND, 3 * sizeof(double));

	H5Tinsert(type, "x", 0, H5T_IEEE_F64LE);
	H5Tinsert(type, "y", sizeof(double), H5T_IEEE_F64LE);
	H5Tinsert(type, "z", 2 * sizeof(double), H5T_IEEE_F64LE);
	return type;
}

/* The type of an item: as in memory (struct site), or packed as in the files of OpenMC. */
static hid_t item_type(const struct openmc_facts *facts, bool in_file)
{
	hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(struct site)), triple = triple_type();
	const struct {
		const char *name;
		size_t at;
		hid_t type;
		bool left_out;
	} member[] = {{"r", offsetof(struct site, r), triple, false},
		{"u", offsetof(struct site, u), triple, false},
		{"E", offsetof(struct site, energy), H5T_IEEE_F64LE, false},
		{"time", offsetof(struct site, time), H5T_IEEE_F64LE, facts->no_time},
		{"wgt", offsetof(struct site, weight), H5T_IEEE_F64LE, false},
		{"delayed_group", offsetof(struct site, group), H5T_STD_I32LE, false},
		{"surf_id", offsetof(struct site, surface), H5T_STD_I32LE, facts->no_surface},
		{"particle", offsetof(struct site, particle), H5T_STD_I32LE, false},
		{"unused", offsetof(struct site, unused), H5T_IEEE_F64LE, !facts->padded}};

	for (size_t k = 0; k < sizeof(member) / sizeof(member[0]); k++)
		if (!member[k].left_out &&
			(!facts->without || strcmp(facts->without, member[k].name) != 0))
			assert_true(
				H5Tinsert(type, member[k].name, member[k].at, member[k].type) >= 0);
	H5Tclose(triple);
	if (in_file && !facts->padded)
		assert_true(H5Tpack(type) >= 0);
	return type;
}

static void put_attribute(hid_t file, const char *name, hid_t type, hid_t space, const void *value)
{
	hid_t made = H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT);

	assert_true(H5Awrite(made, type, value) >= 0);
	H5Aclose(made);
	H5Sclose(space);
}

static void put_attributes(hid_t file, const struct openmc_facts *facts)
{
	const char *text = facts->filetype ? facts->filetype : "source";
	const hsize_t two = 2;
	const int version[2] = {18, facts->coded ? 2 : 1};
	hid_t type = H5Tcopy(H5T_C_S1);

	H5Tset_size(type, facts->variable ? H5T_VARIABLE : strlen(text));
	put_attribute(file, "filetype", type, H5Screate(H5S_SCALAR),
		facts->variable ? (const void *)&text : text);
	put_attribute(file, "version", H5T_NATIVE_INT, H5Screate_simple(1, &two, NULL), version);
	H5Tclose(type);
}

void make_openmc(const struct folder *f, const char *name, const struct openmc_facts *facts)
{
	hid_t file = H5Fcreate(folder_path(f, name), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
	struct site *site = (struct site *)calloc(facts->n + 1, sizeof(*site));
	hid_t stored = item_type(facts, true), memory = item_type(facts, false);
	hid_t how = H5Pcreate(H5P_DATASET_CREATE), space, made;
	const hsize_t n = facts->n, chunk = 64;

	assert_non_null(site);
	for (uint32_t i = 0; i < facts->n; i++)
		site[i] = site_of(facts, i);
	put_attributes(file, facts);
	if (facts->chunked)
		H5Pset_chunk(how, 1, &chunk);
	space = H5Screate_simple(1, &n, NULL);
	made = H5Dcreate2(file, "source_bank", stored, space, H5P_DEFAULT, how, H5P_DEFAULT);
	assert_true(made >= 0);
	assert_true(H5Dwrite(made, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, site) >= 0);
	H5Dclose(made);
	H5Sclose(space);
	H5Pclose(how);
	H5Tclose(memory);
	H5Tclose(stored);
	assert_true(H5Fclose(file) >= 0);
	free(site);
}
