/*
 * ranks_killed.c - a rank that is killed, fails or gets a signal ends the run of all ranks;
 * committed batches stay, and the run is resumed with another number of ranks, with the bytes of an
 * uninterrupted one.
 */
#include <signal.h>
#include <string.h>

#include "tests/support/runs/ranks_check.h"
#include "tests/support/runs/same_run.h"

enum { BATCHES = 300, SECONDS_TO_END = 10 };

static const char text[] =
	"run: {name: t, seed: 7, particles: 600000, batch: 2000, threads: 1, device: cpu}\n"
	"model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, g: 0.9, thickness: 1 cm}}\n"
	"keep: transmitted\nkey: [w:16]\ntallies: [w:16]\n";

#define RUN WORDS("run", "c.yaml", "--out", "ranks", "--quiet")

BEFORE_EACH()
{
	write_text(&folder, "c.yaml", text);
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "whole", "--quiet"));
}

/* Resumes with some ranks, and compares with the run of one process. */
static void resume(unsigned ranks)
{
	expect_ranks(
		ranks, SL_OK, "", WORDS("run", "c.yaml", "--out", "ranks", "--quiet", "--resume"));
	expect_same_runs("ranks", "whole");
	expect(&folder, SL_OK, "", WORDS("verify", "ranks", "--quiet"));
	remove_run(&folder, "ranks");
}

/*
 * mpirun kills the other ranks when one dies. It passes SIGUSR1 on, which batch queues send before
 * the end of a job. Until then, batches were committed in order.
 */
TEST(a_signal_to_any_rank_ends_the_run)
{
	static const struct {
		int signal;
		unsigned rank, resumed; /* by so many ranks */
		size_t n;               /* committed batches */
	} rows[] = {{SIGKILL, 0, 1, 5}, {SIGKILL, 1, 2, 25}, {SIGKILL, 2, 3, 45},
		{SIGUSR1, 0, 2, 10}, {SIGUSR1, 2, 2, 10}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const bool in_order = rows[i].signal == SIGUSR1;
		struct ranks_command c;
		struct sl_manifest m;
		struct running r;
		struct ending e;

		ranks_command(3, NULL, RUN, &c);
		start_ranks(&c, &r);
		kill(find_rank(&r, "ranks", rows[i].n, rows[i].rank), rows[i].signal);
		process_wait(&r, SECONDS_TO_END, &e);
		if (e.timed_out || e.code == 0)
			fail_msg("row %zu: exit code %d: %s", i, e.code, e.err);
		if (in_order && (e.code < 128 || !strstr(e.err, "a signal asked it to stop") ||
					times_in(e.err, "sluice: ") != 1))
			fail_msg("row %zu: exit code %d: %s", i, e.code, e.err);
		process_free(&e);
		read_manifest(&folder, "ranks", &m);
		assert_true(m.in_order);
		assert_in_range(m.n, rows[i].n, BATCHES - 1);
		for (size_t k = 0; k < m.n; k++)
			assert_int_equal(m.line[k].batch, k);
		sl_manifest_free(&m);
		resume(rows[i].resumed);
	}
}

/* Without the help of mpirun, which does not see that the child of a shell has died. */
TEST(ranks_notice_a_lost_rank)
{
	for (unsigned rank = 0; rank < 3; rank += 2) {
		struct running r;

		start_ranks_in_shells(&r);
		(void)find_rank(&r, "ranks", 10, 0);
		lose_rank(rank);
		expect_lost_rank(&r, SECONDS_TO_END);
		resume(3);
	}
}

/* A batch system can suspend a job for longer than a rank may be silent. */
TEST(suspended_ranks_continue)
{
	enum { SECONDS_SUSPENDED = 8 };
	struct ranks_command c;
	struct running r;
	struct ending e;
	pid_t rank[3];

	ranks_command(3, NULL, RUN, &c);
	start_ranks(&c, &r);
	for (unsigned i = 0; i < 3; i++)
		rank[i] = find_rank(&r, "ranks", 5, i);
	for (unsigned i = 0; i < 3; i++)
		kill(rank[i], SIGSTOP);
	sleep_for(SECONDS_SUSPENDED);
	for (unsigned i = 0; i < 3; i++)
		kill(rank[i], SIGCONT);
	process_wait(&r, HANG_SECONDS, &e);
	expect_ending(&e, SL_OK, "", c.words);
	expect_same_runs("ranks", "whole");
}

/* A failure of one rank is that of the run: the exit code of all, and one message. */
TEST(a_failure_of_a_rank_is_reported_once)
{
	static const char *const fault[] = {"-x", "SL_FAULT=file_write:3:28", NULL};
	struct ranks_command c;
	struct running r;
	struct ending e;

	ranks_command(2, NULL, RUN, &c);
	add_rank(&c, fault, RUN);
	start_ranks(&c, &r);
	process_wait(&r, HANG_SECONDS, &e);
	assert_int_equal(e.code, SL_DISK);
	assert_int_equal(times_in(e.err, "sluice: "), 1);
	assert_non_null(strstr(e.err, "rank 2 on "));
	assert_non_null(strstr(e.err, "No space left on device"));
	process_free(&e);
	resume(3);
}
