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

/* --- running ---------------------------------------------------------------------------------- */

struct trial trial;

/* line: words that spaces separate. */
static void start(
	const char *line, const char *const *env, unsigned long file_bytes, struct running *r)
{
	static const char *words[64];
	static char text[2048];
	const struct process p = {.argv = words,
		.env = env,
		.folder = trial.f.path,
		.begin = call_log_begin,
		.file_bytes = file_bytes};
	size_t n = 0;

	snprintf(text, sizeof(text), "sluice %s", line);
	for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
		words[n++] = word;
	words[n] = NULL;
	process_start(&p, r);
}

void trial_run(const char *line, const char *const *env, struct ending *e)
{
	struct running r;

	start(line, env, 0, &r);
	process_wait(&r, HANG_SECONDS, e);
}

void trial_read(void)
{
	tree_free(&trial.now);
	tree_read(&trial.f, &trial.now);
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
	tree_free(&trial.now);
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
static void check_manifest(const struct tree_file *manifest)
{
	const char *at = manifest->bytes, *end;
	const int folder_bytes = (int)(strlen(manifest->name) - strlen("manifest.jsonl"));
	char name[128], file[64];

	for (; (end = strchr(at, '\n')) != NULL; at = end + 1) {
		const char *found = strstr(at, "\"file\":");

		if (!found || found > end || sscanf(found + 7, " \"%63[^\"]", file) != 1)
			continue;
		snprintf(name, sizeof(name), "%.*s%s", folder_bytes, manifest->name, file);
		if (!tree_find(&trial.now, name))
			fail_fault("the manifest names %s, which does not exist", name);
	}
}

/* The removals that failed: SL_FAULT=file_remove:N+ lets the N-th and all later ones fail. */
static size_t failed_removals(void)
{
	static struct calls now;
	size_t from = 0, n;
	char on = '\0';

	if (sscanf(trial.fault, "SL_FAULT=file_remove:%zu%c", &from, &on) != 2 || on != '+')
		return 0;
	call_log_read(&now);
	n = calls_of(&now, "file_remove");
	return n >= from ? n - from + 1 : 0;
}

/* A part of a file may be left by a kill, or if its removal has failed. */
static void check_files(bool killed)
{
	size_t parts = 0;

	for (size_t i = 0; i < trial.now.n; i++) {
		const char *name = trial.now.file[i].name;

		if (ends_with(name, ".part"))
			parts += !tree_find(&trial.before, name);
		else if (!is_allowed(&trial.now.file[i], killed))
			fail_fault("%s is left, or has other bytes", name);
		if (ends_with(name, "manifest.jsonl") && !(trial.s->is & REPLACES))
			check_manifest(&trial.now.file[i]);
	}
	if (!killed && parts > failed_removals())
		fail_fault("%zu parts of files are left", parts);
	for (size_t i = 0; i < trial.before.n; i++) {
		const char *name = trial.before.file[i].name;

		/* the manifest has the files of a run */
		if (!tree_find(&trial.now, name) &&
			(strncmp(name, "out/", 4) != 0 || strchr(name + 4, '/')))
			fail_fault("%s is missing", name);
	}
}

bool trial_is_finished(void)
{
	size_t same = 0;

	for (size_t i = 0; i < trial.after.n; i++) {
		const struct tree_file *f = tree_find(&trial.now, trial.after.file[i].name);

		same += f && (varies(f->name) || tree_same(f, &trial.after.file[i]));
	}
	return same == trial.after.n && trial.now.n == trial.after.n;
}

/* A varying file of a few bytes is of a test. */
static uint64_t state_of_files(void)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < trial.now.n; i++)
		hash += tree_file_hash(&trial.now.file[i],
			trial.now.file[i].size < 8 || !varies(trial.now.file[i].name));
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

/*
 * The commands that repair give the undisturbed files. Their result depends only on the state, so
 * each is tested once.
 */
static void repair(void)
{
	const uint64_t state = state_of_files();
	const size_t seen = times_seen(state);
	const bool resumes = trial_is_run() && !strstr(trial.s->command, "--resume");
	const char *line = seen == 0 ? trial.s->repair : trial.s->other;
	struct ending e;
	char again[2048];

	if (seen > 1 || (seen == 1 && !line) || trial_is_finished())
		return;
	assert_true(trial.n_states < STATES_MOST);
	trial.states[trial.n_states++] = state;
	snprintf(again, sizeof(again), "%s%s", trial.s->command, resumes ? " --resume" : "");
	line = line ? line : again;
	trial_run(line, NULL, &e);
	trial_read();
	if (e.code != 0 || !trial_is_finished())
		fail_fault("after it, %s does not give the undisturbed files: exit code %d: %s",
			line, e.code, e.err);
	process_free(&e);
}

/* Waits for all processes of a group: the test adopts them. */
static void check_processes(pid_t group)
{
	for (int i = 0; waitpid(-group, NULL, WNOHANG) != -1; i++) {
		if (i == 20000)
			fail_fault("a process is left");
		sleep_for(0.0005);
	}
}

void trial_check_message(const char *text)
{
	const char *err = trial.end.err;

	if (strncmp(err, "sluice: ", 8) != 0 || !strstr(err, "; ") || !strstr(err, text))
		fail_fault("the message lacks a remedy or \"%s\": %s", text, err);
}

void trial_check_ending(void)
{
	const struct ending *e = &trial.end;

	if (e->timed_out || e->code < 0)
		fail_fault("signal %d: %s", e->signal, e->err);
	trial.succeeded += e->code == 0;
	trial.failed += e->code != 0;
	if (e->code == 0 && !trial_is_finished())
		fail_fault("exit code 0, but the output is incomplete");
	if (e->code == 0 && !trial_is_run() && strcmp(e->out, trial.out) != 0)
		fail_fault("exit code 0, but it printed %zu bytes of %zu", e->out_bytes,
			strlen(trial.out));
}

static void change_at_stop(const struct fault *fault, const struct running *r)
{
	siginfo_t how;

	assert_int_equal(waitid(P_PID, (id_t)r->pid, &how, WSTOPPED | WEXITED | WNOWAIT), 0);
	if (how.si_code != CLD_STOPPED)
		fail_fault("the command ended before this call");
	trial.pid = r->pid;
	fault->at_stop();
	kill(r->pid, SIGCONT);
}

void trial_run_with(const struct fault *fault, const char *format, ...)
{
	static const struct fault none = {.seconds = 0};
	const char *env[] = {NULL, NULL, NULL};
	struct running r;
	va_list list;

	va_start(list, format);
	vsnprintf(trial.fault, sizeof(trial.fault), format, list);
	va_end(list);
	fault = fault ? fault : &none;
	if (strchr(trial.fault, '=')) {
		env[0] = trial.fault;
		env[1] = fault->more;
	}
	start(trial.s->command, env, fault->file_bytes, &r);
	if (fault->at_stop)
		change_at_stop(fault, &r);
	if (fault->seconds > 0) {
		sleep_for(fault->seconds);
		kill(r.pid, SIGKILL);
	}
	process_wait(&r, HANG_SECONDS, &trial.end);
	check_processes(r.pid);
	trial_read();
	if (!fault->changes) /* HDF5 can end with 255 without memory */
		check_files(trial.end.code < 0 || trial.end.code == 255);
}

void trial_restore(void)
{
	trial_read();
	tree_restore(&trial.f, &trial.now, &trial.before);
}

void trial_finish(void)
{
	process_free(&trial.end);
	repair();
	tree_restore(&trial.f, &trial.now, &trial.before);
}
