/*
 * forged_files.c - files whose digests and checksums match the manifest but whose content is wrong:
 * verify compares them with the sort key and with recomputed particles, and an image with the
 * particles. tests/faults/damage.c damages files.
 */
#include <stdlib.h>

#include "pipeline/output/output.h"
#include "pipeline/results/results.h"
#include "primitives/files/files.h"
#include "stages/formats/common/common.h"
#include "stages/formats/formats.h"
#include "stages/formats/images/images.h"
#include "tests/support/formats/tables.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"
#include "tests/support/runs/same_run.h"

/* Batches 0 to 2 of 1500 particles, of which half survive: more than verify recomputes. */
static const char text[] = "run: {name: t, seed: 7, particles: 4500, batch: 1500}\n"
			   "model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, thickness: 0.1 cm}}\n"
			   "keep: transmitted\n"
			   "key: [w:6]\n"; /* coarse, so that ties occur */

BEFORE_TESTS()
{
	assert_ok(sl_formats_start());
	write_text(&folder, "c.yaml", text);
}

/* Runs c.yaml with two settings. */
static void run_anew(const char *first, const char *second)
{
	remove_run(&folder, "out");
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--quiet", "--set", first, "--set", second));
	expect(&folder, SL_OK, "", WORDS("verify", "out", "--quiet"));
}

/* message NULL: the run is correct. */
static void expect_verified(const char *message)
{
	expect(&folder, message ? SL_CHECK_FAILED : SL_OK, message ? message : "",
		WORDS("verify", "out"));
}

/* --- forgeries -------------------------------------------------------------------------------- */

/* Replaces the file of a batch, and closes the run. */
static void commit(struct opened *o, struct sl_manifest_line *l, const void *file, size_t bytes)
{
	l->file.bytes = bytes;
	l->file.crc = sl_crc32(file, bytes);
	assert_ok(sl_file_commit(&o->dir, l->file.name, file, bytes, true));
	assert_ok(sl_manifest_write(&o->dir, &o->m));
	close_run(o);
}

/* Ways to change the table or the line of a batch. */
enum change {
	NOTHING,
	NEIGHBOURS, /* two adjacent rows that differ are swapped; with w, they have equal keys: only ids are in the wrong order */
	ENDS,       /* the first and the last row are swapped */
	REPEAT,     /* a row is that before it again */
	VALUE,      /* the last bit of the first x */
	ID,         /* the first id is one of another batch */
	DROP_ROW,
	TALLY, /* the fate of one particle that does not survive */
	KEPT   /* the count of the kept fate is one less than the number of survivors */
};

/* Swaps rows, or copies row b to row a. */
static void move_row(struct sl_table *t, uint32_t a, uint32_t b, bool swap)
{
	for (uint32_t k = 0; k < t->n_columns; k++) {
		const uint32_t bytes = sl_facts_of(&t->column[k])->bytes;
		char *data = (char *)t->column[k].data, saved[8];

		if (t->column[k].constant)
			continue;
		memcpy(saved, data + a * bytes, bytes);
		memcpy(data + a * bytes, data + b * bytes, bytes);
		if (swap)
			memcpy(data + b * bytes, saved, bytes);
	}
}

static uint32_t find_neighbours(const struct sl_table *t)
{
	const struct sl_table_column *by = sl_table_find(t, SL_COLUMN_w);
	const float *x = (const float *)sl_table_find(t, SL_COLUMN_x)->data;
	const float *w = by ? (const float *)by->data : NULL;
	uint32_t i = 0;

	while (memcmp(&x[i], &x[i + 1], sizeof(*x)) == 0 ||
		(w && (int)(w[i] * 32) != (int)(w[i + 1] * 32)))
		i++;
	assert_true(i + 1 < t->n);
	return i;
}

static void make_change(enum change change, struct sl_table *t, struct sl_manifest_line *l)
{
	if (change == NEIGHBOURS)
		move_row(t, find_neighbours(t), find_neighbours(t) + 1, true);
	if (change == ENDS)
		move_row(t, 0, t->n - 1, true);
	if (change == REPEAT)
		move_row(t, 101, 100, false);
	if (change == VALUE)
		*(unsigned char *)sl_table_find(t, SL_COLUMN_x)->data ^= 1;
	if (change == ID)
		*(uint64_t *)sl_table_find(t, SL_COLUMN_id)->data += 4500;
	t->n -= change == DROP_ROW;
	l->tally.count[SL_FATE_reflected] += change == TALLY;
	l->tally.count[SL_FATE_transmitted] -= change == KEPT;
	l->tally.count[SL_FATE_absorbed] += (uint64_t)(change == KEPT) - (change == TALLY);
}

/* Rewrites the file of a batch with a change and with valid checksums. */
static void forge(uint64_t batch, enum change change)
{
	struct sl_batch_facts facts;
	struct sl_manifest_line *l;
	struct sl_file_facts run;
	struct sl_survivors s;
	struct opened o;
	size_t bytes;
	char *file;

	open_run(&o, 1);
	l = &o.m.line[batch];
	run = sl_plan_batch_facts(o.plan);
	facts = (struct sl_batch_facts){l->batch, l->first_id, l->generated};
	assert_ok(sl_survivors_read(&o.dir, l->file.name, NULL, &s));
	assert_true(s.table.n > 300);
	make_change(change, &s.table, l);
	for (uint32_t k = 0; k < s.table.n_columns; k++) {
		set_digest(&s.table.column[k], s.table.n);
		l->digest[s.table.column[k].column] = s.table.column[k].digest;
	}
	file = file_of(o.plan->choices.format, &run, &facts, &s.table, 0, &bytes);
	commit(&o, l, file, bytes);
	free(file);
	sl_survivors_free(&s);
}

#define KEYED "output.columns=[id, x, w]"
#define IDS   "output.columns=[id, x]"
#define KEY   "output.columns=[x, w]"
#define BARE  "output.columns=[x, y]"
#define H5    "output.format=openpmd"
#define CSV   "output.format=csv.gz"
#define NPZ   "output.format=npz"

TEST(forged_files_are_reported)
{
	static const struct {
		const char *columns, *format;
		uint64_t batch;
		enum change change;
		const char *message; /* of verify; NULL: no error */
	} rows[] = {{KEYED, H5, 1, NOTHING, NULL}, {KEYED, H5, 1, NEIGHBOURS, "order of their key"},
		{KEYED, H5, 1, ENDS, "order of their key"},
		{KEYED, H5, 1, REPEAT, "order of their key"},
		{KEYED, H5, 1, VALUE, "differs from the particle recomputed from id"},
		{KEYED, H5, 1, ID, "is not the id of a survivor of this batch"},
		{KEYED, H5, 1, DROP_ROW, "number of survivors"}, {KEYED, H5, 1, KEPT, ""},
		{KEYED, CSV, 1, NOTHING, NULL}, {KEYED, CSV, 2, NEIGHBOURS, "order of their key"},
		{KEYED, NPZ, 1, NOTHING, NULL},
		{KEYED, NPZ, 1, VALUE, "differs from the particle recomputed from id"},
		{BARE, H5, 0, NOTHING, NULL}, {BARE, H5, 0, TALLY, "tally"},
		{BARE, CSV, 0, NEIGHBOURS, "digest"}, {KEY, H5, 1, ENDS, "order of their key"},
		{KEY, H5, 0, NEIGHBOURS, "digest"}, {KEY, H5, 0, VALUE, "digest"},
		{IDS, H5, 2, ENDS, "order of their key"}, {IDS, H5, 0, NEIGHBOURS, "digest"}};
	uint64_t whole = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("change %d, %s, %s\n", (int)rows[i].change, rows[i].columns,
			rows[i].format);
		if (i == 0 || strcmp(rows[i].columns, rows[i - 1].columns) != 0 ||
			strcmp(rows[i].format, rows[i - 1].format) != 0) {
			run_anew(rows[i].columns, rows[i].format);
			whole = hash_run(&folder, "out");
			remove_run(&folder, "whole");
			copy_run(&folder, "out", "whole");
		}
		forge(rows[i].batch, rows[i].change);
		/* except for the change, the forged file equals the file that the program writes */
		assert_int_equal(hash_run(&folder, "out") == whole, rows[i].message == NULL);
		expect_verified(rows[i].message);
		remove_run(&folder, "out");
		copy_run(&folder, "whole", "out");
	}
}

/*
 * Flips the last bit of the byte at this distance from the end of a batch file, or of its first
 * byte if that is 0, with valid checksums. The second call restores the file.
 */
static void forge_byte(uint64_t batch, size_t from_end)
{
	struct sl_manifest_line *l;
	struct opened o;
	size_t bytes;
	char *file;

	open_run(&o, 1);
	l = &o.m.line[batch];
	assert_ok(sl_file_read(&o.dir, l->file.name, &file, &bytes));
	file[from_end ? bytes - from_end : 0] ^= 1;
	if (strstr(l->file.name, ".h5"))
		sl_crc_trailer_add(file, bytes - SL_CRC_TRAILER_BYTES);
	commit(&o, l, file, bytes);
	sl_memory_give(SL_HOST, file);
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

	run_anew("output={format: mcpl, mcpl: {energy: 2 eV, userflags: id}}", "key=[]");
	for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		print_message("row %zu\n", i);
		forge_byte(bytes[i].batch, bytes[i].from_end);
		expect_verified(bytes[i].message);
		forge_byte(bytes[i].batch, bytes[i].from_end);
	}
	expect_verified(NULL);
}

/*
 * The first byte of an openPMD file belongs to the signature of HDF5, the 22nd last of a npz file
 * to the end of its directory. Another number of rows is noticed too.
 */
TEST(unreadable_files_are_computed_again)
{
	for (int i = 0; i < 2; i++) {
		const char *format = i ? NPZ : H5;
		const char *const *resume = WORDS("run", "c.yaml", "--out", "out", "--quiet",
			"--resume", "--set", KEYED, "--set", format);
		uint64_t before;

		run_anew(KEYED, format);
		before = hash_run(&folder, "out");
		forge_byte(1, i ? 22 : 0);
		expect(&folder, SL_BAD_INPUT, "t_000001", WORDS("verify", "out"));
		expect(&folder, SL_OK, "", resume);
		assert_true(hash_run(&folder, "out") == before);
		forge(2, DROP_ROW);
		expect_verified("number of survivors");
		expect(&folder, SL_OK, "", resume);
		assert_true(hash_run(&folder, "out") == before);
	}
}

/* --- images ----------------------------------------------------------------------------------- */

enum { WIDTH = 37, HEIGHT = 23, PIXELS = WIDTH * HEIGHT };

static const char scene[] =
	"run: {name: t, seed: 7, particles: 20000}\n"
	"model:\n  rays:\n"
	"    camera: {position: [0, -4 cm, 1 cm], look_at: [0, 0, 0.5 cm], pixels: [37, 23]}\n"
	"    sky: 0.3\n    objects:\n"
	"      - {sphere: {center: [0, 0, 0.5 cm], radius: 0.5 cm}, reflectance: 0.5, emission: 1}\n"
	"keep: lit\n";

/* What a forged image states in the place of what the run gave. */
struct forged_image {
	const char *name;
	int wider, higher, more_particles, more_sum, fewer_rays;
	double value; /* a factor of one pixel; 0: 1 */
	bool no_rays, turned;
};

static void forge_image(const struct forged_image *w, const char *file, size_t file_bytes)
{
	static double value[PIXELS + WIDTH];
	static uint64_t sum[PIXELS + WIDTH], rays[PIXELS + WIDTH];
	static char image[1 << 20];
	const struct sl_file_facts facts = {.software_version = "1", .config = "none"};
	const uint32_t width = WIDTH + (uint32_t)w->wider, height = HEIGHT + (uint32_t)w->higher;
	struct sl_image p = {.what = w->name ? w->name : "radiance",
		.width = w->turned ? height : width,
		.height = w->turned ? width : height};
	const struct sl_image_values values = {
		&p, 20000 + (uint64_t)w->more_particles, value, sum, w->no_rays ? NULL : rays};
	struct sl_image_found found;
	size_t bytes;

	assert_ok(sl_image_read(file, file_bytes, &found));
	memcpy(value, found.value, PIXELS * sizeof(*value));
	memcpy(sum, found.sum, PIXELS * sizeof(*sum));
	memcpy(rays, found.rays, PIXELS * sizeof(*rays));
	sum[PIXELS - 1] += (uint64_t)w->more_sum;
	rays[0] -= (uint64_t)w->fewer_rays;
	value[7] *= w->value != 0 ? w->value : 1;
	assert_ok(sl_image_make(&facts, &values, image, sizeof(image), &bytes));
	folder_write(&folder, "out/t.image.h5", image, bytes);
}

TEST(forged_images_are_reported)
{
	static const struct forged_image forgeries[] = {{.name = NULL}, {.name = "weight"},
		{.wider = 1}, {.higher = 1}, {.more_particles = 1}, {.more_sum = 1},
		{.fewer_rays = 1}, {.value = 1 + 0x1p-52}, {.no_rays = true}, {.turned = true}};
	size_t bytes;
	char *file;

	write_text(&folder, "c.yaml", scene);
	run_anew("output.image=true", "output.columns=[id, pixel, weight]");
	file = folder_read(&folder, "out/t.image.h5", &bytes);
	for (size_t i = 0; i < sizeof(forgeries) / sizeof(forgeries[0]); i++) {
		print_message("forgery %zu\n", i);
		forge_image(&forgeries[i], file, bytes);
		expect_verified(i ? "out/t.image.h5: the pixels differ" : NULL);
	}
	free(file);
}
