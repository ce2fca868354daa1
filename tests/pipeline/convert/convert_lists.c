/*
 * convert_lists.c - sluice convert of MCPL files of other programs: copied unchanged, merged,
 * damaged, and converted to tables; tables converted to MCPL.
 */
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "pipeline/convert/common/mcpl_writer.h"
#include "pipeline/results/survivor_file.h"
#include "primitives/files/crc32.h"
#include "stages/formats/mcpl/mcpl.h"
#include "tests/support/program/convert_check.h"
#include "tests/support/program/fixture.h"
#include "tests/support/formats/mcpl_lists.h"
#include "tests/support/program/program.h"

/* --- lists ------------------------------------------------------------------------------------ */

/* A file of another program is compressed and decompressed: header and records keep their bytes. */
static void copy_unchanged(const char *name)
{
	size_t bytes;
	char *whole;

	copy_reference_list(&folder, name);
	whole = inflated(name, &bytes);
	folder_write(&folder, "was.mcpl", whole, bytes);
	free(whole);
	expect_same_inflated(convert(name, ".mcpl.gz"), "was.mcpl");
	assert_string_equal(convert("all.mcpl.gz", ".mcpl"), "all.mcpl");
	whole = folder_read(&folder, "all.mcpl", &bytes); /* the file is not compressed */
	assert_memory_equal(whole, "MCPL003L", 8);
	free(whole);
	expect_same_inflated("all.mcpl", "was.mcpl");
}

TEST(lists_are_copied_unchanged)
{
	static const char *const names[] = {"difficult_unitvector.mcpl.gz", "example.mcpl",
		"miscphys.mcpl.gz", "ref_statsum.mcpl.gz", "reffile_1.mcpl", "reffile_2.mcpl",
		"reffile_3.mcpl", "reffile_4.mcpl", "reffile_5.mcpl", "reffile_6.mcpl",
		"reffile_7.mcpl", "reffile_8.mcpl", "reffile_notreallygz.mcpl.gz"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		copy_unchanged(names[i]);
}

TEST(damaged_lists_are_reported)
{
	char *out, *list;
	size_t bytes;

	copy_reference_list(&folder, "reffile_truncated.mcpl");
	copy_reference_list(&folder, "reffile_crash.mcpl");
	expect(&folder, SL_BAD_INPUT,
		"reffile_truncated.mcpl: it ends before the end of the content that its header states",
		WORDS("convert", "reffile_truncated.mcpl", "--to", "no.mcpl"));
	assert_false(folder_has(&folder, "no.mcpl"));
	assert_false(folder_has(&folder, "no.mcpl.part"));
	out = output_of(&folder, WORDS("convert", "reffile_crash.mcpl", "--to", "crash.mcpl"));
	assert_non_null(strstr(out, "its 4 complete records are converted"));
	free(out);
	out = output_of(&folder, WORDS("convert", "reffile_crash.mcpl", "--to", "crash.npz"));
	assert_non_null(strstr(out, "its 4 complete records are converted"));
	free(out);
	list = inflated("crash.mcpl", &bytes);
	list = (char *)realloc(list, bytes + 1);
	list[bytes] = 0;
	folder_write(&folder, "after.mcpl", list, bytes + 1);
	free(list);
	for (int i = 0; i < 2; i++) {
		out = output_of(&folder,
			WORDS("convert", "after.mcpl", "--to", i ? "after.npz" : "front.mcpl"));
		assert_non_null(strstr(out, "the bytes after the last particle are ignored"));
		free(out);
	}
	expect_same_inflated("front.mcpl", "crash.mcpl");
	assert_int_equal(bytes, 155 + 4 * 68); /* header, records */
	write_text(
		&folder, "text.mcpl", "this is no list, though it has as many bytes as a header");
	expect(&folder, SL_BAD_INPUT, "does not begin with MCPL",
		WORDS("convert", "text.mcpl", "--to", "no.mcpl"));
	write_text(&folder, "empty.mcpl", "");
	expect(&folder, SL_BAD_INPUT, "too short for an MCPL header",
		WORDS("convert", "empty.mcpl", "--to", "no.mcpl"));
}

/*
 * The records of all files follow one header, and statistics sums are added: 5 twice, and
 * 1.2345678912345678e-201.
 */
TEST(lists_are_merged)
{
	size_t bytes, both;
	char *one, *two;

	copy_reference_list(&folder, "ref_statsum.mcpl.gz");
	expect(&folder, SL_OK, "",
		WORDS("convert", "ref_statsum.mcpl.gz", "--to", "one.mcpl", "--quiet"));
	expect(&folder, SL_OK, "",
		WORDS("convert", "ref_statsum.mcpl.gz", "one.mcpl", "--to", "two.mcpl", "--quiet"));
	expect(&folder, SL_USAGE, "the file is given twice",
		WORDS("convert", "ref_statsum.mcpl.gz", "ref_statsum.mcpl.gz", "--to", "no.mcpl"));
	one = inflated("one.mcpl", &bytes);
	two = inflated("two.mcpl", &both);
	assert_int_equal(both - bytes, 100 * 36);
	assert_int_equal(two[8], (char)200);
	assert_memory_equal(two + bytes, one + bytes - 3600, 3600);
	assert_memory_equal(two + bytes - 3600, one + bytes - 3600, 3600);
	expect_in(two, both, "stat:sum:BLA:                      10");
	expect_in(two, both, "stat:sum:some_stat_key: 2.4691357824691356e-201");
	free(one);
	free(two);
	copy_reference_list(&folder, "reffile_1.mcpl");
	copy_reference_list(&folder, "reffile_2.mcpl");
	expect(&folder, SL_BAD_INPUT, "its PDG code of all particles is not that of the first file",
		WORDS("convert", "reffile_1.mcpl", "reffile_2.mcpl", "--to", "no.mcpl"));
	assert_false(folder_has(&folder, "no.mcpl"));
}

/*
 * Starts a process that alternates the number of comments in a header between 0 and its value. A
 * reader that takes sizes from one state and strings from the other would overwrite memory.
 */
static pid_t begin_toggling(const char *path)
{
	uint32_t none = 0, all = 200;
	pid_t child = fork();
	int fd;

	if (child != 0)
		return child;
	fd = open(path, O_RDWR);
	while (pwrite(fd, &none, 4, 16) == 4 && pwrite(fd, &all, 4, 16) == 4)
		;
	_exit(1);
}

/* Does a copy have the comments of one state, and the record that follows them? */
static bool is_one_state(const char *name, char *list)
{
	size_t bytes;
	char *copy = folder_read(&folder, name, &bytes);
	bool same;

	list[16] = copy[16];
	same = memcmp(copy, list, bytes) == 0;
	free(copy);
	return same;
}

/*
 * Convert writes one of the two states of the list or refuses it; at least one change is detected. On
 * a machine with other work the two processes run at the same time in few of the tries.
 */
TEST(lists_that_change_are_refused)
{
	struct sl_mcpl_header h = {
		.version = 3, .particles = 1, .comments = 200, .single = true, .pdg = 22};
	const struct sl_mcpl_particle p = {.weight = 1};
	const char *strings[200];
	static char comment[1001];
	size_t bytes;
	char *list;
	int changed = 0, other = 0;
	char path[4096];
	pid_t child;

	memset(comment, 'c', 1000);
	for (int i = 0; i < 200; i++)
		strings[i] = comment;
	make_list(&folder, "toggled.mcpl", &h, strings, &p);
	snprintf(path, sizeof(path), "%s/toggled.mcpl", folder.path);
	list = folder_read(&folder, "toggled.mcpl", &bytes);
	child = begin_toggling(path);
	assert_true(child > 0);
	for (int i = 0; i < 60 || (changed == 0 && i < 6000); i++) {
		struct ending e;

		call(&folder, NULL,
			WORDS("convert", "toggled.mcpl", "--to", i % 2 ? "to.npz" : "to.mcpl",
				"--quiet"),
			&e);
		if (e.code == SL_OK && i % 2 == 0)
			other += !is_one_state("to.mcpl", list);
		changed += e.code == SL_DISK;
		other += e.code != SL_DISK && e.code != SL_OK;
		process_free(&e);
		snprintf(path, sizeof(path), "%s/to.%s", folder.path, i % 2 ? "npz" : "mcpl");
		unlink(path);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	free(list);
	assert_int_equal(other, 0);
	assert_true(changed > 0);
}

/*
 * A batch file that another program compressed is shorter than the header that this program stores,
 * although its size in the manifest is right.
 */
TEST(files_shorter_than_their_headers_are_refused)
{
	char text[2 * SL_MANIFEST_LINE_BYTES];
	struct sl_manifest m;
	size_t bytes, used = 0;
	char *file;
	Bytef *packed;
	z_stream z = {.zalloc = Z_NULL};

	write_text(&folder, "j.yaml",
		"run: {name: j, particles: 20, batch: 10, device: cpu}\n"
		"model: {slab: {mu_a: 1 /cm, mu_s: 1 /cm, thickness: 1 cm}}\n"
		"keep: [transmitted, reflected]\n"
		"output: {format: mcpl.gz, joined: true, mcpl: {energy: 2 eV}}\n");
	expect(&folder, SL_OK, "", WORDS("run", "j.yaml", "--out", "j"));
	expect(&folder, SL_OK, "", WORDS("verify", "j"));
	read_manifest(&folder, "j", &m);
	file = inflated("j/j_000000.mcpl.gz", &bytes);
	packed = (Bytef *)malloc(bytes + 1000);
	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 31, 9, 0), Z_OK);
	z.next_in = (Bytef *)file;
	z.avail_in = (uInt)bytes;
	z.next_out = packed;
	z.avail_out = (uInt)bytes + 1000;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	folder_write(&folder, "j/j_000000.mcpl.gz", packed, z.total_out);
	m.line[0].file_bytes = z.total_out;
	m.line[0].file_crc = sl_crc32(packed, z.total_out);
	for (size_t i = 0; i < m.n; i++)
		used += sl_manifest_print(&m.line[i], text + used);
	folder_write(&folder, "j/manifest.jsonl", text, used);
	expect(&folder, SL_CHECK_FAILED, "of its header, so this program did not write it",
		WORDS("verify", "j"));
	sl_manifest_free(&m);
	free(packed);
	free(file);
}

/* --- tables ----------------------------------------------------------------------------------- */

/* The sum of a column. */
static double sum_of(const struct sl_table *t, enum sl_column column)
{
	double sum = 0;

	for (uint32_t k = 0; k < t->n_columns; k++)
		for (uint32_t i = 0; t->column[k].column == column && i < t->n; i++)
			sum += (double)((const float *)t->column[k].data)[i];
	return sum;
}

/*
 * A table made from a list of another program has its numbers; the data that a table cannot hold is
 * reported.
 */
TEST(lists_of_other_programs_are_converted_to_tables)
{
	struct sl_survivors s;
	char *out;

	copy_reference_list(&folder, "reffile_6.mcpl");
	out = output_of(&folder, WORDS("convert", "reffile_6.mcpl", "--to", "six.npz"));
	assert_non_null(strstr(out, "5 particles of 1 file"));
	assert_non_null(strstr(out, "dropped: 4 comments, 1 blobs"));
	assert_non_null(strstr(out, "rounded: 8-byte numbers"));
	assert_non_null(strstr(out, "unknown: the run"));
	free(out);
	assert_ok(sl_survivors_read_path(folder_path(&folder, "six.npz"), &s));
	assert_int_equal(s.table.n, 5);
	/* from reference.txt: z of 0.1, 3.702 MeV, weights of 1 */
	assert_true(fabs(sum_of(&s.table, SL_COLUMN_z) - 0.1) < 1e-6);
	assert_true(fabs(sum_of(&s.table, SL_COLUMN_energy) - 3702) < 1e-3);
	assert_true(sum_of(&s.table, SL_COLUMN_weight) == 5);
	sl_survivors_free(&s);
	out = output_of(&folder, WORDS("convert", "six.npz", "--to", "six.mcpl"));
	assert_null(strstr(out, "assumed: the particles are photons"));
	free(out);
	out = output_of(&folder, WORDS("info", "six.mcpl"));
	assert_non_null(strstr(out, "stat:sum:sluice_generated:                      -1"));
	free(out);
}

/* Writes a csv.gz table with these rows of position, direction, energy, weight and time. */
static void write_rows(const char *name, const char *rows)
{
	gzFile f = gzopen(folder_path(&folder, name), "wb1");

	gzputs(f, "x,y,z,u,v,w,energy,weight,time\n");
	gzputs(f, rows);
	assert_int_equal(gzclose(f), Z_OK);
}

static void expect_info(const char *name, const char *expected)
{
	char *out = output_of(&folder, WORDS("info", name));

	if (!strstr(out, expected))
		fail_msg("%s: \"%s\" is not in\n%s", name, expected, out);
	free(out);
}

static void expect_weights(
	const char *name, double least, double mean, double rms, double most, double sum)
{
	char expected[128];

	snprintf(expected, sizeof(expected), "\nweight           %14.7g%14.7g%14.7g%14.7g%14.7g\n",
		least, mean, rms, most, sum);
	expect_info(name, expected);
}

/* If all particles have one weight, the header states it; otherwise each record does. */
TEST(weights_are_copied_and_summarised)
{
	write_rows("one.csv.gz", "1,2,3,0,0,1,5,1,0\n4,5,6,0,1,0,5,1,0\n");
	write_rows("uno.csv.gz", "1,2,3,0,0,1,5,1,0\n4,5,6,0,1,0,5,1,0\n");
	write_rows("two.csv.gz", "7,8,9,1,0,0,5,2,0\n");
	write_rows("both.csv.gz", "7,8,9,1,0,0,5,2,0\n7,8,9,1,0,0,5,4,0\n");
	write_rows("none.csv.gz", "");
	expect(&folder, SL_OK, "",
		WORDS("convert", "none.csv.gz", "one.csv.gz", "uno.csv.gz", "--to", "w1.mcpl"));
	expect_info(
		"w1.mcpl", "4 particles of 28 bytes, single precision, one PDG code, one weight");
	expect_weights("w1.mcpl", 1, 1, 0, 1, 4);
	expect(&folder, SL_OK, "",
		WORDS("convert", "one.csv.gz", "two.csv.gz", "none.csv.gz", "--to", "w2.mcpl"));
	expect_info("w2.mcpl", "3 particles of 32 bytes, single precision, one PDG code\n");
	expect_weights("w2.mcpl", 1, 4. / 3, sqrt(2. / 9), 2, 4);
	expect(&folder, SL_OK, "",
		WORDS("convert", "both.csv.gz", "two.csv.gz", "--to", "w3.mcpl.gz"));
	expect_weights("w3.mcpl.gz", 2, 8. / 3, sqrt(8. / 9), 4, 8);
	expect(&folder, SL_OK, "", WORDS("convert", "w2.mcpl", "--to", "w2.h5"));
	expect_info("w2.h5", "1      1.333333     0.4714045             2             4");
	expect(&folder, SL_OK, "", WORDS("convert", "none.csv.gz", "--to", "w0.mcpl"));
	expect_info("w0.mcpl", "0 particles of");
	expect(&folder, SL_OK, "", WORDS("convert", "none.csv.gz", "--to", "w0.h5"));
	expect_info("w0.h5", "0 survivors");
}

/* Writes so many records of a file whose header states 40000. Each of its members holds 32768. */
static enum sl_status write_some(const struct sl_format *format, const char *name, size_t n)
{
	static const uint8_t records[40000 * 32] = {0};
	static const atomic_int stop = 0;
	struct sl_convert_job job = {.force = true, .stop = &stop};
	struct sl_conversion c = {.job = &job,
		.format = format,
		.facts = {.deflate = &sl_deflate_libdeflate, .level = 1},
		.name = name,
		.particles = 40000};
	struct sl_mcpl_writer w;
	enum sl_status s;

	assert_ok(sl_dir_open(folder.path, false, &c.dir));
	assert_ok(sl_mcpl_writer_begin(&w, &c, "header", 6, 32));
	assert_ok(sl_mcpl_writer_add(&w, records, n * 32));
	s = sl_mcpl_writer_end(&w, 40000);
	sl_dir_close(&c.dir);
	return s;
}

TEST(missing_records_are_noticed)
{
	assert_ok(write_some(&sl_format_mcpl, "counted.mcpl", 40000));
	assert_ok(write_some(&sl_format_mcpl_gz, "counted.mcpl.gz", 40000));
	assert_fails(write_some(&sl_format_mcpl, "lost.mcpl", 39999), SL_INTERNAL,
		"39999 of 40000 values");
	assert_fails(write_some(&sl_format_mcpl_gz, "lost.mcpl.gz", 39999), SL_INTERNAL,
		"39999 of 40000 values");
	assert_false(folder_has(&folder, "lost.mcpl") || folder_has(&folder, "lost.mcpl.part"));
}
