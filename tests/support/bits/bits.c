/* bits.c - see bits.h. */
#include "tests/support/bits/bits.h"

#include <stdio.h>
#include <stdlib.h>

#include "pipeline/batch_file/batch_file.h"
#include "pipeline/results/results.h"
#include "primitives/device/device.h"
#include "stages/formats/formats.h"
#include "tests/cases/sampling.h"
#include "tests/support/bits/bits_round.h"
#include "tests/support/configs/configs.h"
#include "tests/support/formats/mcpl_lists.h"
#include "tests/support/formats/phase_space_files.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"
#include "tests/support/runs/ranks_check.h"
#include "tests/support/runs/same_run.h"

enum { RANKS_MOST = 4 };

/* One thread of the host, without vector instructions; sizes for a GPU take all threads. */
static void compute_reference(void)
{
	struct bits_words w;

	bits_begin(&w, "whole", bits_round.particles, bits_round.batch);
	bits_add(&w, "--device cpu");
	if (!bits_on_gpu()) {
		bits_add(&w, "SL_LEVEL=baseline");
		bits_add(&w, "--threads 1");
	}
	bits_add(&w, "$deflate-host");
	bits_step(&w, SL_OK);
	bits_command("verify whole --quiet", SL_OK);
}

/* --- how they come to their end --------------------------------------------------------------- */

/* Runs the first so many particles in a way that the rules of the table choose. */
static void compute(unsigned particles, unsigned batch, const char *more, int code)
{
	struct bits_words w;

	bits_begin(&w, "out", particles, batch);
	bits_add(&w, "$run");
	bits_add(&w, "%s", more);
	bits_step(&w, code);
}

static void resume(void)
{
	compute(bits_round.particles, bits_round.batch, "--resume", SL_OK);
}

static void at_once(void)
{
	compute(bits_round.particles, bits_round.batch, "", SL_OK);
}

/* The disk is full when the line of a batch is appended. */
static void after_full_disk(void)
{
	struct sl_manifest m;
	char fault[64];

	read_manifest(&folder, "whole", &m);
	snprintf(
		fault, sizeof(fault), "SL_FAULT=file_append:%u:28", 1 + bits_one_of((unsigned)m.n));
	sl_manifest_free(&m);
	compute(bits_round.particles, bits_round.batch, fault, SL_DISK);
	resume();
}

/* Truncates, flips or removes a file of a batch, or one made of all batches. */
static void damage(const char *name)
{
	char path[300];
	size_t bytes;
	char *file;

	snprintf(path, sizeof(path), "out/%s", name);
	bits_tell("(damage %s)\n", path);
	file = folder_read(&folder, path, &bytes);
	switch (bits_one_of(3)) {
	case 0:
		folder_write(&folder, path, file, bytes / 2);
		break;
	case 1:
		folder_flip(&folder, path, 1 + bits_one_of(8), 10);
		break;
	default:
		assert_int_equal(remove(folder_path(&folder, path)), 0);
	}
	free(file);
}

static void after_damage(void)
{
	struct sl_manifest m;

	copy_run(&folder, "whole", "out");
	read_manifest(&folder, "out", &m);
	if (bits_one_of(2) == 0 || !*m.line[0].file.name) {
		keep_batches(&folder, "out", bits_one_of((unsigned)m.n));
		bits_tell("(batches)\n");
	} else {
		const struct sl_manifest_line *l = &m.line[bits_one_of((unsigned)m.n)];

		damage(*l->order.name && bits_one_of(3) == 0   ? l->order.name
			: *l->bins.name && bits_one_of(3) == 0 ? l->bins.name
							       : l->file.name);
	}
	sl_manifest_free(&m);
	bits_command("verify out", ANY_FAILURE);
	resume();
}

static void extended(void)
{
	compute(1 + bits_one_of(bits_round.particles - 1), bits_round.batch, "", SL_OK);
	resume();
}

/* Parts, each computed by another device, in any order. */
static void in_parts(void)
{
	unsigned most = bits_round.batches < 5 ? bits_round.batches : 5, of = 1 + bits_one_of(most);
	unsigned first = bits_one_of(of);

	for (unsigned i = 0; i < of; i++) {
		struct bits_words w;

		bits_begin(&w, "parts", bits_round.particles, bits_round.batch);
		bits_add(&w, "$run");
		bits_add(&w, "--part %u/%u", 1 + (first + i) % of, of);
		bits_step(&w, SL_OK);
	}
	bits_command("join parts --out out --quiet", SL_OK);
	remove_run(&folder, "parts");
}

static void as_ranks(void)
{
	struct ranks_command c;
	struct bits_words w;

	bits_begin(&w, "out", bits_round.particles, bits_round.batch);
	bits_add(&w, "$run");
	bits_tell_words(&w);
	for (size_t i = 0; w.env[i]; i++)
		putenv((char *)(uintptr_t)w.env[i]);
	ranks_command(1 + bits_one_of(RANKS_MOST), NULL, w.word, &c);
	expect_command(&c, SL_OK, "");
	unsetenv("SL_LEVEL");
	unsetenv("SL_EMULATOR");
}

/* --- other batches ---------------------------------------------------------------------------- */

/* Adds a sum over the rows of a table that does not depend on their order. */
static uint64_t hash_rows(const struct sl_table *t)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < t->n; i++) {
		uint64_t hash = 0xcbf29ce484222325u;

		for (uint32_t k = 0; k < t->n_columns; k++) {
			const struct sl_table_column *c = &t->column[k];
			uint32_t bytes = sl_column_facts[c->column].bytes;
			const unsigned char *at = (const unsigned char *)c->data +
			                          (c->constant ? 0 : (size_t)i * bytes);

			for (uint32_t b = 0; b < bytes; b++)
				hash = (hash ^ at[b]) * 0x100000001b3u;
		}
		sum += hash;
	}
	return sum;
}

static uint64_t hash_survivors(const char *out)
{
	struct sl_manifest m;
	uint64_t sum = 0;

	read_manifest(&folder, out, &m);
	for (size_t i = 0; i < m.n && *m.line[i].file.name; i++) {
		struct sl_survivors s;
		char name[300];

		snprintf(name, sizeof(name), "%s/%s", out, m.line[i].file.name);
		assert_ok(sl_survivors_read_columns(folder_path(&folder, name), NULL, &s));
		sum += hash_rows(&s.table);
		sl_survivors_free(&s);
	}
	sl_manifest_free(&m);
	return sum;
}

/* The same particles in batches of another size. */
static void in_other_batches(void)
{
	char *is, *should, name[2][64];

	compute(bits_round.particles, 1 + bits_round.particles / (1 + bits_one_of(20)), "", SL_OK);
	is = sums_of_run("out");
	should = sums_of_run("whole");
	if (strcmp(is, should) != 0)
		bits_fail("the size of a batch changes sums");
	free(is);
	free(should);
	if (hash_survivors("out") != hash_survivors("whole"))
		bits_fail("the size of a batch changes survivors");
	if (folder_has(&folder, "whole/t.png") && !is_same_file("out/t.png", "whole/t.png"))
		bits_fail("the size of a batch changes the image");
	if (strncmp(bits_round.format, "mcpl", 4) == 0 || !*bits_round_setting("output.order="))
		return;
	joined_name("out", bits_round.format, name[0]);
	joined_name("whole", bits_round.format, name[1]);
	if (!is_same_file(name[0], name[1]))
		bits_fail("the size of a batch changes the joined file");
}

/* --- all -------------------------------------------------------------------------------------- */

/* The ways to the end of a run, and the flags of configurations that have them not. */
static const struct {
	void (*run)(void);
	const char *without[4];
	bool other_files;
} ends[] = {
	{at_once, {NULL}, false},
	{after_full_disk, {"at-once"}, false},
	{after_damage, {"at-once"}, false},
	{in_parts, {"at-once"}, false},
	{extended, {"at-once", "list", "fixed"}, false},
	{in_other_batches, {"at-once", "stop", "fixed"}, true},
};

static void run_variant(void)
{
	size_t end = bits_one_of(sizeof(ends) / sizeof(ends[0]));
	const char *difference;

	for (const char *const *flag = ends[end].without; *flag && end > 0; flag++)
		if (bits_round_has(*flag))
			end = 0;
	if (bits_round.particles < 2 || bits_round.ranks)
		end = 0;
	if (bits_round.ranks)
		as_ranks();
	else
		ends[end].run();
	difference = ends[end].other_files ? NULL : difference_of_runs("out", "whole");
	if (difference)
		bits_fail(difference);
	/*
	 * equal files pass as those of the reference did; what else is in run.json is checked more
	 * rarely
	 */
	if (!ends[end].other_files && bits_one_of(4) == 0)
		bits_command("verify out --quiet", SL_OK);
	remove_run(&folder, "out");
}

static void run_line(const struct bits_line *line)
{
	const uint64_t one_in = sl_sampling_step(1);
	const unsigned rounds = one_in == 1 ? 12 : 1, variants = one_in >= 31       ? 1
	                                                         : bits_round.ranks ? 2
	                                                                            : 4;

	bits_round.line = line;
	bits_chance = bits_round.seed * 0x2545f4914f6cdd1du;
	for (const char *c = line->title; *c; c++)
		bits_chance = bits_chance * 31 + (unsigned char)*c;
	for (unsigned k = 0; k < rounds; k++) {
		struct sl_manifest m;
		uint64_t survivors = 0;

		bits_round_choose();
		compute_reference();
		read_manifest(&folder, "whole", &m);
		for (size_t i = 0; i < m.n; i++)
			survivors += m.line[i].survivors;
		sl_manifest_free(&m);
		if (survivors == 0 && !bits_round_has("empty") && !bits_round_has("shipped"))
			bits_fail("no survivors, so nothing is compared");
		for (unsigned v = 0; v < variants; v++)
			run_variant();
		remove_run(&folder, "whole");
	}
}

static void make_inputs(void)
{
	static const char *const lists[] = {"example.mcpl", "miscphys.mcpl.gz", "reffile_5.mcpl",
		"ref_statsum.mcpl.gz", "reffile_2.mcpl", "reffile_6.mcpl"};
	enum { N = 300 };

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		copy_reference_list(&folder, lists[i]);
	make_list(&folder, "none.mcpl",
		&(struct sl_mcpl_header){.version = 3, .single = true, .pdg = 22}, NULL, NULL);
	make_iaea(&folder, "a",
		&(struct iaea_facts){
			.n = N, .constant = {[2] = true}, .floats = 1, .longs = 2, .latch = true});
	make_iaea(&folder, "b",
		&(struct iaea_facts){.n = N, .big_endian = true, .constant = {[6] = true}});
	make_openmc(&folder, "s.h5", &(struct openmc_facts){.n = N});
	make_openmc(
		&folder, "c.h5", &(struct openmc_facts){.n = N, .coded = true, .no_time = true});
	write_text(&folder, "beam.yaml",
		"run: {name: beam, particles: 300, batch: 128}\n"
		"model: {source_detector: {detector: {type: disk, distance: 1 cm, radius: 1 cm}}}\n"
		"keep: hit or missed\noutput: {format: npz, columns: []}\n");
	expect(&folder, SL_OK, "", WORDS("run", "beam.yaml", "--out", "beam", "--quiet"));
}

void bits_run(const char *device, bool ranks)
{
	static struct bits_table table;
	const char *share = getenv("SLUICE_SHARE"), *only = getenv("SLUICE_LINE");
	struct sl_device first;
	struct folder root;
	char *text;
	size_t bytes;

	bits_round.device = device;
	bits_round.ranks = ranks;
	bits_round.seed = share ? strtoull(share, NULL, 10) : 0;
	assert_ok(sl_formats_start());
	sl_device_emulate(!bits_on_gpu());
	assert_ok(sl_device_use(0, &first)); /* so that its backends are known */
	snprintf(root.path, sizeof(root.path), "%.255s", source_root());
	text = folder_read(&root, "tests/end_to_end/bits/bits.txt", &bytes);
	bits_table_read(text, &table);
	bits_context.table = &table;
	make_inputs();
	for (size_t i = 0; i < table.lines; i++)
		if (!only || strcmp(only, table.line[i].title) == 0)
			run_line(&table.line[i]);
	free(text);
}
