/*
 * table_output.h - makes the file of a run in a format of columns from its rows, which come one
 * block after another.
 *
 * What the format packs goes to intermediate files, one for each part of the file (struct
 * sl_format_join). At the end the file is assembled around these parts, which are mapped, so its
 * bytes are those of a file that was packed as a whole.
 */
#ifndef SL_PIPELINE_OUTPUT_MERGE_TABLE_OUTPUT_H
#define SL_PIPELINE_OUTPUT_MERGE_TABLE_OUTPUT_H

#include "pipeline/output/source/record_source.h"
#include "pipeline/output/source/row_layout.h"

/*
 * Receives the next bytes of a list, in order. An error ends the list. It may be called in another
 * thread than the caller's, but never twice at a time.
 */
typedef enum sl_status sl_byte_sink(void *context, const void *bytes, size_t size);

/* The file that is made. */
struct sl_table_facts {
	const struct sl_plan *plan;
	const struct sl_dir *work; /* for intermediate files */
	const char *list;          /* name of the file, from which their names follow */
	const struct sl_selection *selection;
	uint64_t rows;      /* of the file */
	uint64_t generated; /* particles that were generated for it */
	sl_byte_sink *sink;
	void *context;
};

struct sl_table_output;

/*
 * Begins a file. *made is NULL after a failure; otherwise the caller calls sl_table_output_close().
 */
enum sl_status sl_table_output_begin(
	const struct sl_table_facts *facts, struct sl_table_output **made);

/* Adds rows: SL_JOIN_ROWS, fewer in the last call. */
enum sl_status sl_table_output_add(struct sl_table_output *o, const uint8_t *rows, uint32_t n);

/* After the last row: sends the file. */
enum sl_status sl_table_output_end(struct sl_table_output *o);

/* Removes the intermediate files, and frees o, which may be NULL. Keeps the last error message. */
void sl_table_output_close(struct sl_table_output *o);

#endif
