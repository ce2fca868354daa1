/*
 * faults.c - every call of a command fails, once and from then on, and the command is killed at
 * every call (support/runs/fail_calls.h). A new command or format is a new line of a table.
 */
#include "tests/support/runs/fail_calls.h"

#define RUN    "run tiny.yaml --quiet --out out --set output.format="
#define ONE    " --threads 1 --device cpu"
#define MANY   " --threads 3 --device cpu"
#define RESUME " --resume"
#define WEIGHT " --set output.columns=[id,x,energy,pixel,weight]"
#define BARE   " --set output.columns=[]"

#define RUN_H5  RUN "openpmd --set tallies=[w:2] --set output.image=true" WEIGHT ONE
#define RUN_CSV RUN "csv.gz" MANY
#define ORDER   " --set output.order=run --set output.sample=20"
#define PARTS   RUN "npz --part 1/2" ONE ";" RUN "npz --part 2/2" ONE

static const struct scenario runs[] = {
	{"openPMD, tallies, image", "", RUN_H5, NULL, NULL, ONE_WRITER},
	{"csv.gz", "", RUN_CSV, NULL, RUN "csv.gz --device emulated" RESUME, THREADS},
	{"two writers", "", RUN "openpmd --threads 6 --set run.particles=1200 --device cpu", NULL,
		NULL, THREADS},
	{"npz, joined", "", RUN "npz --set output.joined=true" ONE, NULL, NULL, ONE_WRITER},
	{"mcpl.gz, joined", "", RUN "mcpl.gz --set output.joined=true" BARE ONE, NULL, NULL,
		ONE_WRITER},
	{"mcpl, in order", "", RUN "mcpl" ORDER BARE ONE, NULL, NULL, ONE_WRITER},
	{"openPMD, in order", "", RUN "openpmd" ORDER WEIGHT ONE, NULL, NULL, ONE_WRITER},
	{"a stop rule", "",
		RUN "openpmd --set stop.when=rel_error(hit)<0.9 --set stop.min_batches=2" MANY,
		NULL, NULL, THREADS},
	{"resume", "SL_FAULT=file_append:2:kill " RUN_H5, RUN_H5 RESUME, NULL, NULL, 0},
	{"force", RUN_H5, RUN_H5 " --force", RUN_H5 RESUME, NULL, REPLACES},
	{"a part", "", RUN "npz --part 1/2" ONE, NULL, NULL, ONE_WRITER},
	{"a list", "", "run list.yaml --quiet --out out --threads 2", NULL, NULL, THREADS},
};

static const struct scenario others[] = {
	{"join", PARTS, "join out --quiet", "join out --quiet --force", NULL, 0},
	{"convert to gzip", "", "convert list.mcpl.gz --to made.mcpl.gz --quiet", NULL, NULL, 0},
	{"convert to npz", "", "convert list.mcpl.gz --to made.npz --quiet", NULL, NULL, 0},
	{"convert to mcpl", "convert list.mcpl.gz --to table.npz --quiet",
		"convert table.npz --to made.mcpl --quiet", NULL, NULL, 0},
	{"convert to openPMD", "", "convert list.mcpl.gz --to made.h5 --quiet", NULL, NULL, 0},
	{"verify csv.gz", RUN_CSV, "verify out --quiet", NULL, NULL, 0},
	{"verify openPMD", RUN_H5, "verify out --quiet", NULL, NULL, 0},
	{"info", RUN_H5, "info out", NULL, NULL, 0},
	{"help", "", "help --markdown", NULL, NULL, 0},
};

TEST(calls_of_runs_fail)
{
	for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++)
		fail_calls(&runs[i], false);
}

TEST(calls_of_other_commands_fail)
{
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		fail_calls(&others[i], false);
}

/* --- the order -------------------------------------------------------------------------------- */

/* The calls that make files durable: a letter each, others none. */
static char letter_of(const char *call)
{
	static const char *const letters[][2] = {{"file_write", "w"}, {"sys_fsync", "f"},
		{"sys_renameat2", "r"}, {"sys_dirsync", "d"}, {"file_append", "a"},
		{"sys_fdatasync", "s"}};

	for (size_t i = 0; i < sizeof(letters) / sizeof(*letters); i++)
		if (strcmp(letters[i][0], call) == 0)
			return letters[i][1][0];
	return '\0';
}

/*
 * A file is written, flushed, renamed, and its folder flushed, before its line is written and
 * flushed. First come the directory of the run, LOCK and run.json, then three batches (the manifest
 * is a new file at the first), NAME.xdmf and run.json.
 */
TEST(calls_are_in_the_documented_order)
{
	static const struct scenario s = {"order", "", RUN "openpmd" ONE, NULL, NULL, 0};
	char order[256] = "";
	size_t n = 0;

	trial_begin(&s);
	for (size_t i = 0; i < trial.calls.n; i++) {
		char letter = letter_of(trial.calls.at[i].name);

		if (letter && (letter != 'w' || n == 0 || order[n - 1] != 'w'))
			order[n++] = letter;
		assert_true(n < sizeof(order) - 1);
	}
	assert_string_equal(order, "ds"
				   "wfrd"
				   "wfrdasd"
				   "wfrdas"
				   "wfrdas"
				   "wfrd"
				   "wfrd");
	trial_end();
}
