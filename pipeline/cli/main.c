/*
 * main.c - the program: parse, read, resolve, plan, run, report.
 *
 * The only place that prints to the terminal, handles signals or exits.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/config/config_print.h"
#include "pipeline/report/report_print.h"
#include "pipeline/report/plan_print.h"
#include "pipeline/config/reader/diagnostics.h"
#include "pipeline/config/reader/read_config.h"
#include "pipeline/cli/args.h"
#include "pipeline/compare/compare.h"
#include "pipeline/convert/convert.h"
#include "pipeline/cli/help.h"
#include "pipeline/inspect/info.h"
#include "pipeline/output/run_directory.h"
#include "pipeline/run/autotune.h"
#include "pipeline/inspect/replay.h"
#include "pipeline/inspect/verify.h"
#include "primitives/base/clock.h"
#include "primitives/emulator/settings.h"
#include "primitives/base/fault.h"

static struct sl_control control;
static uint64_t started;              /* when the program began */
static volatile sig_atomic_t caught;  /* the first signal */
static volatile sig_atomic_t running; /* what is in flight is worth ending in order */

/* Seconds from the first signal to the end, whatever is in flight: a cut is as safe as a stop. */
enum { SECONDS_TO_END = 8 };

static void on_signal(int number)
{
	/* the second signal, or the alarm that the first has set */
	if (caught)
		_exit(128 + (number == SIGALRM ? caught : number));
	if (!running)
		_exit(128 + number);
	caught = number;
	alarm(SECONDS_TO_END);
	atomic_store(&control.stop, 1);
}

/* A file that is mapped (map.h) became shorter, or its disk fails: there is no other way to tell.
 */
static void on_lost_page(int number)
{
	static const char text[] =
		"sluice: a file that is being read has become shorter, or its disk "
		"fails (what is committed stays), try --resume once it is as it "
		"was\n";

	(void)number;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(SL_DISK);
	_exit(SL_DISK);
}

static void catch_signals(void)
{
	static const int stopping[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGALRM};
	struct sigaction handle = {.sa_handler = on_signal}, lost = {.sa_handler = on_lost_page};
	struct sigaction ignore = {.sa_handler = SIG_IGN}, was;

	/* What nohup or the shell has told us to ignore stays ignored. */
	for (size_t i = 0; i < sizeof(stopping) / sizeof(stopping[0]); i++)
		if (sigaction(stopping[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN)
			sigaction(stopping[i], &handle, NULL);
	/* A full file and a closed pipe come back as errors of write. */
	sigaction(SIGBUS, &lost, NULL);
	sigaction(SIGXFSZ, &ignore, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
}

/* A closed stdin, stdout or stderr would let the next file opened take its number. */
static void open_standard_files(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) == -1 && errno == EBADF && open("/dev/null", O_RDWR) != fd)
			_exit(SL_DISK);
}

static void show_progress(void *of, const struct sl_progress *p)
{
	(void)of;
	fprintf(stderr, "\r%5.1f %%  %llu of %s%llu batches  %.2f M particles/s",
		100.0 * (double)p->particles_done / (double)p->particles,
		(unsigned long long)p->batches_done, p->at_most ? "at most " : "",
		(unsigned long long)p->n_batches, p->rate * 1e-6);
	if (p->left >= 0)
		fprintf(stderr, "  %.0f s left  ", p->left);
	fflush(stderr);
}

static char no_gpu[SL_MESSAGE_BYTES]; /* why kernels are compared on the emulated device, or "" */

/* Where auto finds no GPU, there is still something to compare. */
static void emulate_for_want(struct sl_config *config)
{
	struct sl_device device;

	if (strcmp(config->run.device, "auto") != 0 || sl_device_use(0, &device) == SL_OK)
		return;
	memcpy(no_gpu, sl_last_error(), sizeof(no_gpu));
	snprintf(config->run.device, sizeof(config->run.device), "emulated");
}

/* Reads and resolves; complaints go to stderr. */
static enum sl_status read_config(
	const struct sl_args *a, struct sl_config *config, struct sl_choices *choices)
{
	struct sl_reader *reader = NULL;
	enum sl_status s = sl_config_open(a->operand, a->set, a->n_sets, config, &reader);

	if (s == SL_OK && a->command == SL_COMMAND_compare)
		emulate_for_want(config);
	if (s == SL_OK && a->command == SL_COMMAND_replay)
		sl_replay_settle(config);
	if (s == SL_OK)
		s = sl_resolve(config, reader, choices);
	if (s == SL_USAGE && reader && sl_config_problems(reader) > 0) {
		fputs(sl_config_report(reader), stderr);
		sl_set_last_error(""); /* the report is the story, uncut */
	}
	sl_config_close(reader);
	return s;
}

/* A run whose batch was left to the program has the one that was chosen then. */
static enum sl_status keep_batch(
	struct sl_args *a, struct sl_config *config, struct sl_choices *choices)
{
	static char set[64];
	uint64_t batch = config->run.batch == 0 ? sl_output_batch(config) : 0;

	if (batch == 0 || a->n_sets == SL_SETS_MAX)
		return SL_OK;
	snprintf(set, sizeof(set), "run.batch=%llu", (unsigned long long)batch);
	a->set[a->n_sets++] = set;
	return read_config(a, config, choices);
}

/* Reads, resolves and plans. *plan is to be freed in any case. */
static enum sl_status make_plan(struct sl_args *a, struct sl_plan **plan)
{
	static struct sl_config config;
	static struct sl_choices choices;
	enum sl_status s = read_config(a, &config, &choices);

	*plan = NULL;
	if (s == SL_OK && a->resume)
		s = keep_batch(a, &config, &choices);
	if (s == SL_OK && a->print_config) {
		static char text[SL_CONFIG_TEXT_BYTES];

		sl_config_print(&config, true, text, sizeof(text));
		fputs(text, stdout);
		return SL_OK;
	}
	if (s == SL_OK)
		s = sl_plan_make(&config, &choices, plan);
	return s == SL_OK ? sl_plan_refuse(*plan, a->resume ? sl_output_done(*plan) : 0) : s;
}

static enum sl_status print_results(const struct sl_args *a, const struct sl_workspace *w,
	const struct sl_manifest *m, const struct sl_session *session, const char *state)
{
	char *text;
	size_t bytes;

	if (a->json) {
		SL_TRY(sl_report_text(w, m, session, state, &text, &bytes));
		fwrite(text, 1, bytes, stdout);
		sl_memory_give(SL_HOST, text);
	} else if (!a->quiet) {
		sl_report_print(w, m, session, stdout);
	}
	return SL_OK;
}

static enum sl_status run_in(const struct sl_args *a, struct sl_workspace *w,
	const struct sl_dir *dir, struct sl_manifest *done)
{
	const struct sl_plan *plan = w->plan;
	struct sl_session session;
	struct sl_manifest all = {0};
	struct sl_results results;
	enum sl_status s, finished;

	SL_TRY(sl_autotune_schedule(w, done, &control));
	if (!a->quiet && !a->json && isatty(STDERR_FILENO))
		control.progress = show_progress;
	if (isfinite(plan->config.run.stop_before))
		control.stop_before =
			1e-9 *
			fmax(plan->config.run.stop_before - (double)(sl_now_ns() - started), 1);
	s = sl_run(w, dir, done, &control, &session);
	if (control.progress)
		fputs("\n", stderr);
	if (s != SL_OK && s != SL_STOPPED)
		return s;
	if (s == SL_STOPPED) {
		char why[SL_MESSAGE_BYTES];

		memcpy(why, sl_last_error(), sizeof(why));
		finished = sl_output_finish(w, dir, &session, "stopped", &all);
		sl_manifest_free(&all);
		if (finished == SL_OK)
			sl_set_last_error(why);
		return finished == SL_OK ? s : finished;
	}
	s = sl_output_finish(w, dir, &session, "done", &all);
	if (s == SL_OK)
		s = print_results(a, w, &all, &session, "done");
	sl_results_make(&all, sl_counts_alone(plan), &results);
	sl_manifest_free(&all);
	return s == SL_OK ? sl_checks(plan, &results) : s;
}

static enum sl_status run(struct sl_args *a)
{
	enum sl_start start = a->resume  ? SL_START_RESUME
	                      : a->force ? SL_START_FORCE
	                                 : SL_START_NEW;
	struct sl_dir dir = {.fd = -1, .lock = -1};
	struct sl_manifest done = {0};
	struct sl_workspace *w = NULL;
	struct sl_plan *plan;
	enum sl_status s = make_plan(a, &plan);

	if (s == SL_OK && plan)
		s = sl_workspace_open(plan, &w);
	if (s == SL_OK && plan)
		s = sl_workspace_provide(w);
	running = 1;
	if (s == SL_OK && plan)
		s = sl_output_open(w, start, &dir, &done);
	if (s == SL_OK && plan)
		s = run_in(a, w, &dir, &done);
	sl_manifest_free(&done);
	if (dir.fd >= 0)
		sl_dir_close(&dir);
	sl_workspace_close(w);
	sl_plan_free(plan);
	return s;
}

static enum sl_status plan(struct sl_args *a)
{
	struct sl_plan *made;
	enum sl_status s = make_plan(a, &made);

	if (s == SL_OK && made)
		sl_plan_print(made, stdout);
	sl_plan_free(made);
	return s;
}

static enum sl_status print_comparison(const struct sl_args *a, const struct sl_comparison *c)
{
	if (a->json)
		return sl_compare_json(c, stdout);
	if (a->csv)
		sl_compare_csv(c, stdout);
	else if (!a->quiet)
		sl_compare_print(c, stdout);
	return SL_OK;
}

static void show_row(const struct sl_comparison *c, size_t row)
{
	char text[SL_ROW_BYTES];

	fprintf(stderr, "\r%-*s\r%zu of %zu: %s", SL_ROW_BYTES / 2, "", row + 1, c->n,
		sl_row_text(&c->row[row], text));
	fflush(stderr);
}

static enum sl_status compare(const struct sl_args *a, char **argv)
{
	static struct sl_comparison c;
	static struct sl_config config;
	static struct sl_choices choices;
	bool shown = !a->quiet && isatty(STDERR_FILENO);
	enum sl_status s = read_config(a, &config, &choices);

	if (s != SL_OK)
		return s;
	memcpy(choices.device_reason, no_gpu, sizeof(no_gpu));
	s = sl_compare_plan(&config, &choices, a->full, &c);
	c.argv = (const char *const *)argv;
	/* what is in flight is of no use once it is to end */
	control.patience = 1;
	running = 1;
	if (s == SL_OK)
		s = sl_compare(&c, &control, shown ? show_row : NULL);
	if (shown)
		fprintf(stderr, "\r%-*s\r", SL_ROW_BYTES / 2, "");
	if (c.ended) {
		enum sl_status printed = print_comparison(a, &c);

		s = s == SL_OK ? printed : s;
	}
	sl_compare_free(&c);
	return s;
}

static enum sl_status replay(struct sl_args *a)
{
	static struct sl_config config;
	static struct sl_choices choices;
	struct sl_plan *plan = NULL;
	enum sl_status s = read_config(a, &config, &choices);

	if (s == SL_OK)
		s = keep_batch(a, &config, &choices);
	if (s == SL_OK)
		s = sl_plan_make(&config, &choices, &plan);
	if (s == SL_OK)
		s = sl_replay(plan, a->operand, a->id.value, a->json, stdout);
	sl_plan_free(plan);
	return s;
}

static enum sl_status convert(const struct sl_args *a)
{
	const struct sl_convert_job job = {.in = a->operands,
		.n = a->n_operands,
		.to = a->to,
		.set = a->set,
		.n_sets = a->n_sets,
		.stop = &control.stop};

	running = 1;
	return sl_convert(&job, a->quiet ? NULL : stdout);
}

static enum sl_status obey(struct sl_args *a, char **argv)
{
	switch (a->command) {
	case SL_COMMAND_run:
		return run(a);
	case SL_COMMAND_plan:
		return plan(a);
	case SL_COMMAND_compare:
		return compare(a, argv);
	case SL_COMMAND_replay:
		return replay(a);
	case SL_COMMAND_verify:
		return sl_verify(a->operand, a->json, a->quiet, stdout);
	case SL_COMMAND_convert:
		return convert(a);
	case SL_COMMAND_info:
		return sl_info(a->operand, stdout);
	case SL_COMMAND_list:
		return sl_help_list(a->json, stdout);
	case SL_COMMAND_help:
		return a->markdown ? sl_help_markdown(stdout) : sl_help(a->operand, stdout);
	case SL_COMMAND_NONE:
		break;
	}
	if (a->version)
		printf("sluice %s\n", SL_VERSION);
	else
		sl_args_help(stdout);
	return SL_OK;
}

int main(int argc, char **argv)
{
	static struct sl_args args;
	enum sl_status s;

	started = sl_now_ns();
	open_standard_files();
	catch_signals();
	s = sl_formats_start();
	if (s == SL_OK && sl_fault_problem())
		s = sl_fail(SL_USAGE, "%s", sl_fault_problem());
	if (s == SL_OK && sl_emulator_settings_problem())
		s = sl_fail(SL_USAGE, "%s", sl_emulator_settings_problem());
	if (s == SL_OK)
		s = sl_args_parse(argc, argv, &args);
	if (s == SL_OK)
		s = obey(&args, argv);
	if (s != SL_OK && sl_last_error()[0] != '\0')
		fprintf(stderr, "sluice: %s\n", sl_last_error());
	/* What was printed may have gone to a full disk or a closed pipe. */
	if ((fflush(stdout) != 0 || ferror(stdout)) && s == SL_OK) {
		fprintf(stderr, "sluice: stdout: %s\n", strerror(errno));
		s = SL_DISK;
	}
	/* No exit handlers: HDF5's would touch files that a full disk has left half-closed. */
	fflush(stderr);
	_exit(s == SL_STOPPED ? 128 + caught : (int)s);
}
