/* trial.c - see trial.h. */
#include "tests/support/runs/trial.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/formats/mcpl_lists.h"
#include "tests/support/program/fixture.h"

static const char config[] =
	"run: {name: tiny, seed: 7, particles: 600, batch: 200}\n"
	"model:\n"
	"  source_detector:\n"
	"    source:   {type: disk, radius: 0.4 cm}\n"
	"    stop:     {type: disk, distance: 2 cm, radius: 0.5 cm}\n"
	"    detector: {type: rectangle, distance: 4 cm, width: 6 cm, height: 6 cm, pixels: [8, 8]}\n"
	"    energy:   {type: lines, lines: [26.3 keV, 59.5 keV], intensities: [2.4, 35.9]}\n"
	"keep: hit\n"
	"key: [pixel:6, energy:8]\n"
	"output: {columns: [id, x, y, z, energy, pixel]}\n";

/* The words of a command line, separated by spaces. */
struct words {
	const char *at[64];
	char text[2048];
};

static void split(const char *line, struct words *w)
{
	size_t n = 0;

	snprintf(w->text, sizeof(w->text), "sluice %s", line);
	for (char *word = strtok(w->text, " "); word; word = strtok(NULL, " "))
		w->at[n++] = word;
	w->at[n] = NULL;
}

/* --- running ---------------------------------------------------------------------------------- */

struct trial trial;

void trial_run(const char *line, const char *const *env, struct ending *e)
{
	static struct words w;
	struct process p = {
		.argv = w.at, .env = env, .folder = trial.f.path, .begin = call_log_begin};

	split(line, &w);
	process_run(&p, HANG_SECONDS, e);
}

/* Runs lines that ";" separates. */
static void run_before(const char *lines)
{
	char copy[2048], *rest = NULL;

	snprintf(copy, sizeof(copy), "%s", lines);
	for (char *line = strtok_r(copy, ";", &rest); line; line = strtok_r(NULL, ";", &rest)) {
		const bool fails = strncmp(line, "SL_FAULT=", 9) == 0;
		char *command = fails ? strchr(line, ' ') + 1 : line;
		const char *const env[] = {fails ? line : NULL, NULL};
		struct ending e;

		if (fails)
			command[-1] = '\0';
		trial_run(command, env, &e);
		if ((e.code != 0) != fails)
			fail_msg("%s: exit code %d: %s", command, e.code, e.err);
		process_free(&e);
	}
}

void trial_begin(const struct scenario *s)
{
	static const char *const log_all[] = {"LOG_ALL=1", NULL};
	struct ending e;

	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	if (trial.s) /* it failed */
		folder_remove(&trial.f);
	trial.s = s;
	snprintf(trial.f.path, sizeof(trial.f.path), "%s", folder_path(&folder, "f"));
	memset(&trial.before, 0, sizeof(trial) - offsetof(struct trial, before));
	assert_true(mkdir(trial.f.path, 0777) == 0 || errno == EEXIST); /* it may be a disk */
	write_text(&trial.f, "tiny.yaml", config);
	write_text(&trial.f, "list.yaml",
		"run: {name: tiny, seed: 7, batch: 70, device: cpu}\n"
		"model: {list: {files: [list.mcpl.gz]}}\nkeep: listed\noutput: {format: npz}\n");
	copy_reference_list(&trial.f, "miscphys.mcpl.gz");
	assert_int_equal(rename(folder_path(&trial.f, "miscphys.mcpl.gz"),
				 folder_path(&trial.f, "list.mcpl.gz")),
		0);
	run_before(s->before);
	tree_read(&trial.f, &trial.before);
	trial_run("list", log_all, &e);
	process_free(&e);
	call_log_read(&trial.calls);
	trial.first = calls_of(&trial.calls, "malloc");
	trial.seconds = -seconds_now();
	trial_run(s->command, log_all, &e);
	trial.seconds += seconds_now();
	if (e.code != 0)
		fail_msg("%s: exit code %d: %s", s->command, e.code, e.err);
	trial.out = e.out;
	e.out = NULL;
	process_free(&e);
	call_log_read(&trial.calls);
	tree_read(&trial.f, &trial.after);
	tree_restore(&trial.f, &trial.after, &trial.before);
}

void trial_end(void)
{
	print_message(
		"%s: %zu calls; %u commands failed, %u succeeded, %u were killed; %zu states repaired\n",
		trial.s->name, trial.calls.n, trial.failed, trial.succeeded, trial.ended,
		trial.n_states);
	if (folder_has(&folder, "f"))
		folder_remove(&trial.f);
	tree_free(&trial.before);
	tree_free(&trial.after);
	free(trial.out);
	trial.s = NULL;
}

/* --- what must hold after a fault ------------------------------------------------------------- */

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), n_end = strlen(end);

	return n >= n_end && strcmp(name + n - n_end, end) == 0;
}

/* Every run writes its times there, and its process number in LOCK. */
static bool varies(const char *name)
{
	return ends_with(name, "run.json") || ends_with(name, "LOCK");
}

/* A file that the command may leave, if it is whole. */
static bool is_allowed(const struct tree_file *f, bool killed)
{
	const struct tree_file *after = tree_find(&trial.after, f->name);

	if (ends_with(f->name, "run.json"))
		return f->size > 4 && strcmp(f->bytes + f->size - 3, "\n}\n") == 0;
	if (ends_with(f->name, "manifest.jsonl"))
		return after && f->size <= after->size &&
		       memcmp(f->bytes, after->bytes, f->size) == 0 &&
		       (killed || f->size == 0 || f->bytes[f->size - 1] == '\n');
	return ends_with(f->name, "LOCK") || tree_same(f, after) ||
	       tree_same(f, tree_find(&trial.before, f->name));
}

/* Every line of a manifest has its file. */
static void check_manifest(
	const struct fault *fault, const struct tree *now, const struct tree_file *manifest)
{
	const char *at = manifest->bytes, *end;
	const int folder_bytes = (int)(strlen(manifest->name) - strlen("manifest.jsonl"));
	char name[128], file[64];

	for (; (end = strchr(at, '\n')) != NULL; at = end + 1) {
		const char *found = strstr(at, "\"file\":");

		if (!found || found > end || sscanf(found + 7, " \"%63[^\"]", file) != 1)
			continue;
		snprintf(name, sizeof(name), "%.*s%s", folder_bytes, manifest->name, file);
		if (!tree_find(now, name))
			fail_fault(fault, "the manifest names %s, which does not exist", name);
	}
}

/* The removals that failed: SL_FAULT=file_remove:N+ lets the N-th and all later ones fail. */
static size_t failed_removals(const struct fault *fault)
{
	static struct calls now;
	size_t from = 0, n;
	char on = '\0';

	if (sscanf(fault->text, "SL_FAULT=file_remove:%zu%c", &from, &on) != 2 || on != '+')
		return 0;
	call_log_read(&now);
	n = calls_of(&now, "file_remove");
	return n >= from ? n - from + 1 : 0;
}

/* A part of a file may be left by a kill, or if its removal has failed. */
static void check_files(const struct fault *fault, const struct tree *now, bool killed)
{
	size_t parts = 0;

	for (size_t i = 0; i < now->n; i++) {
		const char *name = now->file[i].name;

		if (ends_with(name, ".part"))
			parts += !tree_find(&trial.before, name);
		else if (!is_allowed(&now->file[i], killed))
			fail_fault(fault, "%s is left, or has other bytes", name);
		if (ends_with(name, "manifest.jsonl") && !(trial.s->is & REPLACES))
			check_manifest(fault, now, &now->file[i]);
	}
	if (!killed && parts > failed_removals(fault))
		fail_fault(fault, "%zu parts of files are left", parts);
	for (size_t i = 0; i < trial.before.n; i++) {
		const char *name = trial.before.file[i].name;

		/* the manifest has the files of a run */
		if (!tree_find(now, name) &&
			(strncmp(name, "out/", 4) != 0 || strchr(name + 4, '/')))
			fail_fault(fault, "%s is missing", name);
	}
}

bool trial_is_finished(const struct tree *now)
{
	size_t same = 0;

	for (size_t i = 0; i < trial.after.n; i++) {
		const struct tree_file *f = tree_find(now, trial.after.file[i].name);

		same += f && (varies(f->name) || tree_same(f, &trial.after.file[i]));
	}
	return same == trial.after.n && now->n == trial.after.n;
}

/* A varying file of a few bytes is of a test. */
static uint64_t state_of(const struct tree *now)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < now->n; i++)
		hash += tree_file_hash(
			&now->file[i], now->file[i].size < 8 || !varies(now->file[i].name));
	return hash;
}

bool trial_is_run(void)
{
	return strncmp(trial.s->command, "run", 3) == 0;
}

/* The number of times that a state was seen. */
static size_t times_seen(uint64_t state)
{
	size_t n = 0;

	for (size_t i = 0; i < trial.n_states; i++)
		n += trial.states[i] == state;
	return n;
}

/* The commands that repair give the undisturbed files. Their result depends only on the state, so each is tested once. */
static void repair(const struct fault *fault, struct tree *now)
{
	const uint64_t state = state_of(now);
	const size_t seen = times_seen(state);
	const bool resumes = trial_is_run() && !strstr(trial.s->command, "--resume");
	const char *line = seen == 0 ? trial.s->repair : trial.s->other;
	struct ending e;
	char again[2048];

	if (seen > 1 || (seen == 1 && !line) || trial_is_finished(now))
		return;
	assert_true(trial.n_states < STATES_MOST);
	trial.states[trial.n_states++] = state;
	snprintf(again, sizeof(again), "%s%s", trial.s->command, resumes ? " --resume" : "");
	line = line ? line : again;
	trial_run(line, NULL, &e);
	tree_free(now);
	tree_read(&trial.f, now);
	if (e.code != 0 || !trial_is_finished(now))
		fail_fault(fault,
			"after it, %s does not give the undisturbed files: exit code %d: %s", line,
			e.code, e.err);
	process_free(&e);
}

/* Waits for all processes of a group: the test adopts them. */
static void check_processes(const struct fault *fault, pid_t group)
{
	for (int i = 0; waitpid(-group, NULL, WNOHANG) != -1; i++) {
		if (i == 20000)
			fail_fault(fault, "a process is left");
		sleep_for(0.0005);
	}
}

void trial_check_message(const struct fault *fault, const struct ending *e, const char *text)
{
	if (strncmp(e->err, "sluice: ", 8) != 0 || !strstr(e->err, "; ") ||
		(text && !strstr(e->err, text)))
		fail_fault(fault, "the message lacks a remedy or \"%s\": %s", text ? text : "",
			e->err);
}

/* The command has ended by itself, and not because of a kill. */
void trial_check_ending(const struct fault *fault, const struct ending *e, const struct tree *now)
{
	if (e->timed_out || e->code < 0)
		fail_fault(fault, "signal %d: %s", e->signal, e->err);
	trial.succeeded += e->code == 0;
	trial.failed += e->code != 0;
	if (e->code == 0 && !trial_is_finished(now))
		fail_fault(fault, "exit code 0, but the output is incomplete");
	if (e->code == 0 && !trial_is_run() && strcmp(e->out, trial.out) != 0)
		fail_fault(fault, "exit code 0, but it printed %zu bytes of %zu", e->out_bytes,
			strlen(trial.out));
}

/* Runs the command with the fault; then the files are in now. */
static void change_at_stop(const struct fault *fault, const struct running *r)
{
	siginfo_t how;

	assert_int_equal(waitid(P_PID, (id_t)r->pid, &how, WSTOPPED | WEXITED | WNOWAIT), 0);
	if (how.si_code != CLD_STOPPED)
		fail_fault(fault, "the command ended before this call");
	trial.pid = r->pid;
	fault->at_stop();
	kill(r->pid, SIGCONT);
}

void trial_run_changed(const struct fault *fault, struct ending *e)
{
	static struct words w;
	const struct process p = {.argv = w.at,
		.env = fault->env,
		.folder = trial.f.path,
		.begin = call_log_begin,
		.file_bytes = fault->file_bytes};
	struct running r;

	split(trial.s->command, &w);
	process_start(&p, &r);
	if (fault->at_stop)
		change_at_stop(fault, &r);
	if (fault->seconds > 0) {
		sleep_for(fault->seconds);
		kill(r.pid, SIGKILL);
	}
	process_wait(&r, HANG_SECONDS, e);
	check_processes(fault, r.pid);
}

void trial_run_with(const struct fault *fault, struct ending *e, struct tree *now)
{
	trial_run_changed(fault, e);
	tree_read(&trial.f, now);
	check_files(fault, now, e->code < 0 || e->code == 255); /* HDF5 can end so without memory */
}

void trial_finish(const struct fault *fault, struct ending *e, struct tree *now)
{
	process_free(e);
	repair(fault, now);
	tree_restore(&trial.f, now, &trial.before);
	tree_free(now);
}
