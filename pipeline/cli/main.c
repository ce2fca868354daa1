/*
 * main.c - the program: parses the command line and calls the command's function.
 *
 * Only the files of pipeline/cli/ print to the terminal, handle signals or exit. The exit code is
 * the status of the command, or 128 plus the number of the signal that stopped it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "pipeline/cli/cli.h"
#include "pipeline/external/external.h"
#include "pipeline/help/help.h"
#include "primitives/base/clock.h"
#include "primitives/emulator/settings.h"
#include "stages/formats/formats.h"

uint64_t sl_program_start_ns;

/*
 * If stdin, stdout or stderr is closed, the next file opened would take its number, and messages
 * would be written into that file. So closed ones are opened as /dev/null.
 */
static void open_standard_files(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) == -1 && errno == EBADF && open("/dev/null", O_RDWR) != fd)
			_exit(SL_DISK);
}

/* What the main thread may use of its stack, ten times what it was seen to use. */
enum { STACK_KIB = 1024 };

/* Raises the limit of the stack, which grows up to it, so that a low ulimit -s is no crash. */
static enum sl_status raise_stack_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= STACK_KIB << 10)
		return SL_OK;
	limit.rlim_cur = STACK_KIB << 10;
	if (limit.rlim_max >= limit.rlim_cur && setrlimit(RLIMIT_STACK, &limit) == 0)
		return SL_OK;
	return sl_fail(SL_HOST_MEMORY,
		"the stack is limited to %lu KiB, but %d KiB are needed; raise the limit (ulimit -s)",
		limit.rlim_max >> 10, STACK_KIB);
}

/* --help and --version take precedence over a command. */
static enum sl_status call_command(struct sl_args *a)
{
	static enum sl_status (*const functions[SL_COMMAND_NONE])(struct sl_args * a) = {
#define COMMAND(name, function, operands, least, most, sets, help, details) function,
#include "pipeline/args/commands.def"
#undef COMMAND
	};

	if (a->command != SL_COMMAND_NONE && !a->help && !a->version)
		return functions[a->command](a);
	if (a->version)
		sl_version_print(stdout);
	else if (a->command != SL_COMMAND_NONE)
		sl_args_help_command(a->command, stdout);
	else
		sl_args_help(stdout);
	return SL_OK;
}

/* Prepares the process and runs the command. */
static enum sl_status run_program(int argc, char **argv)
{
	static struct sl_args args;

	SL_TRY(raise_stack_limit());
	SL_TRY(sl_printable_stdout());
	SL_TRY(sl_formats_start());
	/* A misspelt setting of the environment must not be ignored. */
	if (sl_emulator_settings_problem())
		return sl_fail(SL_USAGE, "%s", sl_emulator_settings_problem());
	if (argc > 1 && strcmp(argv[1], "complete") == 0) {
		sl_complete(&sl_completed_sluice, argc - 2, argv + 2, stdout);
		return SL_OK;
	}
	SL_TRY(sl_args_parse(argc, argv, &args));
	SL_TRY(sl_external_load_list(getenv("SLUICE_MODELS"), ':'));
	SL_TRY(sl_external_load_list(args.models, ','));
	return call_command(&args);
}

int main(int argc, char **argv)
{
	enum sl_status s;

	sl_program_start_ns = sl_now_ns();
	open_standard_files();
	sl_signals_catch();
	s = run_program(argc, argv);
	/* The message is empty if a report of all problems was printed already. */
	if (s != SL_OK && sl_last_error()[0] != '\0')
		fprintf(stderr, "sluice: %s\n", sl_last_error());
	/* Buffered output is only written here: stdout may be a full disk or a closed pipe. */
	if ((fflush(stdout) != 0 || ferror(stdout)) && s == SL_OK) {
		/* A reader such as head has what it wanted: end as if SIGPIPE were not ignored. */
		if (errno == EPIPE)
			_exit(128 + SIGPIPE);
		fprintf(stderr, "sluice: stdout: %s; the output is incomplete\n", strerror(errno));
		s = SL_DISK;
	}
	/*
	 * No exit handlers: after a full disk, HDF5's handler would use files that are half closed.
	 */
	fflush(stderr);
	sl_ranks_close(s == SL_STOPPED ? sl_signals_exit_code() : (int)s);
	_exit(s == SL_STOPPED ? sl_signals_exit_code() : (int)s);
}
