/* same_run.c - see same_run.h. */
#include "tests/support/runs/same_run.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

/* The members of run.json that say when, where and how a run was computed. */
static const char *const execution[] = {"times", "machine", "mode", "schedule", "schedule_reason",
	"primitives", "rounds", "part", "crc32"};

/* Tests whether the line begins this member of run.json itself. */
static bool begins(const char *line, const char *member)
{
	size_t n = strlen(member);

	return strncmp(line, "\t\"", 2) == 0 && strncmp(line + 2, member, n) == 0 &&
	       line[2 + n] == '"';
}

static bool begins_execution(const char *line)
{
	for (size_t i = 0; i < sizeof(execution) / sizeof(execution[0]); i++)
		if (begins(line, execution[i]))
			return true;
	return false;
}

/* Tests whether the line has one of these keys. */
static bool has_key(const char *line, const char *const *key)
{
	for (; *key; key++)
		if (strstr(line, *key))
			return true;
	return false;
}

/*
 * The lines of run.json without those that have a key of but: those of tallies that have one of the
 * keys, or if keys is NULL all except those of execution. The caller frees the text.
 */
static char *lines_of(const char *out, const char *const *keys, const char *const *but)
{
	char name[64], *text, *kept, *to;
	bool skips = false;
	size_t bytes;

	snprintf(name, sizeof(name), "%s/run.json", out);
	text = folder_read(&folder, name, &bytes);
	to = kept = (char *)calloc(1, bytes + 1);
	assert_non_null(kept);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		size_t n = strlen(line);

		if (line[0] == '\t' && line[1] == '"')
			skips = keys ? !begins(line, "tallies") : begins_execution(line);
		if (skips || (keys && !has_key(line, keys)) || has_key(line, but))
			continue;
		/* whether a comma follows depends on what follows */
		memcpy(to, line, n);
		to += n - (line[n - 1] == ',');
		*to++ = '\n';
	}
	free(text);
	return kept;
}

char *sums_of_run(const char *out)
{
	static const char *const sums[] = {"\t\"particles\"", "\t\"survivors\": ", "\"steps\"",
		"\"collisions\"", "\"count\"", "\"counts\"", "\"weight\"", "\"weights\"",
		"\"under\"", "\"over\"", "\"weight_fraction\"", NULL};
	static const char *const none[] = {NULL};

	return lines_of(out, sums, none);
}

bool is_same_file(const char *a, const char *b)
{
	size_t a_bytes, b_bytes;
	char *x = folder_read(&folder, a, &a_bytes), *y = folder_read(&folder, b, &b_bytes);
	bool same = a_bytes == b_bytes && memcmp(x, y, a_bytes) == 0;

	free(x);
	free(y);
	return same;
}

const char *difference_of_runs(const char *a, const char *b)
{
	static const char *const times[] = {"\"figure_of_merit\"", "_seconds\"", NULL};
	static char difference[512];
	char *x = lines_of(a, NULL, times), *y = lines_of(b, NULL, times);
	size_t i = 0;

	difference[0] = '\0';
	while (x[i] && x[i] == y[i])
		i++;
	if (x[i] != y[i]) {
		while (i > 0 && x[i - 1] != '\n')
			i--;
		snprintf(difference, sizeof(difference), "run.json has%.*s but should have%.*s",
			(int)strcspn(x + i, "\n"), x + i, (int)strcspn(y + i, "\n"), y + i);
	}
	free(x);
	free(y);
	if (hash_run(&folder, a) != hash_run(&folder, b))
		snprintf(difference, sizeof(difference), "the files of %s and %s differ", a, b);
	return difference[0] ? difference : NULL;
}

void expect_same_runs(const char *a, const char *b)
{
	const char *difference = difference_of_runs(a, b);

	if (difference)
		fail_msg("%s", difference);
}

void joined_name(const char *out, const char *format, char name[64])
{
	snprintf(name, 64, "%s/t.%s", out, strcmp(format, "openpmd") == 0 ? "h5" : format);
}

void open_run(struct opened *o, uint32_t threads)
{
	char set[64];
	const char *const sets[] = {set};

	snprintf(set, sizeof(set), "run.threads=%u", threads);
	*o = (struct opened){.plan = NULL};
	assert_ok(sl_dir_open(folder_path(&folder, "out"), false, &o->dir));
	assert_ok(sl_existing_run_read(&o->dir, &o->existing));
	assert_ok(sl_existing_run_plan(&o->existing, sets, 1, &o->plan));
	assert_ok(sl_manifest_read(&o->dir, &o->m));
}

void close_run(struct opened *o)
{
	sl_plan_free(o->plan);
	sl_existing_run_free(&o->existing);
	sl_manifest_free(&o->m);
	sl_dir_close(&o->dir);
}
