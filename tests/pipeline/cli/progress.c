/* progress.c - when a log gets a line of progress, and what the line says. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/basic/check.h"

#include "pipeline/cli/progress.h"
#include "pipeline/text/messages.h"

/* The output as text. Each call of show() is a report of the run. */
struct log {
	struct sl_progress_output o;
	char *text;
	size_t bytes;
};

static void begin(struct log *l, bool terminal)
{
	*l = (struct log){.o = {.terminal = terminal}};
	l->o.out = open_memstream(&l->text, &l->bytes);
	assert_non_null(l->o.out);
}

static void end(struct log *l)
{
	fclose(l->o.out);
	free(l->text);
}

/* Returns the number of lines so far, after a report at that time of a run that takes `of` seconds. */
static unsigned show(struct log *l, double seconds, double of)
{
	struct sl_progress p = {.batches_done = 3,
		.n_batches = 60,
		.particles_done = (uint64_t)(1e9 * seconds / of),
		.particles = 1000000000,
		.seconds = seconds,
		.rate = 1e9 / of,
		.seconds_left = of - seconds};
	unsigned lines = 0;

	sl_progress_show(&l->o, &p);
	for (const char *c = l->text; *c; c++)
		lines += *c == '\n';
	return lines;
}

static unsigned lines_of_run(double seconds)
{
	unsigned lines = 0;
	struct log l;

	begin(&l, false);
	for (double t = 0.2; t <= seconds; t += 0.2)
		lines = show(&l, t, seconds);
	end(&l);
	return lines;
}

TEST(log_has_a_line_now_and_then)
{
	assert_int_equal(lines_of_run(29), 0);
	assert_int_equal(lines_of_run(31), 1);
	/* a line each 30 s: 10 % are 6 s */
	assert_int_equal(lines_of_run(61), 2);
	/* after 30 s, then at 10 %, 20 %, ... */
	assert_int_equal(lines_of_run(3000), 1 + 9);
	/* every 10 minutes: 10 % are 2.4 h */
	assert_in_range(lines_of_run(86400), 144, 154);
}

TEST(lines_are_30_s_apart)
{
	double last = 0;
	struct log l;
	unsigned lines = 0;

	begin(&l, false);
	for (double t = 0.2; t < 200; t += 0.2) {
		unsigned now = show(&l, t, 200);

		if (now == lines)
			continue;
		assert_int_equal(now, lines + 1);
		assert_true(t - last >= 29.9);
		last = t;
		lines = now;
	}
	assert_int_equal(lines, 6);
	end(&l);
}

TEST(line_has_time_and_rate)
{
	struct log l;

	begin(&l, false);
	assert_int_equal(show(&l, 40, 4000), 1);
	assert_non_null(
		strstr(l.text, "Z   1.0 %  3 of 60 batches  0.25 M particles/s  66 min left\n"));
	assert_null(strchr(l.text, '\r'));
	sl_progress_end(&l.o);
	fflush(l.o.out);
	assert_int_equal(l.text[strlen(l.text) - 1], '\n');
	end(&l);
}

TEST(terminal_has_one_line)
{
	struct log l;

	begin(&l, true);
	assert_int_equal(show(&l, 1, 4000), 0);
	assert_int_equal(show(&l, 40, 4000), 0);
	assert_non_null(
		strstr(l.text, "\r  1.0 %  3 of 60 batches  0.25 M particles/s  3960 s left"));
	sl_progress_end(&l.o);
	sl_progress_end(&l.o);
	fflush(l.o.out);
	assert_int_equal(l.text[strlen(l.text) - 1], '\n');
	assert_int_not_equal(l.text[strlen(l.text) - 2], '\n');
	end(&l);
}

TEST(durations_are_short)
{
	static const struct {
		double seconds;
		const char *text;
	} cases[] = {{0, "0 s"}, {99.4, "99 s"}, {100, "2 min"}, {3600, "60 min"},
		{3600 * 1.75, "1 h 45 min"}, {86400, "24 h 00 min"}, {3 * 86400 + 7200, "3 d 2 h"}};
	char text[SL_DURATION_BYTES];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(sl_duration(cases[i].seconds, text), cases[i].text);
}

TEST(sizes_are_binary)
{
	static const struct {
		double bytes;
		const char *text;
	} cases[] = {{0, "0 B"}, {1023, "1023 B"}, {1024, "1.0 KiB"}, {1536, "1.5 KiB"},
		{1048576, "1.0 MiB"}, {5e9, "4.7 GiB"}, {0x1p50, "1.0 PiB"}};
	char text[32];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(sl_sized(cases[i].bytes, text), cases[i].text);
}
