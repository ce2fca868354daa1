/*
 * moments.c - what happens at a chosen call of a command, which stops there: a signal, files that another program changes or
 * removes, another command. trial.h says what must hold then.
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

struct moment {
	const char *calls; /* at each of them */
	void (*happens)(void);
	int signal; /* that is sent instead */
	int code;
	const char *text; /* of the message */
};

static int sent;

static void send_signal(void)
{
	assert_int_equal(kill(trial.pid, sent), 0);
}

static unsigned stopped, completed; /* commands with a signal */

/*
 * A run that gets a signal says so, and --resume continues it; or it is complete, because its threads compute the last
 * batches before the main thread sees the signal. Returns whether the ending is the expected one.
 */
static bool check_signal(const struct fault *fault, const struct ending *e, const struct tree *now)
{
	const struct tree_file *report = tree_find(now, "out/run.json");

	if (e->code == SL_OK) {
		completed++;
		trial_check_ending(fault, e, now);
		return true;
	}
	stopped++;
	return e->code == 128 + sent &&
	       (!trial_is_run() || (report && strstr(report->bytes, "\"state\": \"stopped\"") &&
					   !trial_is_finished(now)));
}

static void attempt(const struct moment *m, const char *call, int bytes)
{
	struct fault fault = {
		.env = {fault.text, NULL}, .at_stop = m->happens ? m->happens : send_signal};
	struct tree now;
	struct ending e;

	sent = m->signal;
	snprintf(fault.text, sizeof(fault.text), "SL_FAULT=%.*s:stop", bytes, call);
	trial_run_changed(&fault, &e);
	if (folder_has(&trial.f, "moved"))
		assert_int_equal(
			rename(folder_path(&trial.f, "moved"), folder_path(&trial.f, "out")), 0);
	tree_read(&trial.f, &now);
	if (m->signal && m->code ? !check_signal(&fault, &e, &now)
				 : e.code != m->code || !strstr(e.err, m->text))
		fail_fault(&fault, "expected \"%s\", but exit code %d: %s", m->text, e.code, e.err);
	if (!trial_is_run() && e.code != 0 && folder_has(&trial.f, "joined"))
		fail_fault(&fault, "a part of the output is left");
	if (!m->happens || trial_is_run()) {
		trial_finish(&fault, &e, &now);
		return;
	}
	tree_restore(&trial.f, &now, &trial.before); /* its input may be damaged */
	tree_free(&now);
	process_free(&e);
}

static void try_all(const struct scenario *s, const struct moment *m, size_t n)
{
	stopped = completed = 0;
	trial_begin(s);
	for (size_t i = 0; i < n; i++)
		for (const char *call = m[i].calls; *call; call += strspn(call, " ")) {
			attempt(&m[i], call, (int)strcspn(call, " "));
			call += strcspn(call, " ");
		}
	trial_end();
	assert_true(stopped >= completed);
}

#define TRY(scenario, rows) try_all(&(scenario), rows, sizeof(rows) / sizeof(*(rows)))

static const struct scenario run = {"run", "", NPZ, NULL, NULL, THREADS};

TEST(signals_stop_a_run_in_order)
{
	static const struct moment rows[] = {
		{"file_rename:2 file_append:3", NULL, SIGINT, 128 + SIGINT, ""},
		{"file_append:1", NULL, SIGTERM, 128 + SIGTERM, ""},
		{"file_append:3", NULL, SIGHUP, 128 + SIGHUP, ""},
		{"file_append:7", NULL, SIGUSR1, 128 + SIGUSR1, ""},
	};

	TRY(run, rows);
}

TEST(nohup_ignores_hangup)
{
	static const struct moment rows[] = {{"file_append:2", NULL, SIGHUP, SL_OK, ""}};

	signal(SIGHUP, SIG_IGN);
	TRY(run, rows);
	signal(SIGHUP, SIG_DFL);
}

TEST(interrupt_ends_verify)
{
	static const struct scenario verify = {"verify", RUN, "verify out --quiet", NULL, NULL, 0};
	static const struct moment rows[] = {{"file_open:9", NULL, SIGINT, 128 + SIGINT, ""}};

	TRY(verify, rows);
}

/* --- other commands --------------------------------------------------------------------------- */

#define CONVERT "convert out --to all.npz --quiet"

struct second {
	const char *call, *line;
	int code; /* of the line */
	const char *text;
};

static const struct second *second;

static void run_second(void)
{
	struct ending e;

	trial_run(second->line, NULL, &e);
	if (e.code != second->code || !strstr(e.err, second->text))
		fail_msg("%s at %s: exit code %d: %s", second->line, second->call, e.code, e.err);
	process_free(&e);
	unlink(folder_path(&trial.f, "all.npz"));
}

/* The first command succeeds. */
static void try_second(const struct scenario *s, const struct second *rows, size_t n)
{
	trial_begin(s);
	for (second = rows; second < rows + n; second++) {
		const struct moment m = {second->call, run_second, 0, SL_OK, ""};

		attempt(&m, second->call, (int)strlen(second->call));
	}
	trial_end();
}

/* A second run is refused at once; readers take no lock, and see the batches that are committed. */
TEST(other_commands_change_no_run)
{
	static const struct second rows[] = {
		{"file_rename:1", NPZ " --resume", SL_OUTPUT_IN_USE, "out is in use"},
		{"file_append:3", NPZ " --resume", SL_OUTPUT_IN_USE, "out is in use"},
		{"file_rename:1", "verify out --quiet", SL_DISK, "No such file or directory"},
		{"file_append:3", "verify out --quiet", SL_CHECK_FAILED,
			"because the run has not ended"},
		{"file_rename:1", CONVERT, SL_BAD_INPUT, "the directory has no committed batches"},
		{"file_append:3", CONVERT, SL_OK, ""},
	};

	try_second(&run, rows, sizeof(rows) / sizeof(*rows));
}

/* --- another program changes the directory of a run --------------------------------------------------- */

static void remove_one(const char *name)
{
	assert_int_equal(unlink(folder_path(&trial.f, name)), 0);
}

/* Another file with as many bytes; of LOCK with none. */
static void replace(const char *name, bool empty)
{
	size_t bytes;
	char *text = folder_read(&trial.f, name, &bytes);

	memset(text, 'x', bytes);
	remove_one(name);
	folder_write(&trial.f, name, text, empty ? 0 : bytes);
	free(text);
}

static void remove_manifest(void)
{
	remove_one("out/manifest.jsonl");
}

static void append_to_manifest(void)
{
	FILE *f = fopen(folder_path(&trial.f, "out/manifest.jsonl"), "a");

	assert_non_null(f);
	fputs("mine\n", f);
	fclose(f);
}

static void truncate_manifest(void)
{
	assert_int_equal(truncate(folder_path(&trial.f, "out/manifest.jsonl"), 10), 0);
}

static void replace_manifest(void)
{
	replace("out/manifest.jsonl", false);
}

static void remove_report(void)
{
	remove_one("out/run.json");
}

static void replace_report(void)
{
	replace("out/run.json", true);
}

static void remove_lock(void)
{
	remove_one("out/LOCK");
}

static void replace_lock(void)
{
	replace("out/LOCK", true);
}

static void rename_folder(void)
{
	assert_int_equal(rename(folder_path(&trial.f, "out"), folder_path(&trial.f, "moved")), 0);
}

static void remove_folder(void)
{
	remove_run(&trial.f, "out");
}

#define MANIFEST_CHANGED "manifest.jsonl was changed by another program"
#define REPORT_CHANGED   "run.json was changed or removed by another program"
#define LOCK_CHANGED     "LOCK was removed or replaced"
#define FOLDER_CHANGED   "out was renamed or removed"

/* At the first and the last commit, and at another call. */
TEST(changes_during_a_run_are_noticed)
{
	static const struct scenario s = {"changes", "",
		"run tiny.yaml --quiet --out out --device cpu --threads 2 --set run.particles=1200 --set "
		"output.durable=end",
		NULL, NULL, THREADS};
	static const struct moment rows[] = {
		{"file_append:1 file_append:6 file_rename:8", remove_manifest, 0, SL_OUTPUT_IN_USE,
			MANIFEST_CHANGED},
		{"file_append:1 file_append:6", append_to_manifest, 0, SL_OUTPUT_IN_USE,
			MANIFEST_CHANGED},
		{"file_append:2 file_append:6", truncate_manifest, 0, SL_OUTPUT_IN_USE,
			MANIFEST_CHANGED},
		{"file_append:2 file_append:6", replace_manifest, 0, SL_OUTPUT_IN_USE,
			MANIFEST_CHANGED},
		{"file_append:1 file_append:6", remove_report, 0, SL_OUTPUT_IN_USE, REPORT_CHANGED},
		{"file_append:1 file_append:6", replace_report, 0, SL_OUTPUT_IN_USE,
			REPORT_CHANGED},
		{"file_append:1 file_append:6", remove_lock, 0, SL_OUTPUT_IN_USE, LOCK_CHANGED},
		{"file_append:3", remove_lock, 0, SL_OUTPUT_IN_USE,
			"batch 3, writing: out/LOCK was removed"},
		{"file_append:1 file_append:6", replace_lock, 0, SL_OUTPUT_IN_USE, LOCK_CHANGED},
		{"file_append:1 file_append:6", rename_folder, 0, SL_OUTPUT_IN_USE, FOLDER_CHANGED},
		{"file_append:1 file_append:6", remove_folder, 0, SL_OUTPUT_IN_USE, FOLDER_CHANGED},
	};

	TRY(s, rows);
}

/* --- a join ----------------------------------------------------------------------------------- */

static void replace_batch_2(void)
{
	replace("out/part_2_of_2/tiny_000002.npz", false);
}

/* Files are linked, or copied. A signal ends the join in order: there is a whole run or nothing. */
TEST(changes_and_signals_during_a_join)
{
	static const struct scenario s = {
		"join", PART "1/2;" PART "2/2", "join out --out joined --quiet", NULL, NULL, 0};
	static const struct moment rows[] = {
		{"file_link:1 file_link:1+:18,file_map:1", replace_batch_2, 0, SL_BAD_INPUT,
			"batch 2 is damaged"},
		{"file_open:3 file_open:9 file_link:1 file_link:3 file_write:1 file_write:2", NULL,
			SIGTERM, 128 + SIGTERM, ""},
	};

	static const struct second again = {
		"file_link:3", PART "2/2 --force", SL_OUTPUT_IN_USE, "part_2_of_2 is in use"};

	TRY(s, rows);
	try_second(&s, &again, 1);
}
