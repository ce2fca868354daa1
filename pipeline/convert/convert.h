/*
 * convert.h - joins files of particles into one file of the same or of another format.
 *
 * An input is a file of any format (MCPL from any program), or a run directory, which stands for
 * the files of its committed batches. Inputs are joined in the order given. An existing file is
 * only replaced on request (force), and an input never. The output file gets its name only when it
 * is complete. Everything that the new format cannot hold is reported.
 *
 * 	MCPL to MCPL      copies records unchanged; headers must agree (mcpl.h)
 * 	tables to MCPL    makes records of the rows; drops columns that a record lacks
 * 	any to table      packs blocks of rows
 * 	runs to .tallies  adds up their histograms
 *
 * Runs that differ only in seed and number of particles are merged (runs.c).
 */
#ifndef SL_PIPELINE_CONVERT_CONVERT_H
#define SL_PIPELINE_CONVERT_CONVERT_H

#include <stdatomic.h>
#include <stdio.h>

#include "pipeline/output/merge/merge.h"
#include "pipeline/output/output.h"
#include "pipeline/results/results.h"
#include "primitives/files/files.h"
#include "stages/formats/common/format.h"
#include "stages/formats/mcpl/mcpl.h"

/* --- context ---------------------------------------------------------------------------------- */

/*
 * The state shared by all parts of a conversion: the job, its inputs and the notes.
 *
 * A note is a line for the user about information that the output file cannot hold.
 */

/* What the command line asks for; constant during the conversion. */
struct sl_convert_job {
	const char *const *in; /* n operands of the command line */
	size_t n;
	const char *to;
	const char *const *set; /* n_sets settings, "output.mcpl.pdg=2112" */
	size_t n_sets;
	bool force;             /* an existing output file is replaced */
	const atomic_int *stop; /* not 0: stop, remove the unfinished file */
};

/* An operand: a file, or a run directory with its manifest of committed batches. */
struct sl_convert_operand {
	const char *path;
	bool is_run;
	struct sl_manifest manifest;
};

/* A run with inputs, and the sums over those of its batches that are inputs. */
struct sl_input_run {
	char folder[SL_PATH_BYTES];
	struct sl_existing_run existing;
	struct sl_manifest manifest;
	uint64_t seed;
	uint64_t shift; /* added to the ids of this run */
	size_t next;    /* line of the manifest after the last batch that an input names */
	uint64_t first_id, generated, survivors;
	uint64_t count[SL_FATE_COUNT];
	sl_sum weight[SL_FATE_COUNT]; /* in 2^-32 */
};

struct sl_runs {
	struct sl_input_run *at; /* n runs in the order of their first inputs; owned */
	size_t n;
	bool known;  /* each input is the file of a batch of these runs */
	bool merged; /* there are several runs, and they can be merged */
	char *json; /* of merged runs: their seeds, counts and sums (struct sl_file_facts); owned */
};

/* Summary of all inputs. Sets of columns: present; with at least one value; with several values. */
struct sl_convert_survey {
	sl_column_set columns, seen, varied;
	uint64_t value[SL_COLUMN_COUNT]; /* first value of each column */
	uint64_t rows;
	struct sl_column_label label[SL_NAMED_COLUMNS_MAX]; /* of the named columns */
	struct sl_mcpl_reading lost;
};

struct sl_conversion;

/* Processes the table of one input, which is valid until the function returns. */
typedef enum sl_status sl_table_reader(
	struct sl_conversion *c, const char *path, const struct sl_table *t);

/*
 * The state of a conversion. Counters and notes grow while it runs; print them only after success.
 */
struct sl_conversion {
	const struct sl_convert_job *job;
	struct sl_convert_operand *operand;
	struct sl_runs runs;               /* of the inputs */
	bool of_lists;                     /* the inputs are particle lists */
	const struct sl_format *format;    /* of the output file; NULL: it has histograms */
	bool tallies;                      /* the output file has histograms */
	struct sl_file_facts facts;        /* deflate and level always; the rest for tables only */
	struct sl_plan *plan;              /* of the run; it has texts of facts; NULL: unknown */
	char run_name[SL_FILE_NAME_BYTES]; /* of an unknown run, from the output file */
	struct sl_batch_facts batch;       /* number 0, the first id, all generated; 0: unknown */
	struct sl_dir dir;                 /* directory of the output file */
	const char *name;                  /* its name there */
	struct sl_file_writer file;        /* the output file while it is written */
	bool replaces; /* a file of that name exists; the two numbers identify it */
	uint64_t device, number;
	uint64_t files, particles; /* read so far */
	uint64_t bytes;            /* written so far */
	char notes[2048];          /* lost information, one line each */
	uint64_t stamp;            /* of all inputs in the first pass; 0: it has not ended */
	/* lists that are joined, and tables that become a list */
	struct sl_mcpl_head head;        /* of the lists */
	struct sl_job_pool pool;         /* without threads */
	struct sl_record_output records; /* without buffers: the output is no list */
	/* tables */
	struct sl_mcpl_reading lost;   /* by the list at hand */
	sl_table_reader *each;         /* of the pass in progress, set by sl_for_each_table() */
	struct sl_convert_survey all;  /* filled by the first pass, constant in the second */
	struct sl_mcpl_record record;  /* that rows become */
	struct sl_table_output *table; /* the output; NULL: it is a list */
};

/* Iterates over the files of all operands in order: start with {0}; false after the last file. */
struct sl_convert_cursor {
	size_t operand, line;
	char path[SL_PATH_BYTES];
	const struct sl_manifest_line *line_of_run; /* line of a run's manifest; NULL for a file */
};
bool sl_convert_next(const struct sl_conversion *c, struct sl_convert_cursor *at);

/* Processes one input. file is its content, mapped until the function returns. */
typedef enum sl_status sl_convert_reader(
	struct sl_conversion *c, const char *path, const struct sl_map *file);

/*
 * Calls read for every input in order, until one fails or a signal stops the job.
 *
 * Each conversion makes two such passes, and another process can write to an input in between.
 * In the second one a batch of a run must have the checksum of the manifest; SL_BAD_INPUT.
 * SL_DISK if a file changed while read used it, whatever read returned, because the change is then
 * the cause. SL_DISK also if the files of the second pass are not those of the first, by inode,
 * size and time of modification.
 */
enum sl_status sl_convert_for_each(struct sl_conversion *c, sl_convert_reader *read);

/* Fails with SL_DISK because the input changed between or during the passes. */
enum sl_status sl_convert_changed(const char *path);

/* Adds a line to the notes. Text beyond the size of notes is cut. */
void sl_convert_note(struct sl_conversion *c, const char *format, ...) SL_PRINTF(2, 3);

/*
 * Notes for MCPL inputs: only `particles` complete records in an unclosed file; bytes after the
 * end.
 */
void sl_convert_note_recovered(struct sl_conversion *c, const char *path, uint64_t particles);
void sl_convert_note_trailing(struct sl_conversion *c, const char *path);

/* SL_STOPPED if a signal has set job->stop. */
enum sl_status sl_convert_check_stop(const struct sl_conversion *c);

/*
 * The output file, which sl_convert() removes unless it was ended: an sl_byte_sink for its bytes,
 * and the end, after all rows or records, when it gets its name.
 */
sl_byte_sink sl_convert_put;
enum sl_status sl_convert_end(struct sl_conversion *c);

/*
 * Begins a file of MCPL, plain or as gzip members: so many bytes of header, h, and c->records. The
 * end fails if more or fewer were read or written than the header states.
 */
enum sl_status sl_convert_begin_list(
	struct sl_conversion *c, const void *header, size_t bytes, const struct sl_mcpl_header *h);

/* --- convert ---------------------------------------------------------------------------------- */

/*
 * Runs the job. Prints the output file and the notes about lost information to out, which may be
 * NULL. SL_USAGE for inputs or settings that do not fit, SL_OUTPUT_IN_USE if the output exists,
 * SL_BAD_INPUT for damaged or different inputs, SL_STOPPED after a signal.
 */
enum sl_status sl_convert(const struct sl_convert_job *job, FILE *out);

/* --- runs ------------------------------------------------------------------------------------- */

/*
 * The runs that the inputs of a conversion come from, and whether they can be merged.
 *
 * Runs are merged if their configurations differ only in what selects particles of one distribution
 * (section run: seed, particles, name) or how they are written (output, key, stop, check,
 * primitives). Their particles are then particles of one longer simulation. A particle is
 * identified by its seed and its id, so the ids of each run are shifted to follow those of the runs
 * before it.
 */

/*
 * Finds c->runs. If an input belongs to no run, or the runs cannot be merged, merged is false,
 * and a note says in what several runs differ. A single run is not read (existing), unless the
 * output has histograms. The caller frees them, also after a failure.
 */
enum sl_status sl_runs_find(struct sl_conversion *c);
void sl_runs_free(struct sl_runs *r);

/* Reads run.json in a folder. */
enum sl_status sl_input_run_read(const char *folder, struct sl_existing_run *f);

/*
 * Notes a run that has not ended, or had not when its lines were read: the output then lacks its
 * later batches.
 */
void sl_runs_note_state(struct sl_conversion *c, const struct sl_existing_run *f, const char *path,
	size_t committed);

/* Shifts the ids of a table that was read from path, if runs are merged. */
void sl_runs_shift_ids(const struct sl_runs *r, const char *path, struct sl_table *t);

/* --- mcpl_to_mcpl ----------------------------------------------------------------------------- */

/* Joins MCPL files into one MCPL file. */

/*
 * Reads every input twice: first the headers, which must agree except for merged runs, then the
 * records.
 */
enum sl_status sl_convert_mcpl(struct sl_conversion *c);

/* --- origin ----------------------------------------------------------------------------------- */

/*
 * Finds the run that produced the inputs of a conversion, for the output's metadata.
 *
 * The run is known if all inputs are files of batches of one run, or of runs that are merged
 * (runs.c). Otherwise the output states no seed, configuration or number of generated particles.
 */

/*
 * Finds the run and fills c->facts and c->batch. An MCPL file made from the tables of a run follows
 * output.mcpl of its configuration and of the settings of the job; SL_USAGE if these do not fit.
 */
enum sl_status sl_origin_find(struct sl_conversion *c);

/* --- runs_to_tallies -------------------------------------------------------------------------- */

/* Adds up the histograms of runs and writes them as one file. */

#define SL_TALLIES_SUFFIX ".tallies"

/*
 * Writes the file of histograms of one run, or of several that are merged. SL_USAGE if the inputs
 * are not the directories of such runs, or if the runs have no histograms.
 */
enum sl_status sl_runs_to_tallies(struct sl_conversion *c);

/* --- tables_scan ------------------------------------------------------------------------------ */

/*
 * Reads every input of a conversion as a table, and surveys their common columns.
 *
 * convert.c scans with sl_survey_add() first; tables_write.c scans again and writes.
 */

/* Calls each with the table of every input in order; the table is freed after the call. */
enum sl_status sl_for_each_table(struct sl_conversion *c, sl_table_reader *each);

/* Adds an input to c->all; all inputs must have the same columns. For sl_for_each_table(). */
sl_table_reader sl_survey_add;

/* The set of the columns of a table. */
sl_column_set sl_columns_in(const struct sl_table *t);

/*
 * Writes the names of a set of columns, separated by commas, to text; returns text. label has those
 * of named columns.
 */
enum { SL_NAMES_BYTES = 256 };
const char *sl_column_names(
	sl_column_set set, const struct sl_column_label *label, char text[SL_NAMES_BYTES]);

/* The table of a set of columns without rows. Those that are constant have their values in s. */
struct sl_table sl_survey_table(const struct sl_convert_survey *s, sl_column_set set);

/* --- tables_write ----------------------------------------------------------------------------- */

/* Reads all inputs again and writes the file; c->all must have the survey of all inputs. */
enum sl_status sl_tables_write(struct sl_conversion *c);

#endif
