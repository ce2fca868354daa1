/*
 * sweep.c - the command sweep: measures the whole data set of a device, within a time limit, and
 * writes it to a folder as CSV files.
 *
 *	sizes.csv       every backend by size             inputs.csv    by property of the input
 *	tunings.csv     by block and items                pipeline.csv  the whole batch
 *
 * The rounds are ordered by importance, so a short sweep contains something of everything. Each
 * file ends with the list of what was not measured for lack of time.
 */
#include "bench/commands/commands.h"

#include <string.h>

#include "bench/cells/cells.h"
#include "primitives/base/clock.h"

enum { SECONDS_DEFAULT = 300, WORDS_MAX = 16 };

enum table_number { SIZES_TABLE, INPUTS_TABLE, TUNINGS_TABLE, PIPELINE_TABLE, TABLES };
static const char *const table_names[TABLES] = {"sizes", "inputs", "tunings", "pipeline"};

#define U32    "--type u32 --sort pairs --n "
#define BOTH   "--type u32,u64 --sort pairs --n "
#define KEYS   "--type u32,u64 --only sort --sort keys --n "
#define BLOCKS "--block 32,64,128,256,384,512,768,1024"

/* A round is a command line of sluice-bench. */
static const struct sweep_round {
	enum table_number table;
	const char *words;
} rounds[] = {
	{PIPELINE_TABLE, "pipeline --n 2^16"},
	{SIZES_TABLE, "primitives " BOTH "2^24,2^20,2^16,2^27"},
	{SIZES_TABLE, "primitives " KEYS "2^24,2^20,2^16,2^27"},
	{PIPELINE_TABLE, "pipeline --n 2^24,2^20,2^26"},
	{TUNINGS_TABLE, "primitives " U32 "2^24 --only scan/shared --tunings"},
	{TUNINGS_TABLE, "primitives " U32 "2^24 --only compact/shared --tunings"},
	{TUNINGS_TABLE, "primitives " U32 "2^24 --only sort/shared --tunings"},
	{INPUTS_TABLE, "primitives " U32 "2^26 --only compact --survivors 0,1,10,50,90,99,100"},
	{INPUTS_TABLE, "primitives " U32 "2^26 --only compact --columns 8x4,1x32,1x4"},
	{INPUTS_TABLE, "primitives " U32 "2^26 --only expand --survivors 1,10,50,90,100"},
	{INPUTS_TABLE, "primitives " U32 "2^26 --only sort --bits 8,16,24,30,32"},
	{INPUTS_TABLE, "primitives " U32 "2^26 --only sort --entropy 1.000,.811,.544,.337,.201"},
	{SIZES_TABLE, "primitives " BOTH "2^12,2^18,2^22,2^8,2^26,2^14,2^10,2^4"},
	{SIZES_TABLE, "primitives " KEYS "2^12,2^18,2^22,2^8,2^26,2^14,2^10,2^4"},
	{TUNINGS_TABLE, "primitives " U32 "2^24 --only scan " BLOCKS},
	{TUNINGS_TABLE, "primitives " U32 "2^24 --only compact " BLOCKS},
	{TUNINGS_TABLE, "primitives " U32 "2^24 --only sort " BLOCKS},
	{INPUTS_TABLE, "primitives " U32 "2^24 --off 0,1"},
	{SIZES_TABLE, "primitives " U32 "2^24-3,2^20-3,2^16-3,2^27-3"},
	{SIZES_TABLE, "primitives " U32 "2^28,2^6,2^30"},
	{SIZES_TABLE, "primitives " U32 "2^5,2^7,2^9,2^11,2^13,2^15,2^17,2^19,2^21,2^23"},
	{SIZES_TABLE, "primitives " U32 "2^25,2^29"},
	{SIZES_TABLE, "primitives " U32
		      "2^4-3,2^6-3,2^8-3,2^10-3,2^12-3,2^14-3,2^18-3,2^22-3,2^26-3,2^28-3"},
	{PIPELINE_TABLE, "pipeline --n 2^12,2^14,2^18,2^22"},
	{SIZES_TABLE, "primitives " U32
		      "2^5-3,2^7-3,2^9-3,2^11-3,2^13-3,2^15-3,2^17-3,2^19-3,2^21-3,2^23-3,2^25-3"},
	{SIZES_TABLE, "primitives " U32 "2^30-3,2^29-3"},
};

struct sweep_state {
	struct sl_bench *b;
	const struct sl_bench_options *options; /* of the command line */
	struct sl_bench_table table[TABLES];
};

/* --- a round ---------------------------------------------------------------------------------- */

/* The emulated device measures one small size per round, and few tunings. */
static void make_small(struct sl_bench_options *o)
{
	static const struct sl_number_list few = {2, {64, 256}};
	const uint32_t n = o->sizes.at[0];

	o->sizes = (struct sl_number_list){1, {n > 300 ? 200 + n % 100 : n}};
	if (o->tunings || o->blocks.n > 0)
		o->blocks = few;
	o->tunings = false;
}

static enum sl_status run_round(struct sweep_state *w, const struct sweep_round *r)
{
	static struct sl_bench_options options;
	static char name[] = "sweep";
	char *argv[WORDS_MAX] = {name}, words[256], *rest = words;
	int argc = 1;

	snprintf(words, sizeof(words), "%s", r->words);
	while (argc < WORDS_MAX && (argv[argc] = strsep(&rest, " ")) != NULL)
		argc++;
	SL_TRY(sl_bench_options_read(argc, argv, &options));
	options.config = w->options->config;
	if (sl_device_is_emulated())
		make_small(&options);
	w->b->options = &options;
	w->b->table = &w->table[r->table];
	w->b->copy_n = 0; /* each file contains its own rows of the copy */
	return options.command == SL_BENCH_pipeline ? sl_bench_pipeline(w->b)
	                                            : sl_bench_primitives(w->b);
}

/* --- the command ------------------------------------------------------------------------------ */

static enum sl_status open_tables(struct sweep_state *w, const char *folder)
{
	char name[SL_PATH_BYTES];
	struct sl_dir dir;

	SL_TRY(sl_dir_open(folder, true, &dir));
	sl_dir_close(&dir);
	for (int i = 0; i < TABLES; i++) {
		snprintf(name, sizeof(name), "%.4000s/%s.csv", folder, table_names[i]);
		SL_TRY(sl_bench_table_open(&w->table[i], &w->b->about, name, NULL));
	}
	return SL_OK;
}

enum sl_status sl_bench_sweep(struct sl_bench *b)
{
	static struct sweep_state w;
	struct sl_bench_table *table = b->table;
	enum sl_status s;

	if (!b->options->out)
		return sl_fail(SL_USAGE, "sweep needs --out FOLDER");
	w.b = b;
	w.options = b->options;
	if (b->deadline_ns == 0)
		b->deadline_ns = sl_now_ns() + UINT64_C(1000000000) * SECONDS_DEFAULT;
	s = open_tables(&w, b->options->out);
	for (size_t i = 0; s == SL_OK && i < sizeof(rounds) / sizeof(rounds[0]); i++)
		s = run_round(&w, &rounds[i]);
	b->options = w.options;
	b->table = table;
	for (int i = 0; i < TABLES; i++) {
		const struct sl_failure before = sl_failure_keep(s);

		s = sl_failure_first(&before, sl_bench_table_close(&w.table[i]));
	}
	return s;
}
