/*
 * main.c - sluice_bench: what is measured, on which device, and where the table goes.
 *
 *	sluice_bench primitives                    scan, compact and sort: all backends, n = 2^27
 *	    --n 2^20,2^27                          sizes
 *	    --only sort/shared                     one primitive, or one backend
 *	    --tunings                              every block size and items a thread
 *	    --block N --items N                    these, where they can be had
 *	    --device cuda[:NUMBER] | emulated
 *	    --csv FILE                             the table for programs
 *	    --commit TEXT                          of the sources, where the build could not tell
 *
 * The exit code is that of a status: 0, 2 wrong use, 8 no device, 11 a wrong answer, ...
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { N_USUAL = 1 << 27, N_EMULATED = 1 << 12 };

static const char usage[] =
	"sluice_bench primitives [--n 2^20,2^27] [--only sort/shared] [--tunings] [--block N] "
	"[--items N] [--device cuda[:NUMBER]|emulated] [--csv FILE] [--commit TEXT]";

/* "134217728" or "2^27", up to where a comma or the end is. */
static bool read_number(const char *text, const char **end, uint32_t *value)
{
	char *after;
	unsigned long long base = strtoull(text, &after, 10), n = base;

	if (after == text)
		return false;
	if (*after == '^') {
		unsigned long power = strtoul(after + 1, &after, 10);

		for (n = 1; power > 0 && n <= UINT32_MAX; power--)
			n *= base;
	}
	*end = after;
	*value = (uint32_t)n;
	return n > 0 && n <= UINT32_MAX;
}

static bool read_one(const char *text, uint32_t *value)
{
	const char *end;

	return read_number(text, &end, value) && *end == '\0';
}

static bool read_sizes(const char *text, struct sl_asked *asked)
{
	for (asked->sizes = 0; asked->sizes < SL_BENCH_SIZES; text++) {
		if (!read_number(text, &text, &asked->n[asked->sizes++]))
			return false;
		if (*text != ',')
			return *text == '\0';
	}
	return false;
}

/* An option with its value. */
static bool read_option(const char *name, const char *value, struct sl_asked *asked)
{
	const struct {
		const char *name;
		const char **text;
	} texts[] = {{"--device", &asked->device}, {"--csv", &asked->csv}, {"--only", &asked->only},
		{"--commit", &asked->commit}};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (strcmp(name, texts[i].name) == 0) {
			*texts[i].text = value;
			return true;
		}
	if (strcmp(name, "--n") == 0)
		return read_sizes(value, asked);
	if (strcmp(name, "--block") == 0)
		return read_one(value, &asked->tuning.block);
	if (strcmp(name, "--items") == 0)
		return read_one(value, &asked->tuning.items);
	return false;
}

static enum sl_status read_command(int argc, char **argv, struct sl_asked *asked)
{
	size_t used = 0;

	for (int i = 0; i < argc && used < sizeof(asked->command); i++)
		used += (size_t)snprintf(asked->command + used, sizeof(asked->command) - used,
			"%s%s", i > 0 ? " " : "", argv[i]);
	if (argc < 2 || strcmp(argv[1], "primitives") != 0)
		return sl_fail(SL_USAGE, "nothing to measure is named; use %s", usage);
	for (int i = 2; i < argc; i++) {
		if (strcmp(argv[i], "--tunings") == 0) {
			asked->tunings = true;
			continue;
		}
		if (i + 1 == argc || !read_option(argv[i], argv[i + 1], asked))
			return sl_fail(SL_USAGE, "%s is not understood; use %s", argv[i], usage);
		i++;
	}
	return SL_OK;
}

static enum sl_status use_device(const char *name, struct sl_device *device)
{
	uint32_t number = 0;

	sl_device_emulate(strcmp(name, "emulated") == 0);
	if (!sl_device_is_emulated() && strcmp(name, "cuda") != 0 && strcmp(name, "cuda:0") != 0 &&
		!(strncmp(name, "cuda:", 5) == 0 && read_one(name + 5, &number)))
		return sl_fail(SL_USAGE, "%s is no device; use %s", name, usage);
	return sl_device_use((int)number, device);
}

static enum sl_status run(int argc, char **argv)
{
	struct sl_asked asked = {.device = "cuda", .commit = SL_COMMIT};
	struct sl_device device;
	struct sl_table table;
	enum sl_status s;

	SL_TRY(read_command(argc, argv, &asked));
	SL_TRY(use_device(asked.device, &device));
	if (asked.sizes == 0)
		asked.n[asked.sizes++] = sl_device_is_emulated() ? N_EMULATED : N_USUAL;
	SL_TRY(sl_table_open(&asked, &device, &table));
	s = sl_bench_primitives(&asked, &table);
	if (s != SL_OK) {
		(void)sl_table_close(&table, asked.csv);
		return s;
	}
	return sl_table_close(&table, asked.csv);
}

int main(int argc, char **argv)
{
	enum sl_status s = run(argc, argv);

	if (s != SL_OK)
		fprintf(stderr, "sluice_bench: %s\n", sl_story());
	return (int)s;
}
