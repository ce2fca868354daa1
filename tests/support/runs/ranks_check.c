/* ranks_check.c - see ranks_check.h. */
#include "tests/support/runs/ranks_check.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Open MPI refuses to run as root without the first two variables. With the third it does not look
 * for ssh, and with the last the ranks use shared memory alone: all are on this machine.
 */
static const char *const environment[] = {"OMPI_ALLOW_RUN_AS_ROOT=1",
	"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_plm_rsh_agent=", "OMPI_MCA_btl=self,vader",
	NULL};

static void append(struct ranks_command *c, const char *const *words)
{
	size_t n = 0;

	while (c->words[n])
		n++;
	for (size_t i = 0; words && words[i]; i++) {
		const char *program = getenv("SLUICE");

		assert_true(n + 1 < RANKS_WORDS_MAX);
		c->words[n++] = strcmp(words[i], "sluice") == 0 && program ? program : words[i];
	}
	c->words[n] = NULL;
}

void ranks_command(unsigned ranks, const char *const *options, const char *const *words,
	struct ranks_command *c)
{
	const char *const first[] = {"mpirun", "--oversubscribe", "-n", c->ranks, NULL};

	memset(c->words, 0, sizeof(c->words));
	snprintf(c->ranks, sizeof(c->ranks), "%u", ranks);
	append(c, first);
	append(c, options);
	append(c, words);
}

void add_rank(struct ranks_command *c, const char *const *options, const char *const *words)
{
	static const char *const next[] = {":", "-n", "1", NULL};

	append(c, next);
	append(c, options);
	append(c, words);
}

void start_ranks(const struct ranks_command *c, struct running *r)
{
	const struct process p = {.argv = c->words, .env = environment, .folder = folder.path};

	process_start(&p, r);
}

void expect_command(const struct ranks_command *c, int code, const char *text)
{
	struct running r;
	struct ending e;

	start_ranks(c, &r);
	process_wait(&r, HANG_SECONDS, &e);
	expect_ending(&e, code, text, c->words);
}

void expect_ranks(unsigned ranks, int code, const char *text, const char *const *words)
{
	struct ranks_command c;

	ranks_command(ranks, NULL, words, &c);
	expect_command(&c, code, text);
}

/* --- lost ranks ------------------------------------------------------------------------------- */

enum { SHELLS = 3 };

static char *read_of_rank(const char *what, unsigned rank)
{
	char name[16];
	size_t bytes;

	snprintf(name, sizeof(name), "%s%u", what, rank);
	return folder_has(&folder, name) ? folder_read(&folder, name, &bytes) : NULL;
}

/* The shell lives on for the second that mpirun grants after SIGTERM. */
void start_ranks_in_shells(struct running *r)
{
	static char script[1000];
	static const char *const words[] = {"sh", "-c", script, NULL};
	struct ranks_command c;

	snprintf(script, sizeof(script),
		"trap '' TERM; rm -f code$OMPI_COMM_WORLD_RANK; "
		"'%s' run c.yaml --out ranks --quiet & "
		"echo $! >pid$OMPI_COMM_WORLD_RANK; wait $!; code=$?; "
		"echo $code >code$OMPI_COMM_WORLD_RANK; exit $code",
		getenv("SLUICE") ? getenv("SLUICE") : "sluice");
	for (unsigned rank = 0; rank < SHELLS; rank++) { /* of an earlier call */
		char name[16];

		snprintf(name, sizeof(name), "pid%u", rank);
		(void)remove(folder_path(&folder, name));
	}
	ranks_command(SHELLS, (const char *const[]){"--enable-recovery", NULL}, words, &c);
	start_ranks(&c, r);
}

pid_t rank_in_shell(unsigned rank)
{
	char *pid = NULL;
	long number = 0; /* 0 would be this process and its children */

	for (int i = 0; i < 100 * HANG_SECONDS && number == 0; i++) {
		pid = read_of_rank("pid", rank);
		number = pid ? strtol(pid, NULL, 10) : 0;
		free(pid);
		sleep_for(number > 0 ? 0 : 0.01);
	}
	assert_true(number > 0);
	return (pid_t)number;
}

void lose_rank(unsigned rank)
{
	kill(rank_in_shell(rank), SIGKILL);
}

static bool has_code_9(void)
{
	bool found = false;

	for (unsigned rank = 0; rank < SHELLS; rank++) {
		char *code = read_of_rank("code", rank);

		found |= code && strcmp(code, "9\n") == 0;
		free(code);
	}
	return found;
}

void expect_lost_rank(struct running *r, int seconds)
{
	struct ending e;

	process_wait(r, seconds, &e);
	assert_false(e.timed_out);
	assert_non_null(strstr(e.err, "has ended or does not answer"));
	process_free(&e);
	assert_true(has_code_9());
}

/* --- processes -------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
	return *(const pid_t *)a < *(const pid_t *)b ? -1 : 1;
}

/* mpirun starts the ranks in order, so their process numbers ascend. */
static pid_t child_of(pid_t parent, unsigned number)
{
	pid_t child[64];
	const size_t n = children_of(parent, child, 64);

	assert_true(number < n);
	qsort(child, n, sizeof(*child), ascending);
	return child[number];
}

pid_t find_rank(const struct running *r, const char *out, size_t n, unsigned rank)
{
	char name[64];
	size_t lines = 0;

	snprintf(name, sizeof(name), "%s/manifest.jsonl", out);
	for (int i = 0; i < 100 * HANG_SECONDS && lines < n; i++) {
		char *text;
		size_t bytes;

		sleep_for(0.01);
		if (!folder_has(&folder, name))
			continue;
		text = folder_read(&folder, name, &bytes);
		lines = times_in(text, "\n");
		free(text);
	}
	assert_true(lines >= n);
	return child_of(r->pid, rank);
}
