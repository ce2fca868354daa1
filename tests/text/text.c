/*
 * text.c - runs the commands of tests/text/NAME.txt and compares what they print: sluice_tests
 * text/NAME [--update]
 *
 *	# What stands before the first title begins every paragraph. Each has an empty folder.
 *	-- file c.yaml                      the file's contents, up to the next step
 *	run: {particles: 10}
 *
 *	== a title                          SLUICE_TEST=title selects a paragraph, with wildcards
 *	-- unless sanitized                 the rest of the paragraph, which sanitizers do not allow
 *	-- if COMMAND                       the rest is only for machines where this command succeeds
 *	-- needs COMMAND                    the same, and the paragraph counts as skipped where it fails
 *	-- unchanged                        from here to the end of the paragraph, no file may change
 *	$ sluice run c.yaml --out a         any command of sh, in the folder; sluice is the program
 *	all lines of its stdout
 *	! all lines of its stderr
 *	? 2                                 its exit code, if it is not 0
 *	@ sluice verify a --json            its stdout is JSON, shown as lines: path value
 *	batches 4
 *
 * Wildcards of expected lines: <n> is a number and the spaces before it; ... is anything in a line;
 * a line that is only ... stands for any number of lines. Empty lines at the end of an output do
 * not count.
 *
 * --update replaces expected output that differs by the output that was found; lines that match are kept, with their
 * wildcards. What sluice prints must be UTF-8 without control characters, whatever the paragraph
 * expects.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "primitives/base/printable.h"
#include "tests/support/basic/check.h"
#include "tests/support/configs/configs.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/process.h"
#include "tests/support/text/lines.h"

enum { PARAGRAPHS_MOST = 600, WORDS_MOST = 64 };

/* The lines first to last - 1 of the file. updated replaces them if it is not NULL. */
struct paragraph {
	const char *title;
	size_t first, last;
	char *updated;
};

static char path[CONFIG_PATH_BYTES];
static struct lines file;
static struct paragraph paragraph[PARAGRAPHS_MOST];
static size_t n_paragraphs; /* the first is what all of them begin with */
static FILE *updating;      /* NULL: nothing is updated */
static unsigned differences;

/* --- commands --------------------------------------------------------------------------------- */

static void check_printable(const char *text, const char *command)
{
	uint32_t point;

	for (size_t n, at = 0; text[at]; at += n) {
		n = sl_utf8_decode((const unsigned char *)text + at, &point);
		if (n == 0 || (point < 0x20 && point != '\n' && point != '\t') ||
			(point >= 0x7f && point < 0xa0)) {
			fprintf(stderr, "%s: byte %02x is printed\n", command,
				(unsigned char)text[at]);
			differences++;
			return;
		}
	}
}

/*
 * Splits a line without special characters outside of quotes into words of text, NAME=value before
 * them into env. Returns false if a shell is needed.
 */
static bool split_words(char *line, const char **env, const char **words)
{
	size_t n = 0, n_env = 0;
	char *to = line;

	for (char *at = line + strspn(line, " "); *at;) {
		const char *word = to;

		for (char quote = 0; *at && (quote || *at != ' '); at++) {
			if (strchr(quote ? (quote == '"' ? "$`\\" : "") : "|&;<>()$`\\*?[#~{", *at))
				return false;
			if (quote ? *at == quote : (*at == '"' || *at == '\''))
				quote = quote ? 0 : *at;
			else
				*to++ = *at;
		}
		at += strspn(at, " ");
		*to++ = '\0';
		if (n == 0 && strchr(word, '=') && isupper((unsigned char)*word))
			env[n_env++] = word;
		else
			words[n++] = word;
		assert_true(n < WORDS_MOST && n_env < WORDS_MOST);
	}
	words[n] = env[n_env] = NULL;
	return n > 0 && strcmp(words[0], "sluice") == 0;
}

static void run_command(const char *command, struct ending *e)
{
	const char *env[WORDS_MOST] = {NULL}, *words[WORDS_MOST];
	const char *const shell[] = {"sh", "-c", command, NULL};
	struct process p = {.argv = words, .env = env, .folder = folder.path};
	char *line = strdup(command);

	assert_non_null(line);
	if (!split_words(line, env, words)) {
		p.argv = shell;
		p.env = NULL;
	}
	process_run(&p, HANG_SECONDS, e);
	free(line);
	if (e->signal)
		e->code = 128 + e->signal;
}

static void check_lines(size_t line, const char *command, const char *stream,
	const struct lines *want, const struct lines *found)
{
	size_t i, k;

	if (lines_match(want, found, &i, &k))
		return;
	fprintf(stderr, "%s:%zu: %s\n%s: expected: %s\n%*s found:    %s\n", path, line + 1, command,
		stream, i < want->n ? want->at[i] : "(its end)", (int)strlen(stream) + 1, "",
		k < found->n ? found->at[k] : "(its end)");
	for (i = 0; i < found->n; i++)
		fprintf(stderr, "    %s\n", found->at[i]);
	differences++;
}

static bool is_step(const char *line)
{
	return begins(line, "$ ") || begins(line, "@ ") || begins(line, "-- ");
}

/* Sorts the expected lines of a command, up to the line end. Returns the expected exit code. */
static int expected(size_t from, size_t end, struct lines *out, struct lines *err)
{
	int code = 0;

	*out = *err = (struct lines){.n = 0};
	for (size_t i = from; i < end; i++) {
		if (begins(file.at[i], "! "))
			lines_add(err, file.at[i] + 2);
		else if (begins(file.at[i], "? "))
			code = atoi(file.at[i] + 2);
		else
			lines_add(out, file.at[i]);
	}
	return code;
}

/* Runs the command of a line, whose expected lines end before the line end. */
static void check_command(size_t line, size_t end)
{
	const char *command = file.at[line] + 2;
	struct lines want_out, want_err, out, err;
	const int want_code = expected(line + 1, end, &want_out, &want_err);
	const unsigned before = differences;
	struct ending e;

	run_command(command, &e);
	if (begins(command, "sluice ")) {
		check_printable(e.out, command);
		check_printable(e.err, command);
	}
	out = lines_of(file.at[line][0] == '@' ? json_as_lines(e.out) : e.out);
	err = lines_of(e.err);
	check_lines(line, command, "stdout", &want_out, &out);
	check_lines(line, command, "stderr", &want_err, &err);
	if (e.code != want_code) {
		fprintf(stderr, "%s:%zu: %s\nexit code %d, expected %d\n%s", path, line + 1,
			command, e.code, want_code, e.timed_out ? "out of time\n" : "");
		differences++;
	}
	for (size_t i = line + 1; updating && differences == before && i < end; i++)
		fprintf(updating, "%s\n", file.at[i]);
	if (updating && differences > before) {
		lines_update(updating, &want_out, &out, "");
		lines_update(updating, &want_err, &err, "! ");
		if (e.code != 0)
			fprintf(updating, "? %d\n", e.code);
	}
	lines_free(&out);
	lines_free(&err);
	lines_free(&want_out);
	lines_free(&want_err);
}

/* --- paragraphs ------------------------------------------------------------------------------- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool is_sanitized = true;
#else
static const bool is_sanitized = false;
#endif

static bool succeeds(const char *command)
{
	struct ending e;

	run_command(command, &e);
	process_free(&e);
	return e.code == 0;
}

/* Tests whether this line leaves out the rest of the paragraph. */
static bool leaves_out(const char *line)
{
	if (begins(line, "-- needs ") && !succeeds(line + strlen("-- needs ")))
		skip_test("this fails: %s", line + strlen("-- needs "));
	return (strcmp(line, "-- unless sanitized") == 0 && is_sanitized) ||
	       (begins(line, "-- if ") && !succeeds(line + strlen("-- if ")));
}

static void make_file(const char *name, size_t from, size_t end)
{
	FILE *f = fopen(folder_path(&folder, name), "w");

	assert_non_null(f);
	for (size_t i = from; i < end; i++)
		fprintf(f, "%s\n", file.at[i]);
	fclose(f);
}

/*
 * Runs the steps of the lines first to last - 1. Returns false if the rest of the paragraph is left
 * out.
 */
static bool run_steps(size_t first, size_t last)
{
	size_t end;

	for (size_t i = first; i < last; i = end) {
		const char *line = file.at[i];
		size_t used;

		for (end = i + 1; end < last && !is_step(file.at[end]);)
			end++;
		for (used = end; used > i + 1 && file.at[used - 1][0] == '\0';)
			used--;
		if (updating)
			fprintf(updating, "%s\n", line);
		if (leaves_out(line))
			return false;
		if (begins(line, "-- file "))
			make_file(line + strlen("-- file "), i + 1, used);
		else if (strcmp(line, "-- unchanged") == 0)
			folder_remember();
		if (begins(line, "$ ") || begins(line, "@ "))
			check_command(i, used);
		else
			used = i + 1;
		for (; updating && used < end; used++)
			fprintf(updating, "%s\n", file.at[used]);
	}
	return true;
}

static void run_paragraph(void **state)
{
	struct paragraph *p = (struct paragraph *)*state;
	FILE *out = updating;
	bool unchanged = false, runs;
	size_t bytes;

	differences = 0;
	updating = NULL;
	run_steps(paragraph[0].first, paragraph[0].last);
	if (out)
		updating = open_memstream(&p->updated, &bytes);
	for (size_t i = p->first; i < p->last; i++)
		unchanged |= strcmp(file.at[i], "-- unchanged") == 0;
	runs = run_steps(p->first, p->last);
	if (runs && unchanged)
		expect_untouched();
	if (updating)
		fclose(updating);
	if (!runs)
		p->updated = NULL;
	updating = out;
	if (differences > 0 && !out)
		fail_msg("%u differences", differences);
}

static int begin(void **state)
{
	(void)state;
	folder_make(&folder);
	return 0;
}

static int end(void **state)
{
	(void)state;
	folder_end();
	return 0;
}

static void read_file(const char *name)
{
	struct folder root;
	size_t bytes;

	snprintf(root.path, sizeof(root.path), "%s", source_root());
	snprintf(path, sizeof(path), "tests/%s.txt", name);
	file = lines_of(folder_read(&root, path, &bytes));
	paragraph[n_paragraphs++] = (struct paragraph){.title = "", .last = file.n};
	for (size_t i = 0; i < file.n; i++) {
		if (!begins(file.at[i], "== "))
			continue;
		assert_true(n_paragraphs < PARAGRAPHS_MOST);
		paragraph[n_paragraphs - 1].last = i;
		paragraph[n_paragraphs++] = (struct paragraph){file.at[i] + 3, i, file.n, NULL};
	}
}

static void write_updated(void)
{
	char name[CONFIG_PATH_BYTES];
	FILE *f;

	snprintf(name, sizeof(name), "%.4000s/%.64s", source_root(), path);
	f = fopen(name, "w");
	assert_non_null(f);
	for (const struct paragraph *p = paragraph; p < paragraph + n_paragraphs; p++) {
		if (p->updated)
			fputs(p->updated, f);
		for (size_t i = p->first; !p->updated && i < p->last; i++)
			fprintf(f, "%s\n", file.at[i]);
	}
	fclose(f);
}

/*
 * sh finds the program under test as sluice, what else is built in the folder above it, such as
 * sluice-bench, and the programs of tests/scripts.
 */
static void set_search_path(void)
{
	const char *program = getenv("SLUICE"), *other = getenv("PATH");
	char all[8192];
	int n;

	if (!program)
		skip_file("the tests start the program; set SLUICE to its path, or use ctest");
	n = (int)(strrchr(program, '/') - program);
	snprintf(all, sizeof(all), "%.*s:%.*s/..:%s/tests/scripts:%s", n, program, n, program,
		source_root(), other);
	setenv("PATH", all, 1);
	setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
	setenv("LC_ALL", "C.UTF-8", 1); /* ls sorts by bytes */
}

TEST_FILE(argc, argv)
{
	struct CMUnitTest tests[PARAGRAPHS_MOST];
	int failed;

	read_file(argv[0]);
	set_search_path();
	if (argc > 1 && strcmp(argv[1], "--update") == 0)
		updating = stderr;
	for (size_t i = 1; i < n_paragraphs; i++)
		tests[i - 1] = (struct CMUnitTest){
			paragraph[i].title, run_paragraph, begin, end, &paragraph[i]};
	cmocka_set_test_filter(getenv("SLUICE_TEST"));
	failed = _cmocka_run_group_tests(argv[0], tests, n_paragraphs - 1, NULL, NULL);
	if (updating)
		write_updated();
	return exit_code_of_tests(failed);
}
