/*
 * moments.c - what happens at a chosen call of a command, which stops there: a signal, files that
 * another program changes or removes, another command. trial.h says what must hold then.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/runs/trial.h"

#define RUN  "run tiny.yaml --quiet --out out --set run.particles=2400 --device cpu --threads 2"
#define NPZ  RUN " --set output.format=npz"
#define PART "run tiny.yaml --quiet --out out --set output.format=npz --part "

#define VERIFY  "verify out --quiet"
#define CONVERT "convert out --to all.npz --quiet"

/* What happens when the command has stopped: a signal, or what another program does. */
enum act {
	SIGNAL,  /* 128 less than the code of the command; or SIGHUP, which is ignored */
	COMMAND, /* that ends with this code and text; then the first one succeeds */
	REMOVE,
	REPLACE, /* by another file with as many bytes */
	EMPTY,   /* by a file without bytes */
	APPEND,
	TRUNCATE,
	RENAME,
	REMOVE_FOLDER
};

struct moment {
	const char *calls; /* at each of them */
	enum act act;
	const char *what; /* a command line, a file or a folder */
	int code;
	const char *text; /* of the message */
};

static const struct moment *moment;
static unsigned stopped, completed; /* commands with a signal */

static void run_second(void)
{
	struct ending e;

	trial_run(moment->what, NULL, &e);
	if (e.code != moment->code || !strstr(e.err, moment->text))
		fail_fault("%s: exit code %d: %s", moment->what, e.code, e.err);
	process_free(&e);
	unlink(folder_path(&trial.f, "all.npz"));
}

static void append(const char *path)
{
	FILE *f = fopen(path, "a");

	assert_non_null(f);
	fputs("mine\n", f);
	fclose(f);
}

static void replace(const char *path)
{
	size_t bytes;
	char *text = folder_read(&trial.f, moment->what, &bytes);

	memset(text, 'x', bytes);
	assert_int_equal(unlink(path), 0);
	if (moment->act != REMOVE)
		folder_write(&trial.f, moment->what, text, moment->act == EMPTY ? 0 : bytes);
	free(text);
}

static void act(void)
{
	const char *path = folder_path(&trial.f, moment->what);
	const int number = moment->code ? moment->code - 128 : SIGHUP;

	if (moment->act == SIGNAL)
		assert_int_equal(kill(trial.pid, number), 0);
	else if (moment->act == COMMAND)
		run_second();
	else if (moment->act == APPEND)
		append(path);
	else if (moment->act == TRUNCATE)
		assert_int_equal(truncate(path, 10), 0);
	else if (moment->act == RENAME)
		assert_int_equal(rename(path, folder_path(&trial.f, "moved")), 0);
	else if (moment->act == REMOVE_FOLDER)
		remove_run(&trial.f, moment->what);
	else
		replace(path);
}

/*
 * A run that gets a signal says so, and --resume continues it; or it is complete, because its
 * threads compute the last batches before the main thread sees the signal. Returns whether the
 * ending is the expected one.
 */
static bool check_signal(void)
{
	const struct tree_file *report = tree_find(&trial.now, "out/run.json");

	if (trial.end.code == SL_OK) {
		completed++;
		trial_check_ending();
		return true;
	}
	stopped++;
	return trial.end.code == moment->code &&
	       (!trial_is_run() || (report && strstr(report->bytes, "\"state\": \"stopped\"") &&
					   !trial_is_finished()));
}

static bool check_end(void)
{
	if (moment->act == COMMAND)
		return trial.end.code == SL_OK;
	if (moment->act == SIGNAL && moment->code)
		return check_signal();
	return trial.end.code == moment->code && strstr(trial.end.err, moment->text);
}

static void attempt(const char *call, int bytes)
{
	const struct fault fault = {.at_stop = act, .changes = true};

	trial_run_with(&fault, "SL_FAULT=%.*s:stop", bytes, call);
	if (moment->act == RENAME) {
		assert_int_equal(
			rename(folder_path(&trial.f, "moved"), folder_path(&trial.f, moment->what)),
			0);
		trial_read();
	}
	if (!check_end())
		fail_fault("expected \"%s\", but exit code %d: %s", moment->text, trial.end.code,
			trial.end.err);
	if (!trial_is_run() && trial.end.code != 0 && folder_has(&trial.f, "joined"))
		fail_fault("a part of the output is left");
	if (moment->act == SIGNAL || trial_is_run()) {
		trial_finish();
		return;
	}
	trial_restore(); /* its input may be damaged */
	process_free(&trial.end);
}

static void try_all(const struct scenario *s, const struct moment *m, size_t n)
{
	stopped = completed = 0;
	trial_begin(s);
	for (moment = m; moment < m + n; moment++)
		for (const char *call = moment->calls; *call; call += strspn(call, " ")) {
			attempt(call, (int)strcspn(call, " "));
			call += strcspn(call, " ");
		}
	trial_end();
	assert_true(stopped >= completed);
}

#define TRY(scenario, rows) try_all(&(scenario), rows, sizeof(rows) / sizeof(*(rows)))

static const struct scenario run = {"run", "", NPZ, NULL, NULL, THREADS};

/* A second run is refused at once; readers take no lock, and see the batches that are committed. */
TEST(signals_and_other_commands_during_a_run)
{
	static const struct moment rows[] = {
		{"file_rename:2 file_append:3", SIGNAL, "", 128 + SIGINT, ""},
		{"file_append:1", SIGNAL, "", 128 + SIGTERM, ""},
		{"file_append:3", SIGNAL, "", 128 + SIGHUP, ""},
		{"file_append:7", SIGNAL, "", 128 + SIGUSR1, ""},
		{"file_rename:1 file_append:3", COMMAND, NPZ " --resume", SL_OUTPUT_IN_USE,
			"out is in use"},
		{"file_rename:1", COMMAND, VERIFY, SL_DISK, "No such file or directory"},
		{"file_append:3", COMMAND, VERIFY, SL_CHECK_FAILED,
			"because the run has not ended"},
		{"file_rename:1", COMMAND, CONVERT, SL_BAD_INPUT,
			"the directory has no committed batches"},
		{"file_append:3", COMMAND, CONVERT, SL_OK, ""},
	};

	TRY(run, rows);
}

TEST(nohup_ignores_hangup)
{
	static const struct moment rows[] = {{"file_append:2", SIGNAL, "", SL_OK, ""}};

	signal(SIGHUP, SIG_IGN);
	TRY(run, rows);
	signal(SIGHUP, SIG_DFL);
}

TEST(interrupt_ends_verify)
{
	static const struct scenario verify = {"verify", RUN, VERIFY, NULL, NULL, 0};
	static const struct moment rows[] = {{"file_open:9", SIGNAL, "", 128 + SIGINT, ""}};

	TRY(verify, rows);
}

#define MANIFEST         "out/manifest.jsonl", SL_OUTPUT_IN_USE, MANIFEST_CHANGED
#define REPORT           "out/run.json", SL_OUTPUT_IN_USE, REPORT_CHANGED
#define LOCK             "out/LOCK", SL_OUTPUT_IN_USE
#define FOLDER           "out", SL_OUTPUT_IN_USE, "out was renamed or removed"
#define MANIFEST_CHANGED "manifest.jsonl was changed by another program"
#define REPORT_CHANGED   "run.json was changed or removed by another program"
#define LOCK_CHANGED     "LOCK was removed or replaced"

/* At the first and the last commit, and at another call. */
TEST(changes_during_a_run_are_noticed)
{
	static const struct scenario s = {"changes", "",
		"run tiny.yaml --quiet --out out --device cpu --threads 2 --set run.particles=1200 --set "
		"output.durable=end",
		NULL, NULL, THREADS};
	static const struct moment rows[] = {
		{"file_append:1 file_append:6 file_rename:8", REMOVE, MANIFEST},
		{"file_append:1 file_append:6", APPEND, MANIFEST},
		{"file_append:2 file_append:6", TRUNCATE, MANIFEST},
		{"file_append:2 file_append:6", REPLACE, MANIFEST},
		{"file_append:1 file_append:6", REMOVE, REPORT},
		{"file_append:1 file_append:6", EMPTY, REPORT},
		{"file_append:1 file_append:6", REMOVE, LOCK, LOCK_CHANGED},
		{"file_append:3", REMOVE, LOCK, "batch 3, writing: out/LOCK was removed"},
		{"file_append:1 file_append:6", EMPTY, LOCK, LOCK_CHANGED},
		{"file_append:1 file_append:6", RENAME, FOLDER},
		{"file_append:1 file_append:6", REMOVE_FOLDER, FOLDER},
	};

	TRY(s, rows);
}

/* Files are linked, or copied. A signal ends the join in order: there is a whole run or nothing. */
TEST(changes_signals_and_other_commands_during_a_join)
{
	static const struct scenario s = {
		"join", PART "1/2;" PART "2/2", "join out --out joined --quiet", NULL, NULL, 0};
	static const struct moment rows[] = {
		{"file_link:1 file_link:1+:18,file_map:1", REPLACE,
			"out/part_2_of_2/tiny_000002.npz", SL_BAD_INPUT, "batch 2 is damaged"},
		{"file_open:3 file_open:9 file_link:1 file_link:3 file_write:1 file_write:2",
			SIGNAL, "", 128 + SIGTERM, ""},
		{"file_link:3", COMMAND, PART "2/2 --force", SL_OUTPUT_IN_USE,
			"part_2_of_2 is in use"},
	};

	TRY(s, rows);
}
