/*
 * convert.h - files of particles become one file, of the same format or of another.
 *
 * An input is a file of any format, lists of particles of anybody's among them, or the directory of
 * a run: the files of its committed batches. Several are joined in the order given. Nothing is
 * overwritten, and what was made has its name only once it is whole.
 *
 *	lists to a list     records go by as they are; headers must agree (mcpl_join.h)
 *	tables to a list    records are packed input by input; what a record lacks is dropped
 *	all to a table      is made in memory, as such a file is
 */
#ifndef SL_PIPELINE_CONVERT_CONVERT_H
#define SL_PIPELINE_CONVERT_CONVERT_H

#include <stdatomic.h>
#include <stdio.h>

#include "pipeline/results/manifest.h"
#include "stages/formats/common/format.h"
#include "primitives/files/dirs.h"
#include "primitives/files/files.h"

struct sl_convert_job {
	const char *const *in; /* n operands of the command line */
	size_t n;
	const char *to;
	const char *const *set; /* n_sets settings, "output.mcpl.pdg=2112" */
	size_t n_sets;
	const atomic_int *stop; /* not 0: give up what is not done yet */
};

/* Does it, and tells out what was made and what could not be kept; out may be NULL. */
enum sl_status sl_convert(const struct sl_convert_job *job, FILE *out);

/* --- what its parts share --------------------------------------------------------------------- */

/* An operand: a file, or a run and what it has committed. */
struct sl_convert_operand {
	const char *path;
	bool is_run;
	struct sl_manifest manifest;
};

struct sl_converting {
	const struct sl_convert_job *job;
	struct sl_convert_operand *operand;
	const struct sl_format *format; /* of what is made */
	struct sl_file_facts facts;     /* backend and level are set; the rest for tables */
	struct sl_dir dir;              /* where it is made */
	const char *name;               /* and its name there */
	uint64_t files, particles;      /* that were read */
	uint64_t bytes;                 /* that were written */
	char notes[2048];               /* what could not be kept, a line each */
};

/* The files of all operands in order: *at begins at {0}; false behind the last. */
struct sl_convert_at {
	size_t operand, line;
	char path[SL_PATH_BYTES];
	const struct sl_manifest_line *of; /* of a run; else NULL */
};
bool sl_convert_next(const struct sl_converting *c, struct sl_convert_at *at);

/* Adds a line to the notes, as far as there is room. */
void sl_convert_note(struct sl_converting *c, const char *format, ...) SL_PRINTF(2, 3);

/* Of a list: its writer died, and that many records are whole; something is behind its end. */
void sl_convert_note_recovered(struct sl_converting *c, const char *path, uint64_t particles);
void sl_convert_note_behind(struct sl_converting *c, const char *path);

/* SL_STOPPED when the job is to be given up. */
enum sl_status sl_convert_check(const struct sl_converting *c);

/* Lists to a list, whole; tables, or lists that are taken for such, to a list and to a table. */
enum sl_status sl_convert_lists(struct sl_converting *c);
enum sl_status sl_convert_tables(struct sl_converting *c, bool of_lists);

/*
 * A list being written, plain or in gzip: the header, then records, then its end. Members of gzip
 * are filled. After a failure it is dropped, and needs no more calls.
 */
struct sl_list_writer {
	struct sl_converting *c;
	struct sl_file_writer file;
	uint8_t *member, *packed; /* records that wait; room for what becomes of them */
	size_t most, used;        /* of records in a member */
	struct sl_exec x;
	void *block;
};
enum sl_status sl_list_begin(struct sl_list_writer *w, struct sl_converting *c, const void *header,
	size_t bytes, uint32_t record_bytes);
enum sl_status sl_list_add(struct sl_list_writer *w, const void *records, size_t bytes);
enum sl_status sl_list_end(struct sl_list_writer *w);
void sl_list_drop(struct sl_list_writer *w);

#endif
