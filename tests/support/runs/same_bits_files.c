/* same_bits_files.c - compares the files of runs of the program, see same_bits_check.h. */
#include <stdio.h>
#include <stdlib.h>

#include "pipeline/results/survivor_file.h"
#include "tests/cases/sampling.h"
#include "tests/support/runs/same_bits_check.h"
#include "tests/support/configs/configs.h"
#include "tests/support/program/program.h"

enum { SET_BYTES = 64 };

static void run(const struct folder *f, const struct bits *b, const char *device, const char *mode,
	const char *out)
{
	char path[CONFIG_PATH_BYTES], particles[SET_BYTES], batch[SET_BYTES];

	config_path(b->config, path);
	snprintf(particles, sizeof(particles), "run.particles=%s", b->particles);
	snprintf(batch, sizeof(batch), "run.batch=%s", b->batch);
	/* so few particles may miss published values; deflate: cpu writes the bytes of the device */
	expect(f, SL_OK, "",
		WORDS("run", path, "--device", device, "--mode", mode, "--deflate",
			strcmp(device, "cpu") == 0 ? "cpu" : "device", "--out", out, "--set",
			particles, "--set", batch, "--set", "check.sigma=1000"));
}

/* Reads both files back and expects equal columns. */
static void expect_same_columns(const struct folder *f, const char *config, const char *file)
{
	struct sl_survivors a, b;
	char name[512];

	snprintf(name, sizeof(name), "cpu/%s", file);
	assert_ok(sl_survivors_read_path(folder_path(f, name), &a));
	snprintf(name, sizeof(name), "device/%s", file);
	assert_ok(sl_survivors_read_path(folder_path(f, name), &b));
	assert_int_equal(a.table.n, b.table.n);
	assert_int_equal(a.table.n_columns, b.table.n_columns);
	for (uint32_t k = 0; k < a.table.n_columns; k++) {
		const struct sl_table_column *x = &a.table.column[k], *y = &b.table.column[k];
		size_t items = x->constant ? 1 : a.table.n;

		assert_int_equal(x->column, y->column);
		assert_int_equal(x->constant, y->constant);
		if (memcmp(x->data, y->data, items * sl_column_facts[x->column].bytes) != 0)
			fail_msg("%s: %s: column %s differs", config, file,
				sl_column_facts[x->column].name);
	}
	sl_survivors_free(&a);
	sl_survivors_free(&b);
}

static void expect_same_manifests(const struct folder *f, const char *config)
{
	size_t a_bytes, b_bytes;
	char *a = folder_read(f, "cpu/manifest.jsonl", &a_bytes);
	char *b = folder_read(f, "device/manifest.jsonl", &b_bytes);

	if (a_bytes != b_bytes || memcmp(a, b, a_bytes) != 0)
		fail_msg("%s: the manifests differ:\n%s\n%s", config, a, b);
	free(a);
	free(b);
}

static void check_files(const struct folder *f, const struct bits *b, const char *mode)
{
	struct sl_manifest m;

	run(f, b, b->device, mode, "device");
	expect_same_manifests(f, b->config);
	read_manifest(f, "device", &m);
	assert_true(m.n > 0);
	for (size_t i = 0; i < m.n; i++)
		expect_same_columns(f, b->config, m.line[i].file);
	sl_manifest_free(&m);
	remove_run(f, "device");
}

void same_bits_check_files(const struct bits *b)
{
	struct folder f;

	folder_make(&f);
	run(&f, b, "cpu", "auto", "cpu");
	check_files(&f, b, "staged");
	if (same_bits_allow_fused(b))
		check_files(&f, b, "fused");
	folder_remove(&f);
}

void same_bits_check_files_of_configs(const struct bits *b)
{
	static struct configs all;

	configs_list(&all);
	for (size_t i = 0; i < all.n; i++) {
		struct bits one = *b;

		one.config = all.name[i];
		if (sl_sampling_selects())
			same_bits_check_files(&one);
	}
}

/* --- lists ------------------------------------------------------------------------------------ */

/* Constant and variable energies, weights and PDG codes; several user flags; reference files as inputs. */
static const char *const lists[] = {
	"model: {slab: {mu_a: 10 /cm, mu_s: 90 /cm, g: 0.75, thickness: 0.02 cm, absorption: "
	"implicit}}\n"
	"keep: [transmitted, reflected]\nkey: [w:16]\n"
	"output: {joined: true, mcpl: {energy: 2 eV, userflags: steps}}\n",
	"model: {source_detector: {source: {type: disk, radius: 1 cm}, energy: {type: lines, lines: "
	"[26.3 keV, 59.5 keV]}, detector: {type: rectangle, distance: 1 cm, width: 3 cm, height: 2 "
	"cm, pixels: [8, 4]}}}\n"
	"keep: hit\nkey: [pixel:5]\noutput: {image: true}\n",
	"model: {list: {files: [LIST/reffile_2.mcpl, LIST/miscphys.mcpl.gz, LIST/reffile_6.mcpl]}}\n"
	"keep: listed\nkey: [ekin_log:16]\n",
	"model: {list: {files: [LIST/example.mcpl]}}\n"
	"keep: ekin > 1 keV\noutput: {mcpl: {userflags: id}}\n",
};
enum { LISTS = sizeof(lists) / sizeof(lists[0]), LIST_BYTES = 4096 };

/* Writes c.yaml. LIST stands for the folder of the reference files. */
static void write_list(const struct folder *f, const struct bits *b, const char *list)
{
	char text[LIST_BYTES], *at = text;

	if (strstr(list, "LIST"))
		at += snprintf(at, sizeof(text), "run: {name: t, batch: 50}\n");
	else
		at += snprintf(at, sizeof(text), "run: {name: t, particles: %s, batch: %s}\n",
			b->particles, b->batch);
	for (const char *next; (next = strstr(list, "LIST")) != NULL; list = next + 4)
		at += sprintf(at, "%.*s%s/tests/stages/formats/mcpl/reference", (int)(next - list),
			list, source_root());
	strcpy(at, list);
	write_text(f, "c.yaml", text);
}

/* Runs c.yaml; returns the hash of its files except run.json. */
static uint64_t run_list(const struct folder *f, const char *const set[2], const char *device,
	const char *mode, const char *deflate)
{
	uint64_t hash;

	expect(f, SL_OK, "",
		WORDS("run", "c.yaml", "--device", device, "--mode", mode, "--deflate", deflate,
			"--out", "out", "--set", set[0], "--set", set[1]));
	hash = hash_run(f, "out");
	remove_run(f, "out");
	return hash;
}

/* Compares a run on the CPU with one on the device, in the two modes in turn. */
static void check_same(const struct folder *f, const struct bits *b, const char *const set[2],
	const char *on_cpu, const char *on_device)
{
	static const char *const modes[] = {"staged", "fused"};
	static unsigned turn;

	if (run_list(f, set, "cpu", "auto", on_cpu) !=
		run_list(f, set, b->device, modes[turn++ % 2], on_device))
		fail_msg("%s, %s, deflate %s: the bytes of the files differ", set[0], set[1],
			on_device);
}

/* Plain records; gzip members compressed on the device; gzip members compressed by threads of the host. */
static void check_list(const struct folder *f, const struct bits *b, const char *precision)
{
	const char *const plain[] = {"output.format=mcpl", precision};
	const char *const gzipped[] = {"output.format=mcpl.gz", precision};

	if (!sl_sampling_selects())
		return;
	check_same(f, b, plain, "auto", "auto");
	check_same(f, b, gzipped, "cpu", "device");
	check_same(f, b, gzipped, "libdeflate", "libdeflate");
}

/* The format npz also stores constant columns. */
static void check_npz(const struct folder *f, const struct bits *b)
{
	const char *const set[] = {"output.format=npz", "output.level=1"};

	check_same(f, b, set, "cpu", "device");
	check_same(f, b, set, "libdeflate", "libdeflate");
}

void same_bits_check_lists(const struct bits *b)
{
	struct folder f;

	folder_make(&f);
	for (int i = 0; i < LISTS; i++) {
		write_list(&f, b, lists[i]);
		check_list(&f, b, "output.mcpl.precision=single");
		check_list(&f, b, "output.mcpl.precision=double");
		if (!strstr(lists[i], "mcpl: {") && sl_sampling_selects())
			check_npz(&f, b);
	}
	folder_remove(&f);
}
