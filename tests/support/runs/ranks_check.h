/*
 * ranks_check.h - starts the program as several ranks of MPI, with mpirun.
 *
 *	expect_ranks(3, SL_OK, "", WORDS("run", "c.yaml", "--out", "a", "--quiet"));
 */
#ifndef SL_TESTS_SUPPORT_RUNS_RANKS_CHECK_H
#define SL_TESTS_SUPPORT_RUNS_RANKS_CHECK_H

#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

enum { RANKS_WORDS_MAX = 64 };

struct ranks_command {
	char ranks[16];
	const char *words[RANKS_WORDS_MAX];
};

/*
 * The words of mpirun with some ranks of the program. options: NULL, or words for mpirun; words: as
 * for expect(), with "sluice" first.
 */
void ranks_command(unsigned ranks, const char *const *options, const char *const *words,
	struct ranks_command *c);

/* Appends ": -n 1 sluice ...", one more rank with other words, and options for it. */
void add_rank(struct ranks_command *c, const char *const *options, const char *const *words);

/*
 * Starts the command in the folder of the fixture, or runs it and expects the code and the text on
 * stderr.
 */
void start_ranks(const struct ranks_command *c, struct running *r);
void expect_command(const struct ranks_command *c, int code, const char *text);
void expect_ranks(unsigned ranks, int code, const char *text, const char *const *words);

/*
 * Starts three ranks of `run c.yaml --out ranks`, each the child of a shell: mpirun does not see
 * when it is killed. The shells write the number of the process to pid<rank>, and its code, once it
 * has ended, to code<rank>.
 */
void start_ranks_in_shells(struct running *r);

/* Waits for the process of a rank in a shell. */
pid_t rank_in_shell(unsigned rank);

/* Kills the process of a rank in a shell, as if its node were lost. */
void lose_rank(unsigned rank);

/*
 * Waits for ranks in shells, at most so many seconds. Expects that the others have noticed that one
 * was lost, and that the first one to do so has ended with code 9: it has the others killed.
 */
void expect_lost_rank(struct running *r, int seconds);

/*
 * Waits until the run in out has committed n batches, then returns the process of a rank of the
 * command.
 */
pid_t find_rank(const struct running *r, const char *out, size_t n, unsigned rank);

#endif
