/*
 * main.c - sluice-bench: a device, a table, a command; see sluice-bench --help.
 */
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "primitives/base/clock.h"

static enum sl_status use_device(const char *name, struct sl_device *device)
{
	const char *digits = name + strlen("cuda:");
	int number = 0;

	sl_device_emulate(strcmp(name, "emulated") == 0);
	if (strncmp(name, "cuda:", strlen("cuda:")) == 0 && *digits &&
		strspn(digits, "0123456789") == strlen(digits) && strlen(digits) < 5)
		number = atoi(digits);
	else if (!sl_device_is_emulated() && strcmp(name, "cuda") != 0)
		return sl_fail(SL_USAGE,
			"--device %s: there is no such device, try cuda, cuda:0 or emulated", name);
	return sl_device_use(number, device);
}

static enum sl_status obey(struct sl_bench *b)
{
	switch (b->asked->command) {
	case SL_BENCH_primitives:
		return sl_bench_primitives(b);
	case SL_BENCH_tune:
		return sl_bench_tune(b);
	case SL_BENCH_sweep:
		return sl_bench_sweep(b);
	case SL_BENCH_pipeline:
		return sl_bench_pipeline(b);
	case SL_BENCH_NONE:
		break;
	}
	return SL_OK;
}

/* The first failure is the one that is told. */
static enum sl_status first(enum sl_status s, enum sl_status then, const char *message)
{
	if (s != SL_OK)
		sl_set_last_error(message);
	return s != SL_OK ? s : then;
}

static enum sl_status run(const struct sl_asked *asked)
{
	static struct sl_sheet sheet;
	static struct sl_bench b;
	char message[SL_MESSAGE_BYTES];
	enum sl_status s;

	b.asked = asked;
	b.sheet = &sheet;
	SL_TRY(use_device(asked->device, &b.device));
	if (asked->tuning)
		SL_TRY(sl_tuning_read(asked->tuning));
	sl_about_make(asked, &b.device, &b.about);
	sl_about_print(&b.about, stdout);
	if (asked->seconds.n > 0)
		b.deadline_ns = sl_now_ns() + UINT64_C(1000000000) * asked->seconds.at[0];
	s = sl_sheet_open(&sheet, &b.about, asked->csv, asked->json);
	if (s == SL_OK)
		s = sl_stopwatch_open(asked, &b.watch);
	if (s == SL_OK)
		s = obey(&b);
	memcpy(message, sl_last_error(), sizeof(message));
	sl_stopwatch_close(&b.watch);
	return first(s, sl_sheet_close(&sheet), message);
}

int main(int argc, char **argv)
{
	static struct sl_asked asked;
	enum sl_status s = sl_asked_read(argc, argv, &asked);

	if (s == SL_OK && asked.help)
		sl_asked_help(stdout);
	else if (s == SL_OK)
		s = run(&asked);
	if (s != SL_OK)
		fprintf(stderr, "sluice-bench: %s\n", sl_last_error());
	return (int)s;
}
