/*
 * mcpl_inputs.c - runs that read MCPL files: files of the reference implementation pass through
 * unchanged, on every device and with every batch size, in sequence, listed by name or by pattern.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "pipeline/text/yaml.h"
#include "tests/support/program/fixture.h"
#include "tests/support/formats/mcpl_lists.h"
#include "tests/support/program/program.h"

/* --- particles -------------------------------------------------------------------------------- */

/* Numbers are copied to the last bit; a NaN stays a NaN. */
static bool is_same(double found, double expected)
{
	return found == expected || (isnan(found) && isnan(expected));
}

static void expect_same(const struct sl_mcpl_particle *found,
	const struct sl_mcpl_particle *expected, const char *name)
{
	bool same = found->pdg == expected->pdg && found->flags == expected->flags &&
	            is_same(found->energy, expected->energy) &&
	            is_same(found->time, expected->time) &&
	            is_same(found->weight, expected->weight);

	for (int i = 0; i < 3; i++)
		same = same && is_same(found->position[i], expected->position[i]) &&
		       is_same(found->polarisation[i], expected->polarisation[i]) &&
		       is_same(found->direction[i], expected->direction[i]);
	if (!same)
		fail_msg(
			"%s: a particle with z %.17g, energy %.17g, code %d was written with %.17g, "
			"%.17g, %d",
			name, expected->position[2], expected->energy, expected->pdg,
			found->position[2], found->energy, found->pdg);
}

/* Checks that the files t_000000 to t_00000n-1 in out hold the particles of name, in order. */
static void expect_particles(const char *out, const char *suffix, int n, const char *name)
{
	struct sl_mcpl_header expected_header, found_header;
	struct sl_mcpl_particle *expected = particles_of(&folder, name, &expected_header);
	uint64_t at = 0;

	for (int k = 0; k < n; k++) {
		char file[128];
		struct sl_mcpl_particle *found;

		snprintf(file, sizeof(file), "%s/t_%06d%s", out, k, suffix);
		found = particles_of(&folder, file, &found_header);
		assert_int_equal(found_header.flags, expected_header.flags);
		assert_int_equal(found_header.polarised, expected_header.polarised);
		assert_int_equal(found_header.pdg, expected_header.pdg);
		assert_true(found_header.weight == expected_header.weight);
		for (uint64_t i = 0; i < found_header.particles; i++)
			expect_same(&found[i], &expected[at++], name);
		free(found);
	}
	assert_int_equal(at, expected_header.particles);
	free(expected);
}

/* --- pass through unchanged ------------------------------------------------------------------- */

/* Files that the reference implementation reads. */
static const char *const reference_files[] = {"reffile_1.mcpl", "reffile_2.mcpl", "reffile_3.mcpl",
	"reffile_4.mcpl", "reffile_5.mcpl", "reffile_6.mcpl", "reffile_7.mcpl", "reffile_8.mcpl",
	"reffile_crash.mcpl", "reffile_notreallygz.mcpl.gz", "example.mcpl", "miscphys.mcpl.gz",
	"ref_statsum.mcpl.gz", "difficult_unitvector.mcpl.gz"};
enum { N_REFERENCE_FILES = sizeof(reference_files) / sizeof(reference_files[0]) };

TEST(reference_files_pass_through_unchanged)
{
	for (int k = 0; k < N_REFERENCE_FILES; k++) {
		struct sl_mcpl_header h;
		char batch[64];
		int n;

		copy_reference_list(&folder, reference_files[k]);
		free(particles_of(&folder, reference_files[k], &h));
		assert_true(h.particles > 0);
		snprintf(batch, sizeof(batch), ", batch: %d", (int)(h.particles + 2) / 3);
		n = (int)((h.particles + (h.particles + 2) / 3 - 1) / ((h.particles + 2) / 3));
		write_list_config(
			&folder, reference_files[k], batch, "listed", "output: {format: mcpl}\n");
		expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "p", "--quiet"));
		expect_particles("p", ".mcpl", n, reference_files[k]);
		expect(&folder, SL_OK, "", WORDS("verify", "p", "--quiet"));
		write_list_config(&folder, reference_files[k], batch, "listed",
			"output: {format: mcpl.gz, mcpl: {precision: double}}\n");
		expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "z", "--quiet"));
		expect_particles("z", ".mcpl.gz", n, reference_files[k]);
		/* the output is a valid input */
		write_list_config(
			&folder, "p/t_000000.mcpl", "", "listed", "output: {format: mcpl}\n");
		expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "again", "--quiet"));
		expect_particles("again", ".mcpl", 1, "p/t_000000.mcpl");
		remove_run(&folder, "p");
		remove_run(&folder, "z");
		remove_run(&folder, "again");
	}
}

/* --- batches and devices ---------------------------------------------------------------------- */

#define MIXED                                                                                 \
	"example.mcpl, miscphys.mcpl.gz, reffile_5.mcpl, ref_statsum.mcpl.gz, example.mcpl, " \
	"miscphys.mcpl.gz"

static const char sorted[] =
	"key: [pdg:32, ekin_log:16]\ntallies: [w:10, pdg:32]\noutput: {format: npz}\n";

static void copy_mixed_lists(void)
{
	copy_reference_list(&folder, "example.mcpl");
	copy_reference_list(&folder, "miscphys.mcpl.gz");
	copy_reference_list(&folder, "reffile_5.mcpl");
	copy_reference_list(&folder, "ref_statsum.mcpl.gz");
}

TEST(every_device_gives_the_same_files)
{
	static const char *const sets[][2] = {{"run.device=cpu", "run.threads=1"},
		{"run.device=cpu", "run.threads=3"}, {"run.device=emulated", "run.mode=fused"},
		{"run.device=emulated", "run.mode=staged"}};
	uint64_t hash = 0;

	copy_mixed_lists();
	write_list_config(&folder, MIXED, ", batch: 300",
		"ekin > 1 keV and abs(x) < 60 cm and (pdg == 22 or not pdg < 2000)", sorted);
	for (int k = 0; k < 4; k++) {
		uint64_t now;

		expect(&folder, SL_OK, "",
			WORDS("run", "c.yaml", "--out", "d", "--quiet", "--set", sets[k][0],
				"--set", sets[k][1]));
		expect(&folder, SL_OK, "", WORDS("verify", "d", "--quiet"));
		now = hash_run(&folder, "d");
		hash = k == 0 ? now : hash;
		assert_true(now == hash);
		remove_run(&folder, "d");
	}
	expect(&folder, SL_OK, "", WORDS("compare", "c.yaml", "--quiet"));
}

/* Batch boundaries fall inside files, and file boundaries fall inside batches. */
TEST(files_are_read_in_sequence)
{
	static const char *const files[] = {"example.mcpl", "miscphys.mcpl.gz", "reffile_5.mcpl",
		"ref_statsum.mcpl.gz", "example.mcpl", "miscphys.mcpl.gz"};
	struct sl_mcpl_particle *found = NULL, *expected;
	struct sl_mcpl_header h, of_batch = {.particles = 0};
	uint64_t at = 0;
	int batch = 0;

	copy_mixed_lists();
	write_list_config(
		&folder, MIXED, ", batch: 70, threads: 3", "listed", "output: {format: mcpl}\n");
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "f", "--quiet"));
	for (int k = 0; k < 6; k++) {
		expected = particles_of(&folder, files[k], &h);
		for (uint64_t i = 0; i < h.particles; i++, at++) {
			char name[64];

			if (at == of_batch.particles) {
				free(found);
				snprintf(name, sizeof(name), "f/t_%06d.mcpl", batch++);
				found = particles_of(&folder, name, &of_batch);
				at = 0;
			}
			expect_same(&found[at], &expected[i], files[k]);
		}
		free(expected);
	}
	free(found);
	assert_int_equal(at, of_batch.particles);
	assert_int_equal(batch, 36);
}

/* A prefix of the particles with another batch size gives the same particles. */
TEST(run_can_read_the_first_particles_only)
{
	struct sl_manifest m;

	copy_mixed_lists();
	write_list_config(&folder, MIXED, ", batch: 300, particles: 1010", "listed",
		"output: {format: csv.gz}\n");
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "few", "--quiet"));
	read_manifest(&folder, "few", &m);
	assert_int_equal(m.n, 4);
	assert_int_equal(m.line[3].generated, 110);
	sl_manifest_free(&m);
	write_list_config(&folder, MIXED, ", particles: 1e9", "listed", "");
	expect(&folder, SL_USAGE,
		"run.particles: is 1000000000, but the files contain 2507 particles",
		WORDS("run", "c.yaml", "--out", "many", "--quiet"));
}

/* --- patterns --------------------------------------------------------------------------------- */

enum { MANY = 4096 };

/* Creates a second name for a file. */
static void add_link(const char *file, const char *name)
{
	assert_int_equal(0, symlink(file, folder_path(&folder, name)));
}

/* Plain and gzip files alternate; matches are sorted by bytes, not in the order of glob(). */
TEST(patterns_expand_to_files)
{
	static const char *const names[] = {
		"many_B.mcpl", "many_C.mcpl.gz", "many_a.mcpl", "many_b.mcpl.gz", "many_c.mcpl"};
	struct sl_mcpl_particle *found = NULL, *expected;
	struct sl_mcpl_header h, of_batch;
	uint64_t at = 0;

	copy_mixed_lists();
	for (int i = 4; i >= 0; i--)
		add_link(i % 2 == 0 ? "reffile_5.mcpl" : "miscphys.mcpl.gz", names[i]);
	write_text(&folder, "many_[x].mcpl",
		"a file that exists is read, although its name looks like a pattern");
	write_list_config(&folder, "\"many_?.mcpl*\", example.mcpl", ", threads: 3, batch: 100",
		"listed", "output: {format: mcpl, joined: true}\n");
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "g", "--quiet"));
	found = particles_of(&folder, "g/t.mcpl", &of_batch);
	for (int i = 0; i < 6; i++) {
		expected = particles_of(&folder, i < 5 ? names[i] : "example.mcpl", &h);
		for (uint64_t k = 0; k < h.particles; k++)
			expect_same(&found[at++], &expected[k], i < 5 ? names[i] : "example.mcpl");
		free(expected);
	}
	assert_int_equal(at, of_batch.particles);
	free(found);
	expect(&folder, SL_OK, "", WORDS("verify", "g", "--quiet"));
	copy_reference_list(&folder, "reffile_1.mcpl");
	assert_int_equal(0, unlink(folder_path(&folder, names[4])));
	add_link("reffile_1.mcpl", names[4]);
	expect(&folder, SL_BAD_INPUT, "many_?.mcpl* was changed (its CRC-32 is",
		WORDS("verify", "g", "--quiet"));
	expect_list_refused(&folder, "\"many_[x].mcpl\"", SL_BAD_INPUT,
		"many_[x].mcpl: it does not begin with MCPL");
	expect_list_refused(&folder, "\"few_*\"", SL_USAGE,
		"model.list.files[0]: 'few_*' is not a file, and as a pattern");
}

TEST(many_files_are_read)
{
	char name[64], *out;

	copy_reference_list(&folder, "reffile_1.mcpl");
	for (int i = 0; i <= MANY; i++) {
		snprintf(name, sizeof(name), "f%04d.mcpl", i);
		add_link("reffile_1.mcpl", name);
	}
	write_list_config(&folder, "\"f????.mcpl\"", "", "listed", "output: {format: npz}\n");
	expect(&folder, SL_USAGE, "brings the number of files to 4097: at most 4096",
		WORDS("plan", "c.yaml"));
	assert_int_equal(0, unlink(folder_path(&folder, "f4096.mcpl")));
	out = output_of(&folder, WORDS("plan", "c.yaml"));
	assert_non_null(strstr(out, "f0015.mcpl: 5 particles; it holds doubles"));
	assert_null(strstr(out, "f0016.mcpl"));
	assert_non_null(strstr(out, "and 4080 other files\n"));
	assert_non_null(strstr(out, "MiB of this for input lists, which are open already\n"));
	assert_non_null(strstr(out, ": 20480 particles"));
	free(out);
}

/* --- resume ----------------------------------------------------------------------------------- */

/*
 * Checks what run.json records about the second of the six input files: the checksum by zlib, the
 * header by the reference implementation.
 */
static void check_provenance(const char *out)
{
	size_t bytes;
	char *file = reference_list("miscphys.mcpl.gz", &bytes), crc[16];
	struct sl_yaml *tree = report_of(&folder, out);
	sl_node inputs = sl_yaml_get(tree, sl_yaml_root(tree), "inputs"), second;
	uint64_t value;

	assert_int_equal(sl_yaml_size(tree, inputs), 6);
	second = sl_yaml_item(tree, inputs, 1, NULL);
	assert_string_equal(
		sl_yaml_text(tree, sl_yaml_get(tree, second, "file"), NULL), "miscphys.mcpl.gz");
	assert_true(sl_yaml_u64(tree, sl_yaml_get(tree, second, "bytes"), &value));
	assert_int_equal(value, bytes);
	assert_true(sl_yaml_u64(tree, sl_yaml_get(tree, second, "particles"), &value));
	assert_int_equal(value, 195);
	assert_true(sl_yaml_u64(tree, sl_yaml_get(tree, second, "first_id"), &value));
	assert_int_equal(value, 1006);
	snprintf(crc, sizeof(crc), "%08lx", crc32(0, (const unsigned char *)file, (unsigned)bytes));
	assert_string_equal(sl_yaml_text(tree, sl_yaml_get(tree, second, "crc32"), NULL), crc);
	sl_yaml_free(tree);
	free(file);
}

TEST(interrupted_runs_resume)
{
	static const char *const lost[] = {"r/t_000001.npz", "r/t_000004.npz", "r/t_000005.npz"};
	uint64_t hash;

	copy_mixed_lists();
	write_list_config(
		&folder, MIXED, ", batch: 300", "listed and w > 0", "output: {format: npz}\n");
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "r", "--quiet"));
	check_provenance("r");
	hash = hash_run(&folder, "r");
	for (int k = 0; k < 3; k++)
		assert_int_equal(0, unlink(folder_path(&folder, lost[k])));
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "r", "--quiet", "--resume"));
	assert_true(hash_run(&folder, "r") == hash);
}

/* A run never removes its own input files, whether listed by name or matched by a pattern. */
TEST(inputs_are_not_overwritten)
{
	static const struct {
		const char *file,
			*stays; /* the input; another file of the old run that must stay */
	} old[] = {{"o/t_000002.mcpl", "o/t_000000.mcpl"}, {"o/t.mcpl", "o/t_000000.mcpl"},
		{"link.mcpl", "o/t_000001.mcpl"}};
	char text[128];

	copy_reference_list(&folder, "miscphys.mcpl.gz");
	write_list_config(&folder, "miscphys.mcpl.gz", ", batch: 70", "listed",
		"output: {format: mcpl, joined: true}\n");
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "o", "--quiet"));
	add_link("o/t_000002.mcpl", "link.mcpl");
	for (int k = 0; k < 3; k++) {
		const char *name = k == 2 ? old[0].file : old[k].file;

		/* with a new output name the files of the existing run are removed as well */
		write_list_config(&folder, old[k].file, "", "listed", "output: {format: npz}\n");
		snprintf(
			text, sizeof(text), "%s: is an input of this run, and --force would", name);
		expect(&folder, SL_OUTPUT_IN_USE, text,
			WORDS("run", "c.yaml", "--out", "o", "--quiet", "--force", "--set",
				"run.name=u"));
		assert_true(folder_has(&folder, name) && folder_has(&folder, old[k].stays));
		expect(&folder, SL_OK, "", WORDS("verify", "o", "--quiet"));
	}
	/* a name that only the new run uses, and a file of no run */
	assert_int_equal(
		0, rename(folder_path(&folder, "o/t.mcpl"), folder_path(&folder, "u.mcpl")));
	remove_run(&folder, "o");
	assert_int_equal(0, mkdir(folder_path(&folder, "o"), 0777));
	assert_int_equal(
		0, rename(folder_path(&folder, "u.mcpl"), folder_path(&folder, "o/t_000000.mcpl")));
	write_list_config(&folder, "o/t_000000.mcpl", "", "listed", "output: {format: mcpl}\n");
	expect(&folder, SL_OUTPUT_IN_USE, "o/t_000000.mcpl: is an input of this run",
		WORDS("run", "c.yaml", "--out", "o", "--quiet", "--force"));
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "o", "--quiet", "--force", "--set", "run.name=u"));
	expect(&folder, SL_OK, "", WORDS("verify", "o", "--quiet"));
}
