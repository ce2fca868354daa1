/*
 * tables.h - tables of survivors for the tests of formats, and the files that a format makes of
 * them.
 *
 * Each block comes from malloc with its exact size, so that AddressSanitizer detects overruns.
 */
#ifndef SL_TESTS_SUPPORT_FORMATS_TABLES_H
#define SL_TESTS_SUPPORT_FORMATS_TABLES_H

#include "stages/formats/common/format.h"
#include "tests/support/basic/check.h"

/* The kinds of values of a column. */
enum kind { RANDOM, SORTED, SAME, HARD, FEW, KIND_COUNT };

#define ALL_COLUMNS (SL_BIT(SL_COLUMN_COUNT) - 1)

/*
 * Makes a table of n rows with these columns; columns in constants have one value. Floats of the
 * kind HARD are zeros, denormals and ends of ranges; FEW are three values. set_digest() is for a
 * column that was changed.
 */
struct sl_table make_table(
	uint32_t n, sl_column_set columns, sl_column_set constants, enum kind kind);
void free_table(struct sl_table *t);
void set_digest(struct sl_table_column *c, uint32_t n);

/*
 * Expects the same columns with the same bits in all rows. any_nan: one NaN is as good as another.
 */
void assert_same_table(const struct sl_table *a, const struct sl_table *b, bool any_nan);

/* Facts of a run. */
struct sl_file_facts run_facts(const struct sl_backend *deflate, int level);

/* Returns an arena of exactly this many bytes; the caller frees its base. */
struct sl_arena arena_of(size_t bytes);

/* A packed batch and its memory, laid out for the table most. */
struct packed {
	struct sl_packed p;
	struct sl_arena arena, scratch;
};

struct packed lay_out_for(
	const struct sl_format *f, const struct sl_file_facts *run, const struct sl_table *most);
void free_packed(struct packed *k);
enum sl_status pack_into(struct packed *k, const struct sl_format *f,
	const struct sl_file_facts *run, const struct sl_table *t);

/*
 * Makes the file of what is packed in an image of exactly the announced size; the caller frees it.
 */
char *assembled(const struct sl_format *f, const struct sl_file_facts *run,
	const struct sl_batch_facts *batch, const struct packed *k, size_t *bytes);

/* Returns the file of a table, which the caller frees. Scratch is first filled with fill. */
char *file_of(const struct sl_format *f, const struct sl_file_facts *run,
	const struct sl_batch_facts *batch, const struct sl_table *t, int fill, size_t *bytes);

/*
 * Reads a file into an arena of exactly the measured size; the caller frees its base in any case.
 */
enum sl_status read_back(const struct sl_format *f, const void *file, size_t bytes,
	struct sl_arena *a, struct sl_table *t);

/*
 * Ends child processes that parse damaged HDF5 files after three seconds of processor time, not 60;
 * off: no longer.
 */
void limit_hdf5(bool on);

#endif
