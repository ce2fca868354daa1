/*
 * mcpl_header.h - the header of an MCPL file that this program writes, and what its records
 * contain.
 */
#ifndef SL_STAGES_FORMATS_MCPL_MCPL_HEADER_H
#define SL_STAGES_FORMATS_MCPL_MCPL_HEADER_H

#include "stages/formats/mcpl/mcpl.h"
#include "stages/formats/mcpl/mcpl_layout.h"

SL_C_BEGIN

/*
 * The weight that all rows of a table have, if it is a constant column and a header can state it;
 * else 0, and each record has a weight. A weight that was read from headers has all digits of
 * facts.
 */
double sl_mcpl_common_weight(const struct sl_table *t, const struct sl_mcpl_facts *facts);

/* Sets *r to the contents of the records of a table. SL_USAGE if the table lacks a column. */
enum sl_status sl_mcpl_record_of(
	const struct sl_table *t, const struct sl_mcpl_facts *facts, struct sl_mcpl_record *r);

/*
 * The columns of a table, as sl_mcpl_row() reads them. Pointers may be to device memory; the values
 * of constant columns must be on the host.
 */
struct sl_mcpl_rows sl_mcpl_rows_of(const struct sl_table *t);

/* The fixed part of the header of a table's file. weight: of all particles, or 0. */
struct sl_mcpl_header sl_mcpl_header_of(
	const struct sl_table *t, const struct sl_mcpl_facts *facts, double weight);

/*
 * Writes the header with all strings and returns its size, which does not depend on batch. The
 * comment on generated particles is of batch; batch->generated = 0: unknown. at = NULL: only
 * returns the size, and batch is not used.
 */
size_t sl_mcpl_put_header(uint8_t *at, const struct sl_file_facts *run, const struct sl_table *t,
	double weight, const struct sl_batch_facts *batch);

/*
 * The same for a list of the records of several tables that have the columns of t: the number of
 * particles is given, and may be larger than a table allows.
 */
size_t sl_mcpl_put_list(uint8_t *at, const struct sl_file_facts *run, const struct sl_table *t,
	double weight, uint64_t particles, const struct sl_batch_facts *batch);

/*
 * Writes the comments that a list takes over: statistics first, then sources, then others. The
 * order is the same in each file of a run, so that the files can be merged. c may be NULL.
 */
void sl_mcpl_put_metadata(struct sl_mcpl_buffer *w, const struct sl_mcpl_metadata *c,
	const struct sl_batch_facts *batch);

/*
 * Writes the blobs: that of this program, unless config is NULL, and those that a list takes over.
 */
void sl_mcpl_put_blobs(
	struct sl_mcpl_buffer *w, const char *config, const struct sl_mcpl_metadata *c);

SL_C_END

#endif
