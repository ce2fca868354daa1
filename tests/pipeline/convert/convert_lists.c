/* convert_lists.c - sluice convert of a list that another process changes meanwhile; a writer of lists that lacks records. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pipeline/convert/common/mcpl_writer.h"
#include "stages/formats/mcpl/mcpl.h"
#include "tests/support/formats/mcpl_lists.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

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
