/* progress.c - when a log gets a line of progress, and what the line says. */
#include <stdio.h>
#include <stdlib.h>

#include "pipeline/cli/cli.h"
#include "pipeline/text/text.h"
#include "tests/support/basic/check.h"

/* The output as text. Each call of show() is a report of the run. */
static struct sl_progress_output o;
static char *text;
static size_t bytes;

static void begin(bool terminal)
{
	o = (struct sl_progress_output){.terminal = terminal};
	o.out = open_memstream(&text, &bytes);
	assert_non_null(o.out);
}

/* Ends the output, which must have these lines, each complete. */
static void end(unsigned lines)
{
	sl_progress_end(&o);
	sl_progress_end(&o);
	fclose(o.out);
	for (const char *c = text; *c; c++)
		lines -= *c == '\n';
	assert_int_equal(lines, 0);
	assert_true(bytes == 0 || text[bytes - 1] == '\n');
	free(text);
}

/*
 * Returns the number of lines so far, after a report at that time of a run that takes `of` seconds.
 */
static unsigned show(double seconds, double of)
{
	struct sl_progress p = {.batches_done = 3,
		.n_batches = 60,
		.particles_done = (uint64_t)(1e9 * seconds / of),
		.particles = 1000000000,
		.seconds = seconds,
		.rate = 1e9 / of,
		.seconds_left = of - seconds};
	unsigned lines = 0;

	sl_progress_show(&o, &p);
	fflush(o.out);
	for (const char *c = text; *c; c++)
		lines += *c == '\n';
	return lines;
}

/* Lines are 30 s apart: after 30 s, then at 10 %, 20 %, ... and each 10 minutes. */
TEST(log_has_a_line_now_and_then)
{
	static const struct {
		unsigned seconds, least, most;
	} rows[] = {
		{29, 0, 0}, {31, 1, 1}, {61, 2, 2}, {200, 6, 6}, {3000, 10, 10}, {21600, 36, 42}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned lines = 0;
		double last = 0;

		begin(false);
		for (double t = 0.2; t < rows[i].seconds; t += 0.2) {
			unsigned now = show(t, rows[i].seconds);

			if (now > lines && (now > lines + 1 || t - last < 29.9))
				fail_msg("row %zu: a line at %g s and at %g s", i, last, t);
			last = now > lines ? t : last;
			lines = now;
		}
		assert_in_range(lines, rows[i].least, rows[i].most);
		end(lines);
	}
}

TEST(line_has_time_and_rate)
{
	begin(false);
	assert_int_equal(show(40, 4000), 1);
	assert_non_null(
		strstr(text, "Z   1.0 %  3 of 60 batches  0.25 M particles/s  66 min left\n"));
	assert_null(strchr(text, '\r'));
	end(1);
	begin(true);
	assert_int_equal(show(1, 4000), 0);
	assert_int_equal(show(40, 4000), 0);
	assert_non_null(
		strstr(text, "\r  1.0 %  3 of 60 batches  0.25 M particles/s  3960 s left"));
	end(1);
}

TEST(durations_and_sizes_are_short)
{
	static const struct {
		double value;
		const char *duration, *size;
	} rows[] = {{0, "0 s", "0 B"}, {99.4, "99 s", "99 B"}, {100, "2 min", "100 B"},
		{1023, "17 min", "1023 B"}, {1024, "17 min", "1.0 KiB"},
		{1536, "26 min", "1.5 KiB"}, {3600, "60 min", "3.5 KiB"},
		{3600 * 1.75, "1 h 45 min", "6.2 KiB"}, {86400, "24 h 00 min", "84.4 KiB"},
		{3 * 86400 + 7200, "3 d 2 h", "260.2 KiB"}, {1048576, "12 d 3 h", "1.0 MiB"},
		{5e9, "57870 d 8 h", "4.7 GiB"}, {0x1p50, "13031248921 d 18 h", "1.0 PiB"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_string_equal(sl_duration(rows[i].value), rows[i].duration);
		assert_string_equal(sl_sized(rows[i].value), rows[i].size);
	}
}
