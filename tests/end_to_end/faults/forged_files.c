/*
 * forged_files.c - files whose digests and checksums match the manifest but whose content is wrong:
 * verify compares them with the sort key and with recomputed particles.
 */
#include <stdio.h>
#include <stdlib.h>

#include "pipeline/output/existing_run.h"
#include "pipeline/output/run_directory.h"
#include "pipeline/results/survivor_file.h"
#include "stages/particle/digest.h"
#include "stages/formats/common/crc_trailer.h"
#include "stages/formats/formats.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"
#include "primitives/files/read.h"
#include "primitives/files/crc32.h"
#include "primitives/files/files.h"

/* Batches 0 to 2 of 1500 particles, of which half survive: more than verify recomputes. */
static const char text[] = "run: {name: t, seed: 7, particles: 4500, batch: 1500}\n"
			   "model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, thickness: 0.1 cm}}\n"
			   "keep: transmitted\n"
			   "key: [w:6]\n"; /* coarse, so that ties occur */

/* An opened run; the test rewrites the files of its batches. */
struct forged_run {
	struct sl_dir dir;
	struct sl_plan *plan;
	struct sl_workspace *w;
	struct sl_manifest manifest;
};

typedef void (*change)(struct sl_table *t, struct sl_manifest_line *l);

static void open_run(struct forged_run *f)
{
	struct sl_existing_run existing;

	memset(f, 0, sizeof(*f));
	assert_ok(sl_dir_open(folder_path(&folder, "out"), false, &f->dir));
	assert_ok(sl_existing_run_read(&f->dir, &existing));
	assert_ok(sl_existing_run_plan(&existing, NULL, 0, &f->plan));
	sl_existing_run_free(&existing);
	assert_ok(sl_workspace_open(f->plan, &f->w));
	assert_ok(sl_workspace_allocate(f->w));
	assert_ok(sl_manifest_read(&f->dir, &f->manifest));
}

static void close_run(struct forged_run *f)
{
	sl_manifest_free(&f->manifest);
	sl_workspace_close(f->w);
	sl_plan_free(f->plan);
	sl_dir_close(&f->dir);
}

static void update_digests(struct sl_table *t, struct sl_manifest_line *l)
{
	for (uint32_t k = 0; k < t->n_columns; k++) {
		struct sl_table_column *c = &t->column[k];
		uint32_t bytes = sl_column_facts[c->column].bytes;

		c->digest = 0;
		for (uint32_t i = 0; i < t->n; i++) {
			const char *at = (const char *)c->data + (c->constant ? 0 : i * bytes);
			uint64_t bits = 0;

			memcpy(&bits, at, bytes);
			c->digest += sl_digest_item(sl_digest_weight(i), bits);
		}
		l->digest[c->column] = c->digest;
	}
}

/* Rewrites the file of a batch with a change and with valid checksums. */
static void forge(uint64_t batch, change make)
{
	struct forged_run f;
	struct sl_manifest_line *l;
	struct sl_batch_facts facts;
	struct sl_file_facts run;
	struct sl_survivors s;
	struct sl_host_slot *slot;
	struct sl_pieces pieces;
	void *file;

	open_run(&f);
	l = &f.manifest.line[batch];
	slot = &f.w->slot[0];
	run = sl_plan_batch_facts(f.plan);
	facts = (struct sl_batch_facts){l->batch, l->first_id, l->generated};
	assert_ok(sl_survivors_read(&f.dir, l->file, &s));
	assert_true(s.table.n > 300);
	make(&s.table, l);
	update_digests(&s.table, l);
	assert_ok(f.plan->choices.format->pack(&slot->exec, &run, &s.table, &slot->packed));
	assert_ok(f.plan->choices.format->assemble(
		&run, &facts, &slot->packed, f.w->file_image, f.plan->memory.image, &pieces));
	file = malloc(pieces.bytes);
	assert_non_null(file);
	sl_pieces_join(&pieces, file);
	l->file_bytes = pieces.bytes;
	l->file_crc = sl_crc32(file, pieces.bytes);
	assert_ok(sl_file_commit(&f.dir, l->file, file, pieces.bytes, true));
	free(file);
	assert_ok(sl_manifest_write(&f.dir, &f.manifest));
	sl_survivors_free(&s);
	close_run(&f);
}

/* --- changes ------------------------------------------------------------------------------- */

static void keep_unchanged(struct sl_table *t, struct sl_manifest_line *l)
{
	(void)t;
	(void)l;
}

static void swap(struct sl_table *t, uint32_t a, uint32_t b)
{
	for (uint32_t k = 0; k < t->n_columns; k++) {
		uint32_t bytes = sl_column_facts[t->column[k].column].bytes;
		char *data = (char *)t->column[k].data, saved[8];

		if (t->column[k].constant)
			continue;
		memcpy(saved, data + a * bytes, bytes);
		memcpy(data + a * bytes, data + b * bytes, bytes);
		memcpy(data + b * bytes, saved, bytes);
	}
}

static const float *floats_of(const struct sl_table *t, enum sl_column which)
{
	for (uint32_t k = 0; k < t->n_columns; k++)
		if (t->column[k].column == which)
			return (const float *)t->column[k].data;
	return NULL;
}

/*
 * Swaps two adjacent rows that differ. If the column w is written, they have equal keys, so only the
 * order of their ids is wrong.
 */
static void swap_neighbours(struct sl_table *t, struct sl_manifest_line *l)
{
	const float *x = floats_of(t, SL_COLUMN_x), *w = floats_of(t, SL_COLUMN_w);
	uint32_t i = 0;

	(void)l;
	while (memcmp(&x[i], &x[i + 1], sizeof(*x)) == 0 ||
		(w && (int)(w[i] * 32) != (int)(w[i + 1] * 32)))
		i++;
	assert_true(i + 1 < t->n);
	swap(t, i, i + 1);
}

static void swap_ends(struct sl_table *t, struct sl_manifest_line *l)
{
	(void)l;
	swap(t, 0, t->n - 1);
}

static void repeat_row(struct sl_table *t, struct sl_manifest_line *l)
{
	(void)l;
	for (uint32_t k = 0; k < t->n_columns; k++) {
		uint32_t bytes = sl_column_facts[t->column[k].column].bytes;
		char *data = (char *)t->column[k].data;

		if (!t->column[k].constant)
			memcpy(data + 100 * bytes, data + 101 * bytes, bytes);
	}
}

/* Changes the last bit of the first x. */
static void change_value(struct sl_table *t, struct sl_manifest_line *l)
{
	(void)l;
	for (uint32_t k = 0; k < t->n_columns; k++)
		if (t->column[k].column == SL_COLUMN_x)
			*(unsigned char *)t->column[k].data ^= 1;
}

/* Changes the first id to one of another batch. */
static void change_id(struct sl_table *t, struct sl_manifest_line *l)
{
	(void)l;
	assert_int_equal(t->column[0].column, SL_COLUMN_id);
	*(uint64_t *)t->column[0].data += 4500;
}

static void drop_row(struct sl_table *t, struct sl_manifest_line *l)
{
	(void)l;
	t->n--;
}

/* Changes the fate of one particle that does not survive. */
static void change_tally(struct sl_table *t, struct sl_manifest_line *l)
{
	(void)t;
	l->tally.count[SL_FATE_reflected]++;
	l->tally.count[SL_FATE_absorbed]--;
}

/* The count of the kept fate is one less than the number of survivors. */
static void change_kept(struct sl_table *t, struct sl_manifest_line *l)
{
	(void)t;
	l->tally.count[SL_FATE_transmitted]--;
	l->tally.count[SL_FATE_absorbed]++;
}

struct forgery {
	const char *name, *columns;
	const char *format;
	uint64_t batch;
	change make;
	const char *message; /* message of verify; NULL: no error */
};

#define KEYED "output.columns=[id, x, w]"
#define IDS   "output.columns=[id, x]"
#define KEY   "output.columns=[x, w]"
#define BARE  "output.columns=[x, y]"
#define H5    "output.format=openpmd"
#define CSV   "output.format=csv.gz"
#define NPZ   "output.format=npz"

static const struct forgery forgeries[] = {
	{"nothing", KEYED, H5, 1, keep_unchanged, NULL},
	{"nothing", KEYED, CSV, 1, keep_unchanged, NULL},
	{"nothing", KEYED, NPZ, 1, keep_unchanged, NULL},
	{"nothing", BARE, H5, 0, keep_unchanged, NULL},
	{"neighbours", KEYED, H5, 1, swap_neighbours, "order of their key"},
	{"neighbours", KEYED, CSV, 2, swap_neighbours, "order of their key"},
	{"ends", KEYED, H5, 1, swap_ends, "order of their key"},
	{"ends, without ids", KEY, H5, 1, swap_ends, "order of their key"},
	{"neighbours, without ids", KEY, H5, 0, swap_neighbours, "digest"},
	{"ends, without key", IDS, H5, 2, swap_ends, "order of their key"},
	{"neighbours, without key", IDS, H5, 0, swap_neighbours, "digest"},
	{"neighbours, without ids and key", BARE, CSV, 0, swap_neighbours, "digest"},
	{"a row repeated", KEYED, H5, 1, repeat_row, "order of their key"},
	{"a value", KEYED, H5, 1, change_value, "differs from the particle recomputed from id"},
	{"a value", KEYED, NPZ, 1, change_value, "differs from the particle recomputed from id"},
	{"a value, without ids", KEY, H5, 0, change_value, "digest"},
	{"an id", KEYED, H5, 1, change_id, "is not the id of a survivor of this batch"},
	{"a row removed", KEYED, H5, 1, drop_row, "number of survivors"},
	{"count of survivors", KEYED, H5, 1, change_kept, ""},
	{"tallies, without ids", BARE, H5, 0, change_tally, "tally"},
};

TEST(forged_files_are_reported)
{
	for (size_t i = 0; i < sizeof(forgeries) / sizeof(forgeries[0]); i++) {
		const struct forgery *g = &forgeries[i];
		uint64_t before;

		expect(&folder, SL_OK, "",
			WORDS("run", "c.yaml", "--out", "out", "--quiet", "--set", g->columns,
				"--set", g->format));
		expect(&folder, SL_OK, "", WORDS("verify", "out", "--quiet"));
		before = hash_run(&folder, "out");
		forge(g->batch, g->make);
		print_message("%s, %s, %s\n", g->name, g->columns, g->format);
		/* except for the change, the forged file equals the file that the program writes */
		assert_int_equal(hash_run(&folder, "out") == before, g->message == NULL);
		expect(&folder, g->message ? SL_CHECK_FAILED : SL_OK, g->message ? g->message : "",
			WORDS("verify", "out"));
		remove_run(&folder, "out");
	}
}

/* --- rounded columns ----------------------------------------------------------------------- */

/*
 * Flips the last bit of the byte at this distance from the end of a batch file, or of its first
 * byte if that is 0, with valid checksums.
 */
static void forge_byte(uint64_t batch, size_t from_end)
{
	struct forged_run f;
	struct sl_manifest_line *l;
	size_t bytes;
	char *file;

	open_run(&f);
	l = &f.manifest.line[batch];
	assert_ok(sl_file_read(&f.dir, l->file, &file, &bytes));
	file[from_end ? bytes - from_end : 0] ^= 1;
	if (strstr(l->file, ".h5"))
		sl_crc_trailer_add(file, bytes - SL_CRC_TRAILER_BYTES);
	l->file_crc = sl_crc32(file, bytes);
	assert_ok(sl_file_commit(&f.dir, l->file, file, bytes, true));
	assert_ok(sl_manifest_write(&f.dir, &f.manifest));
	sl_memory_give(SL_HOST, file);
	close_run(&f);
}

/*
 * The last record of a file has 32 bytes: x, y, z, direction and energy, time, id. Without a sort
 * key verify can check ids and order only, so it also recomputes one batch.
 */
TEST(rounded_columns_are_recomputed)
{
	static const struct {
		size_t from_end;
		uint64_t batch;
		const char *message; /* NULL: only the first batch is recomputed */
	} bytes[] = {{32, 1, "digest"}, {24, 1, "digest"}, {4, 1, "digest"},
		{20, 0, "differs from the recomputed batch"},
		{8, 0, "differs from the recomputed batch"}, {20, 1, NULL}};

	for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		expect(&folder, SL_OK, "",
			WORDS("run", "c.yaml", "--out", "out", "--quiet", "--set",
				"output.format=mcpl", "--set",
				"output.mcpl={energy: 2 eV, userflags: id}", "--set", "key=[]"));
		expect(&folder, SL_OK, "", WORDS("verify", "out", "--quiet"));
		forge_byte(bytes[i].batch, bytes[i].from_end);
		expect(&folder, bytes[i].message ? SL_CHECK_FAILED : SL_OK,
			bytes[i].message ? bytes[i].message : "", WORDS("verify", "out"));
		remove_run(&folder, "out");
	}
}

/*
 * The first byte of an openPMD file belongs to the signature of HDF5, the 22nd last of a npz file
 * to the end of its directory. Another number of rows is noticed too.
 */
TEST(unreadable_files_are_computed_again)
{
	static const struct {
		const char *format;
		size_t from_end;
	} files[] = {{H5, 0}, {NPZ, 22}};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		const char *const *run = WORDS("run", "c.yaml", "--out", "out", "--quiet",
			"--resume", "--set", files[i].format, "--set", KEYED);
		uint64_t before;

		expect(&folder, SL_OK, "", run);
		before = hash_run(&folder, "out");
		forge_byte(1, files[i].from_end);
		expect(&folder, SL_BAD_INPUT, "t_000001", WORDS("verify", "out"));
		expect(&folder, SL_OK, "", run);
		assert_true(hash_run(&folder, "out") == before);
		forge(2, drop_row);
		expect(&folder, SL_CHECK_FAILED, "number of survivors", WORDS("verify", "out"));
		expect(&folder, SL_OK, "", run);
		assert_true(hash_run(&folder, "out") == before);
		expect(&folder, SL_OK, "", WORDS("verify", "out", "--quiet"));
		remove_run(&folder, "out");
	}
}

/*
 * Sorted by a direction, which MCPL does not store exactly, so the order cannot be checked; ids are
 * user flags.
 */
TEST(rounded_keys_are_not_checked_for_order)
{
	static const char *const outputs[] = {"output.mcpl={energy: 2 eV, userflags: id}",
		"output.mcpl={energy: 2 eV, userflags: id, precision: double}",
		"output.mcpl={energy: 2 eV, userflags: none}"};
	char *output;

	for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++) {
		expect(&folder, SL_OK, "",
			WORDS("run", "c.yaml", "--out", "out", "--quiet", "--set",
				i ? "output.format=mcpl.gz" : "output.format=mcpl", "--set",
				outputs[i], "--set", "key=[w:32]", "--set",
				"run={particles: 1e5, batch: 1e5, name: t, seed: 7}"));
		output = output_of(&folder, WORDS("verify", "out"));
		assert_non_null(strstr(output, i < 2 ? "256 recomputed" : " 0 recomputed"));
		free(output);
		remove_run(&folder, "out");
	}
}

BEFORE_TESTS()
{
	assert_ok(sl_formats_start());
	write_text(&folder, "c.yaml", text);
}
