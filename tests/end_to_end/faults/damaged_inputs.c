/*
 * damaged_inputs.c - MCPL inputs that are damaged before, during or after a run.
 *
 * Damage that is visible before the run is refused with a message. Damage during a run ends the run
 * before a wrong batch is committed. Changes after the run are reported.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "pipeline/config/reader/read_config.h"
#include "pipeline/plan/plan.h"
#include "stages/formats/common/gzip_stored.h"
#include "tests/support/program/fixture.h"
#include "tests/support/formats/mcpl_lists.h"
#include "tests/support/program/program.h"

/* --- before the run --------------------------------------------------------------------------- */

static void put_number(char *at, uint64_t number)
{
	memcpy(at, &number, sizeof(number));
}

TEST(damaged_files_are_refused)
{
	static uint8_t packed[1 << 17];
	size_t bytes;
	char *file;

	copy_reference_list(&folder, "reffile_truncated.mcpl");
	expect_list_refused(&folder, "reffile_truncated.mcpl", SL_BAD_INPUT,
		"reffile_truncated.mcpl: it ends before the end of the content that its header states");
	expect_list_refused(&folder, "nowhere.mcpl", SL_USAGE,
		"c.yaml:2:24: model.list.files[0]: cannot open nowhere.mcpl: No such file or "
		"directory (it does not exist); check the spelling; relative names start "
		"at the folder in which sluice runs");
	expect_list_refused(&folder, "/nowhere.mcpl", SL_USAGE, "check the spelling\n");
	expect_list_refused(&folder, "c.yaml", SL_BAD_INPUT, "c.yaml: it does not begin with MCPL");
	expect_list_refused(&folder, "[]", SL_USAGE,
		"model.list.files[0]: is a list, but a single value is needed");
	file = reference_list("example.mcpl", &bytes);
	put_number(file + 8, UINT64_C(1) << 63);
	folder_write(&folder, "many.mcpl.gz", packed,
		sl_gzip_store((const uint8_t *)file, bytes, packed));
	expect_list_refused(&folder, "many.mcpl.gz, many.mcpl.gz", SL_BAD_INPUT,
		"many.mcpl.gz: its header claims 9223372036854775808 particles, "
		"more than a run can have");
	put_number(file + 8, 1007);
	folder_write(&folder, "more.mcpl.gz", packed,
		sl_gzip_store((const uint8_t *)file, bytes, packed));
	expect_list_refused(&folder, "more.mcpl.gz", SL_BAD_INPUT,
		"more.mcpl.gz: particle 1006 of 1007, from 0 on (gunzip -c and then mcpltool "
		"--repair keep the particles before it): it ends before the end of the content that its header states");
	file[7] = 'B';
	folder_write(&folder, "big.mcpl", file, bytes);
	expect_list_refused(&folder, "big.mcpl", SL_BAD_INPUT,
		"big.mcpl: its numbers have the greatest byte first");
	free(file);
}

/*
 * 195 particles of 52 bytes follow a header of 152 bytes. The number of complete particles was
 * found with gunzip.
 */
TEST(damage_is_reported_before_the_run)
{
	size_t bytes;
	char *file = reference_list("miscphys.mcpl.gz", &bytes);

	folder_write(&folder, "short.mcpl.gz", file, bytes * 3 / 4);
	expect_list_refused(&folder, "short.mcpl.gz", SL_BAD_INPUT,
		"short.mcpl.gz: particle 132 of 195, from 0 on (gunzip -c and then mcpltool "
		"--repair keep the particles before it): the compressed data cannot be inflated");
	file[bytes / 2] ^= 0x10; /* the file inflates to more bytes than expected */
	folder_write(&folder, "wrong.mcpl.gz", file, bytes);
	expect_list_refused(&folder, "wrong.mcpl.gz", SL_BAD_INPUT,
		"wrong.mcpl.gz: the compressed data cannot be inflated (wrong checksum or length");
	file[bytes / 2] ^= 0x10;
	file[bytes - 8] ^= 1; /* a byte of the CRC */
	folder_write(&folder, "crc.mcpl.gz", file, bytes);
	expect_list_refused(&folder, "crc.mcpl.gz", SL_BAD_INPUT,
		"crc.mcpl.gz: the compressed data cannot be inflated (wrong checksum or length");
	copy_reference_list(&folder, "example.mcpl");
	expect_list_refused(&folder, "example.mcpl, wrong.mcpl.gz", SL_BAD_INPUT,
		"wrong.mcpl.gz: the compressed data");
	free(file);
}

/* A file whose writer did not finish is accepted, and the recovery is reported. */
TEST(recovery_is_reported)
{
	char *out;

	copy_reference_list(&folder, "reffile_crash.mcpl");
	write_list_config(&folder, "reffile_crash.mcpl", "", "listed", "");
	out = output_of(&folder, WORDS("plan", "c.yaml"));
	assert_non_null(strstr(out, "its writer stopped early, so only whole records are read"));
	free(out);
	out = output_of(&folder, WORDS("run", "c.yaml", "--out", "recovered"));
	assert_non_null(strstr(out, "reffile_crash.mcpl: 4 particles; the file is incomplete"));
	free(out);
	copy_reference_list(&folder, "miscphys.mcpl.gz");
	write_list_config(&folder, "miscphys.mcpl.gz", "", "listed", "");
	out = output_of(&folder, WORDS("run", "c.yaml", "--out", "complete"));
	assert_null(strstr(out, "miscphys"));
	free(out);
}

/*
 * A file that changes between the survey and the plan is detected, because the survey may be wrong.
 */
TEST(changes_after_the_survey_end_the_run)
{
	static struct sl_config c;
	static struct sl_choices choices;
	struct sl_plan *plan;
	struct sl_reader *r;
	char text[512];

	copy_reference_list(&folder, "miscphys.mcpl.gz");
	snprintf(text, sizeof(text),
		"run: {name: t, device: cpu}\nmodel: {list: {files: [%s]}}\nkeep: listed\n",
		folder_path(&folder, "miscphys.mcpl.gz"));
	assert_ok(sl_config_open_text("t", text, strlen(text), NULL, 0, &c, &r));
	assert_ok(sl_resolve(&c, r, &choices));
	sl_config_close(r);
	assert_ok(sl_plan_make(&c, &choices, &plan));
	sl_plan_free(plan);
	sleep_for(0.02); /* timestamps of file systems may advance in steps of some milliseconds */
	copy_reference_list(&folder, "miscphys.mcpl.gz");
	assert_fails(sl_plan_make(&c, &choices, &plan), SL_DISK, "were written to since they");
	sl_plan_free(plan);
}

/* --- during the run --------------------------------------------------------------------------- */

/* An input, and its damage after the third batch is committed. */
struct input_damage {
	void (*write_input)(void), (*damage)(void);
	const char *message; /* of the run that meets the damage */
};

/* Runs c.yaml into "damaged" until it ends. */
static void run_and_damage(const struct input_damage *h, const char *threads, struct ending *e)
{
	const struct process p = {.folder = folder.path,
		.argv = WORDS(
			"run", "c.yaml", "--out", "damaged", "--quiet", "--threads", threads)};
	struct running running;

	h->write_input();
	process_start(&p, &running);
	for (double until = seconds_now() + 60;
		!folder_has(&folder, "damaged/t_000002.npz") && seconds_now() < until;)
		sleep_for(0.0005);
	h->damage();
	process_wait(&running, HANG_SECONDS, e);
}

/* The run ends with a message. If the run finished before the damage, it is started again. */
static void check_damage_ends_the_run(const struct input_damage *h, const char *threads)
{
	struct ending e;

	run_and_damage(h, threads, &e);
	for (int tries = 20; e.code == SL_OK && tries > 0; tries--) {
		process_free(&e);
		remove_run(&folder, "damaged");
		run_and_damage(h, threads, &e);
	}
	expect_ending(&e, SL_DISK, h->message, WORDS("run", "c.yaml", "--out", "damaged"));
}

/* With the restored file the run resumes: committed batches equal those of an undamaged run. */
static void check_resume_after_repair(const struct input_damage *h, uint64_t undamaged)
{
	h->write_input();
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "damaged", "--quiet", "--resume"));
	assert_true(hash_run(&folder, "damaged") == undamaged);
	remove_run(&folder, "damaged");
}

static void copy_example(void)
{
	copy_reference_list(&folder, "example.mcpl");
}

static void truncate_example(void)
{
	assert_int_equal(0, truncate(folder_path(&folder, "example.mcpl"), 0));
}

/* Truncating an input during a run ends the run in order: committed batches stay. */
TEST(truncation_during_a_run_ends_it)
{
	static const struct input_damage shortened = {
		copy_example, truncate_example, "became shorter"};
	uint64_t undamaged;

	copy_example();
	write_list_config(
		&folder, "example.mcpl", ", batch: 4", "listed", "output: {format: npz}\n");
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "stayed", "--quiet"));
	undamaged = hash_run(&folder, "stayed");
	check_damage_ends_the_run(&shortened, "1");
	check_resume_after_repair(&shortened, undamaged);
}

enum { LONG = 16384, DAMAGED = 64 };

/* A gzip file with more particles than the window of the inflater holds. */
static void write_long_list(void)
{
	static struct sl_mcpl_particle p[LONG];
	const struct sl_mcpl_header h = {
		.version = 3, .particles = LONG, .single = true, .weight = 1, .pdg = 22};
	uint32_t at = 1;
	size_t bytes;
	char *file;
	gzFile z;

	for (int i = 0; i < LONG; i++)
		p[i] = (struct sl_mcpl_particle){
			.position = {next_random(&at), 0, 0}, .direction = {0, 0, 1}};
	make_list(&folder, "plain.mcpl", &h, NULL, p);
	file = folder_read(&folder, "plain.mcpl", &bytes);
	z = gzopen(folder_path(&folder, "long.mcpl.gz"), "wb");
	assert_int_equal(gzwrite(z, file, (unsigned)bytes), (int)bytes);
	assert_int_equal(gzclose(z), Z_OK);
	free(file);
}

/* Overwrites some bytes in place at three quarters of the file. */
static void overwrite_long_list(void)
{
	int fd = open(folder_path(&folder, "long.mcpl.gz"), O_WRONLY);
	char damage[DAMAGED];

	memset(damage, 0xff, sizeof(damage));
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, damage, DAMAGED, lseek(fd, 0, SEEK_END) * 3 / 4), DAMAGED);
	assert_int_equal(close(fd), 0);
}

/* The run ends before it commits a batch with damaged particles. */
TEST(damage_during_the_run_ends_it)
{
	static const struct input_damage overwritten = {write_long_list, overwrite_long_list,
		"long.mcpl.gz: the file became shorter or changed while"};
	static const char *const threads[] = {"1", "3"};
	uint64_t undamaged;

	write_long_list();
	write_list_config(
		&folder, "long.mcpl.gz", ", batch: 70", "x > 0.25 cm", "output: {format: npz}\n");
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "undamaged", "--quiet"));
	undamaged = hash_run(&folder, "undamaged");
	for (int k = 0; k < 2; k++) {
		check_damage_ends_the_run(&overwritten, threads[k]);
		expect(&folder, SL_BAD_INPUT, "long.mcpl.gz: particle ",
			WORDS("run", "c.yaml", "--out", "damaged", "--quiet", "--resume"));
		check_resume_after_repair(&overwritten, undamaged);
	}
}

/* --- after the run ---------------------------------------------------------------------------- */

/* One changed byte of an input: --resume is refused, and verify reports the output. */
TEST(changed_inputs_are_reported)
{
	size_t bytes;
	char *file;

	copy_reference_list(&folder, "miscphys.mcpl.gz");
	copy_reference_list(&folder, "example.mcpl");
	write_list_config(&folder, "miscphys.mcpl.gz, example.mcpl", ", batch: 300", "listed",
		"output: {format: npz}\n");
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "n", "--quiet"));
	expect(&folder, SL_OK, "", WORDS("verify", "n", "--quiet"));
	file = reference_list("example.mcpl", &bytes);
	file[bytes - 5] ^= 1;
	folder_write(&folder, "example.mcpl", file, bytes);
	free(file);
	expect(&folder, SL_BAD_INPUT, "example.mcpl was changed (its CRC-32 is",
		WORDS("verify", "n", "--quiet"));
	expect(&folder, SL_OUTPUT_IN_USE, "checksums: [",
		WORDS("run", "c.yaml", "--out", "n", "--quiet", "--resume"));
}
