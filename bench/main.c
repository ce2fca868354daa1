/* main.c - sluice-bench: opens the device and the table of results, then runs one command. */
#include <stdlib.h>
#include <string.h>

#include "bench/cells/cells.h"
#include "bench/commands/commands.h"
#include "bench/cub/cub.h"
#include "primitives/base/clock.h"

/* Checks --only in between, because it needs the list of backends and no device. */
static enum sl_status use_device(const struct sl_bench_options *options, struct sl_device *device)
{
	const char *name = options->device, *digits = name + strlen("cuda:");
	int number = 0;

	sl_device_emulate(strcmp(name, "emulated") == 0);
	if (strncmp(name, "cuda:", strlen("cuda:")) == 0 && *digits &&
		strspn(digits, "0123456789") == strlen(digits) && strlen(digits) < 5)
		number = atoi(digits);
	else if (!sl_device_is_emulated() && strcmp(name, "cuda") != 0)
		return sl_fail(SL_USAGE,
			"--device %s: unknown device; use cuda, cuda:N or emulated", name);
	SL_TRY(sl_bench_options_check_only(options));
	return sl_device_use(number, device);
}

static enum sl_status run(const struct sl_bench_options *options)
{
	static enum sl_status (*const commands[])(struct sl_bench * b) = {
#define X(name, help) sl_bench_##name,
		SL_BENCH_COMMANDS(X)
#undef X
	};
	static struct sl_bench_table table;
	static struct sl_bench b;
	struct sl_failure before;
	enum sl_status s;

	b.options = options;
	b.table = &table;
	SL_TRY(use_device(options, &b.device));
	sl_about_make(options, &b.device, sl_cub_version, &b.about);
	sl_about_print(&b.about, stdout);
	if (options->seconds.n > 0)
		b.deadline_ns = sl_now_ns() + UINT64_C(1000000000) * options->seconds.at[0];
	s = sl_bench_table_open(&table, &b.about, options->csv, options->json);
	if (s == SL_OK)
		s = sl_stopwatch_open(options->samples.n > 0 && options->samples.at[0] == 0
					      ? 1
					      : options->samples.at[0],
			&b.watch);
	if (s == SL_OK)
		s = commands[options->command](&b);
	if (s == SL_OK && b.wrong)
		s = sl_fail(
			SL_CHECK_FAILED, "a backend gave a wrong answer; the table shows which");
	before = sl_failure_keep(s);
	sl_stopwatch_close(&b.watch);
	return sl_failure_first(&before, sl_bench_table_close(&table));
}

int main(int argc, char **argv)
{
	static struct sl_bench_options options;
	enum sl_status s;

	if (argc > 1 && strcmp(argv[1], "complete") == 0) {
		sl_complete(&sl_completed_bench, argc - 2, argv + 2, stdout);
		return 0;
	}
	s = sl_bench_options_read(argc, argv, &options);
	if (s == SL_OK && options.help)
		sl_bench_options_help(stdout);
	else if (s == SL_OK)
		s = run(&options);
	if (s != SL_OK)
		fprintf(stderr, "sluice-bench: %s\n", sl_last_error());
	return (int)s;
}
