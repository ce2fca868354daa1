/*
 * environment.c - conditions around a run: another run in the folder, too little memory or disk
 * space, working directory, start method, and a terminal.
 */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/basic/small_disk.h"
#include "tests/support/program/commands_check.h"

/* --- a concurrent run ---------------------------------------------------------------------- */

TEST(second_run_in_a_folder_is_refused)
{
	static const char *const options[] = {"--quiet", "--resume", "--force"};
	const struct process p = {
		.argv = WORDS("run", "slow.yaml", "--out", "out"), .folder = folder.path};
	struct running r;
	struct ending e;
	char pid[32];

	write_slow(&folder, "slow.yaml");
	process_start(&p, &r);
	for (int i = 0; i < 10000 && !folder_has(&folder, "out/run.json"); i++)
		sleep_for(1e-3);
	snprintf(pid, sizeof(pid), "%d", (int)r.pid);
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		expect(&folder, SL_OUTPUT_IN_USE, pid,
			WORDS("run", "slow.yaml", "--out", "out", options[i]));
	kill(r.pid, SIGKILL);
	process_wait(&r, 10, &e);
	process_free(&e);
	/* the lock of a dead process does not block */
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "out", "--force"));
	assert_int_equal(hash_run(&folder, "out"), reference_hash);
	remove_run(&folder, "out");
	unlink(folder_path(&folder, "slow.yaml"));
	expect_untouched();
}

/* --- too little memory or disk space ------------------------------------------------------- */

#if !defined(__SANITIZE_ADDRESS__) && \
	!defined(__SANITIZE_THREAD__) /* sanitizers reserve a large address space */
/* True if the loader of libraries crashes for lack of memory, before the program starts. */
static bool cannot_start(unsigned long bytes)
{
	const struct process p = {
		.argv = WORDS("--version"), .folder = folder.path, .memory_bytes = bytes};
	struct ending e;
	bool crashed;

	process_run(&p, HANG_SECONDS, &e);
	crashed = e.signal == SIGSEGV;
	process_free(&e);
	return crashed;
}

TEST(memory_limit_is_reported)
{
	const char *const *words = WORDS("run", "c.yaml", "--out", "out", "--set",
		"run.particles=2e7", "--set", "run.batch=2e7", "--set", "run.threads=1");
	struct process p = {.argv = words, .folder = folder.path, .memory_bytes = 400UL << 20};
	struct ending e;

	process_run(&p, HANG_SECONDS, &e);
	assert_non_null(strstr(e.err, "MiB are free"));
	expect_ending(&e, SL_HOST_MEMORY, "GiB of memory", words);
	expect_untouched();
	/* at any limit: a finished run or an error, and committed files are valid */
	p.argv = words = WORDS("run", "c.yaml", "--out", "out", "--resume", "--quiet");
	for (unsigned long mib = 24; mib <= 160; mib += 4) {
		p.memory_bytes = mib << 20;
		process_run(&p, HANG_SECONDS, &e);
		/* 127: the loader could not load the libraries */
		if (e.code != SL_OK && e.code != SL_HOST_MEMORY && e.code != 127 &&
			!(e.signal == SIGSEGV && cannot_start(p.memory_bytes)))
			fail_msg("with %lu MiB: %d and %s", mib, e.code, e.err);
		process_free(&e);
		if (folder_has(&folder, "out"))
			expect(&folder, SL_OK, "", words);
		remove_run(&folder, "out");
	}
	expect_untouched();
}

#endif

/* With any number of open files: a finished run, or an error and a run that can be resumed. */
TEST(limit_of_open_files_is_reported)
{
	unsigned failed = 0;

	for (unsigned files = 4; files <= 16; files++) {
		char line[128];
		const char *const words[] = {"sh", "-c", line, NULL};
		const struct process p = {.argv = words, .folder = folder.path};
		struct ending e;

		snprintf(line, sizeof(line),
			"ulimit -n %u; exec $SLUICE run c.yaml --out out --quiet", files);
		process_run(&p, HANG_SECONDS, &e);
		/* 127: the loader could not open the libraries */
		if (e.code == SL_OK || e.code == 127) {
			process_free(&e);
		} else {
			expect_ending(&e, SL_DISK, "raise ulimit -n", words);
			failed++;
		}
		expect(&folder, SL_OK, "",
			WORDS("run", "c.yaml", "--out", "out", "--quiet", "--resume"));
		assert_int_equal(hash_run(&folder, "out"), reference_hash);
		remove_run(&folder, "out");
	}
	assert_in_range(failed, 1, 12);
	expect_untouched();
}

TEST(little_disk_space_is_reported)
{
	char small[PATH_MAX];

	snprintf(small, sizeof(small), "%s", folder_path(&folder, "small"));
	small_disk_mount(small, "size=2m");
	expect(&folder, SL_DISK, "are free",
		WORDS("run", "c.yaml", "--out", "small/out", "--set", "run.particles=1e6", "--set",
			"run.batch=1e5"));
	assert_false(folder_has(&folder, "small/out"));
	/* files that are already on the disk need no further space */
	assert_int_equal(small_disk_change(small, "size=6m"), 0);
	shell(0, "",
		"set -e;"
		"$SLUICE run c.yaml --out small/out --quiet --set run.particles=30000;"
		"rm small/out/t_000009.h5;"
		"head -c $(($(df --output=avail -B1 small | tail -1) - 1000000)) /dev/zero "
		">small/fill;"
		"$SLUICE run c.yaml --out small/out --quiet --set run.particles=30000 --resume;"
		"$SLUICE verify small/out --quiet");
	small_disk_unmount(small);
	expect_untouched();
}

/* If the summary cannot be written, the exit code is not success. */
TEST(full_stdout_is_reported)
{
	static const char *const lines[] = {"list", "list --json", "help", "--version",
		"plan c.yaml", "run c.yaml --print-config", "verify whole", "verify whole --json",
		"info whole/t_000000.h5", "run c.yaml --out out", "run c.yaml --out out --json"};
	char line[256];

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		snprintf(line, sizeof(line), "$SLUICE %s >/dev/full", lines[i]);
		shell(SL_DISK, "stdout: No space left on device", line);
		if (strstr(lines[i], "--out"))
			remove_run(&folder, "out");
	}
	shell(0, "", "$SLUICE run c.yaml --out out --quiet >/dev/full");
	assert_int_equal(hash_run(&folder, "out"), reference_hash);
	remove_run(&folder, "out");
	expect_untouched();
}

/* If the reader closes the pipe early, as head does: no message, and the exit code of SIGPIPE. */
/* Nobody reads the pipe when the program starts. With `| true`, the reader may not have ended when
 * the program writes, and then nothing fails. */
TEST(closed_stdout_ends_quietly)
{
	shell(0, "", "mkfifo pipe");
	shell(141, "", "exec 3<>pipe 4>pipe 3<&-; rm pipe; $SLUICE list >&4; exit $?");
	shell(0, "", "mkfifo pipe");
	shell(141, "", "exec 3<>pipe 4>pipe 3<&-; rm pipe; $SLUICE help run >&4; exit $?");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they need larger stacks */
/* A low soft limit of the stack is raised; a low hard limit is reported. */
TEST(low_stack_limit_is_raised)
{
	shell(0, "", "ulimit -Ss 64; exec $SLUICE run c.yaml --out out --quiet");
	assert_int_equal(hash_run(&folder, "out"), reference_hash);
	remove_run(&folder, "out");
	shell(SL_HOST_MEMORY, "the stack is limited to 100 KiB",
		"ulimit -s 100; exec $SLUICE run c.yaml --out out --quiet");
	expect_untouched();
}
#endif

/* Options override --set, wherever they stand. */
TEST(options_override_set)
{
	shell(0, "", "$SLUICE run c.yaml --out out --quiet --set 'output={to: other}'");
	assert_true(folder_has(&folder, "out/run.json"));
	assert_false(folder_has(&folder, "other"));
	remove_run(&folder, "out");
	shell(0, "", "$SLUICE run c.yaml --quiet --set output.to=other --out out");
	assert_true(folder_has(&folder, "out/run.json"));
	remove_run(&folder, "out");
	expect_untouched();
}

/* --- working directory and start method ---------------------------------------------------- */

static void check_run_from_shell(const char *line)
{
	shell(0, "", line);
	if (hash_run(&folder, "out") != reference_hash)
		fail_msg("%s: other bytes", line);
	remove_run(&folder, "out");
	expect_untouched();
}

TEST(start_environment_does_not_change_files)
{
	check_run_from_shell("$SLUICE run c.yaml --out out <&-");
	check_run_from_shell("$SLUICE run c.yaml --out out >&-");
	check_run_from_shell("$SLUICE run c.yaml --out out 2>&-");
	check_run_from_shell("$SLUICE run c.yaml --out out <&- >&- 2>&-");
	check_run_from_shell(
		"env -i LD_LIBRARY_PATH=$LD_LIBRARY_PATH $SLUICE run c.yaml --out out");
	check_run_from_shell("unset HOME; TMPDIR=/nowhere $SLUICE run c.yaml --out out");
	check_run_from_shell("here=$PWD; cd /proc && $SLUICE run $here/c.yaml --out $here/out");
	check_run_from_shell("here=$PWD; mkdir gone; cd gone; rmdir ../gone;"
			     "$SLUICE run $here/c.yaml --out $here/out");
	check_run_from_shell("LC_ALL=C.UTF-8 $SLUICE run c.yaml --out out");
	check_run_from_shell(
		"locale -a 2>/dev/null | grep -q de_DE.utf8 && export LC_ALL=de_DE.UTF-8;"
		"$SLUICE run c.yaml --out out");
	check_run_from_shell("umask 077; $SLUICE run c.yaml --out out &&"
			     "test -z \"$(find out -perm /077)\"");
	check_run_from_shell("umask 000; $SLUICE run c.yaml --out out");
	check_run_from_shell("nice -n 19 $SLUICE run c.yaml --out ./out//");
}

/* --- progress ------------------------------------------------------------------------------ */

/* Runs with stderr on a pseudo-terminal; returns the output, which the caller frees. */
static char *run_on_terminal(const char *option)
{
	enum { BYTES = 4096 };
	int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK), opened;
	char line[256], *output = (char *)calloc(1, BYTES);
	ssize_t n;

	assert_non_null(output);
	assert_true(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
	/* the test keeps the terminal open, otherwise the output is lost when the program ends */
	opened = open(ptsname(terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(opened >= 0);
	snprintf(line, sizeof(line), "$SLUICE run c.yaml --out out %s 2>%s", option,
		ptsname(terminal));
	shell(0, "", line);
	n = read(terminal, output, BYTES - 1);
	output[n > 0 ? n : 0] = '\0';
	close(opened);
	close(terminal);
	remove_run(&folder, "out");
	return output;
}

TEST(progress_is_printed_on_a_terminal)
{
	struct ending e;
	char *output = run_on_terminal("");

	assert_non_null(strstr(output, "100.0 %  4 of 4 batches"));
	free(output);
	output = run_on_terminal(
		"--set 'stop={when: rel_error(transmitted) < 0.5, min_batches: 2}'");
	assert_non_null(strstr(output, "100.0 %  2 of 2 batches"));
	free(output);
	output = run_on_terminal("--set 'stop=rel_error(transmitted) < 0.5'");
	assert_non_null(strstr(output, "100.0 %  4 of at most 4 batches"));
	free(output);
	output = run_on_terminal("--quiet");
	assert_string_equal(output, "");
	free(output);
	call(&folder, NULL, WORDS("run", "c.yaml", "--out", "out"), &e);
	assert_string_equal(e.err, "");
	assert_non_null(strstr(e.out, "transmitted"));
	process_free(&e);
	remove_run(&folder, "out");
	call(&folder, NULL, WORDS("run", "c.yaml", "--out", "out", "--quiet"), &e);
	assert_string_equal(e.err, "");
	assert_string_equal(e.out, "");
	process_free(&e);
	call(&folder, NULL, WORDS("verify", "out", "--quiet"), &e);
	assert_int_equal(e.code, SL_OK);
	assert_string_equal(e.out, "");
	process_free(&e);
	remove_run(&folder, "out");
	expect_untouched();
}

/* The operand - is the configuration on standard input, also of a run that is resumed. */
TEST(configuration_is_read_from_stdin)
{
	shell(SL_OK, "", "cat c.yaml | \"$SLUICE\" run - --out out --quiet");
	assert_int_equal(hash_run(&folder, "out"), reference_hash);
	keep_batches(&folder, "out", 2);
	shell(SL_OUTPUT_IN_USE, "another configuration",
		"cat c.yaml | \"$SLUICE\" run - --out out --resume --set run.seed=8");
	shell(SL_OK, "", "\"$SLUICE\" run - --out out --resume --quiet < c.yaml");
	assert_int_equal(hash_run(&folder, "out"), reference_hash);
	/* an automatic batch size is that of the run, so the configuration is read twice */
	shell(SL_OK, "",
		"\"$SLUICE\" run - --out out --resume --quiet --set run.batch=auto < c.yaml");
	assert_int_equal(hash_run(&folder, "out"), reference_hash);
	remove_run(&folder, "out");
	shell(SL_OK, "", "\"$SLUICE\" plan - < c.yaml | grep -q '^batches'");
	shell(SL_OK, "",
		"\"$SLUICE\" plan --print-config - --set run.seed=99 < c.yaml | grep -q 'seed: 99'");
	shell(SL_OK, "", "\"$SLUICE\" replay - --id 3 < c.yaml | grep -q '^config      <stdin>$'");
	shell(SL_USAGE, "<stdin>:1:11: zeed: unknown key",
		"echo '{run: {}, zeed: 1}' | \"$SLUICE\" run -");
	shell(SL_USAGE, "<stdin>:1:1: the configuration is empty", "\"$SLUICE\" run - < /dev/null");
	shell(SL_USAGE, "<stdin> has more than 1048576 bytes",
		"head -c 1048577 /dev/zero | \"$SLUICE\" run -");
	shell(SL_DISK, "<stdin>", "\"$SLUICE\" plan - < .");
	expect_untouched();
}

BEFORE_TESTS()
{
	commands_begin();
}
