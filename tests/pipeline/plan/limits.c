/*
 * limits.c - the limits of a cgroup, from copies of the kernel's files. limits.txt has groups of
 * them: PATH TEXT, with \n and \t. cgroup: has the bytes that a group leaves free, or none, and its
 * CPUs; machine: has what all limits together allow.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "pipeline/plan/limits/limits.h"
#include "tests/support/configs/configs.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

#define GIB (UINT64_C(1) << 30)

/* Makes the folders above a file of the copy, then the file, with \n and \t replaced. */
static void put(const char *name, char *text)
{
	char part[512];

	for (size_t i = 1; name[i]; i++)
		if (name[i] == '/') {
			snprintf(part, sizeof(part), "%.*s", (int)i, name);
			(void)mkdir(folder_path(&folder, part), 0777);
		}
	for (char *at = text; (at = strchr(at, '\\')) != NULL; at++) {
		*at = at[1] == 'n' ? '\n' : '\t';
		memmove(at + 1, at + 2, strlen(at + 2) + 1);
	}
	write_text(&folder, name, text);
}

static unsigned long long mib(uint64_t bytes)
{
	assert_int_equal(bytes % (1 << 20), 0);
	return bytes >> 20;
}

/* The limits as a text, valid until the next call; kind: what stands before the colon. */
static const char *limits(const char *kind)
{
	static char found[256];
	struct sl_cgroup c;
	struct sl_machine m;

	sl_cgroup_read(folder.path, &c);
	if (kind[0] == 'c' && c.limits_memory)
		snprintf(found, sizeof(found), "%llu %u", (unsigned long long)c.free_bytes, c.cpus);
	else
		snprintf(found, sizeof(found), "none %u", c.cpus);
	if (kind[0] == 'm') {
		sl_machine_read(folder.path, &m);
		snprintf(found, sizeof(found), "%llu MiB, %llu free%s%s%s, %s", mib(m.memory_bytes),
			mib(m.free_bytes), m.memory_limit ? " by " : "",
			m.memory_limit ? m.memory_limit : "", m.cores == 1 ? ", 1 core" : "",
			m.processor);
	}
	return found;
}

TEST(limits_follow_from_files)
{
	FILE *f = open_source("tests/pipeline/plan/limits.txt");
	char title[LINE_BYTES] = "", line[LINE_BYTES];
	int n = 0;

	while (next_line(f, line)) {
		char *text = strchr(line, ' ');

		if (line[0] == '=') {
			strcpy(title, line);
			folder_remove(&folder);
			folder_make(&folder);
		} else if (text[-1] == ':') {
			if (strcmp(limits(line), text + 1) != 0)
				fail_msg("%s: %s, expected %s", title, limits(line), text + 1);
			n++;
		} else {
			*text = '\0';
			put(line, text + 1);
		}
	}
	fclose(f);
	assert_int_equal(n, 12);
}

/* Ranks divide the memory, and the cores unless they are bound to different ones; never to 0. */
TEST(ranks_divide_the_machine)
{
	static const struct {
		uint32_t of, cores_of;
		uint32_t cores;
		uint64_t free_bytes;
	} rows[] = {{0, 0, 8, 8 * GIB}, {1, 1, 8, 8 * GIB}, {4, 4, 2, 2 * GIB}, {4, 1, 8, 2 * GIB},
		{16, 16, 1, GIB / 2}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl_machine m = {.cores = 8, .free_bytes = 8 * GIB};

		sl_machine_divide(
			&m, &(struct sl_share){.of = rows[i].of, .cores_of = rows[i].cores_of});
		if (m.cores != rows[i].cores || m.free_bytes != rows[i].free_bytes ||
			(rows[i].cores_of <= 1 && m.cores_limit))
			fail_msg("row %zu: %u cores, %llu bytes", i, m.cores,
				(unsigned long long)m.free_bytes);
	}
}
