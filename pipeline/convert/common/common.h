/* common.h - what all conversions use */
#ifndef SL_PIPELINE_CONVERT_COMMON_COMMON_H
#define SL_PIPELINE_CONVERT_COMMON_COMMON_H

#include <stdatomic.h>
#include <stdio.h>

#include "pipeline/output/merge/merge.h"
#include "pipeline/results/manifest.h"
#include "primitives/files/dirs.h"
#include "primitives/files/files.h"
#include "primitives/files/map.h"
#include "stages/formats/common/format.h"
#include "stages/formats/mcpl/mcpl_head.h"

SL_C_BEGIN

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

/*
 * The state of a conversion. Counters and notes grow while it runs; print them only after success.
 */
struct sl_conversion {
	const struct sl_convert_job *job;
	struct sl_convert_operand *operand;
	const struct sl_format *format; /* of the output file; NULL: it has histograms */
	bool tallies;                   /* the output file has histograms */
	struct sl_file_facts facts;     /* deflate and level always; the rest for tables only */
	struct sl_dir dir;              /* directory of the output file */
	const char *name;               /* its name there */
	struct sl_file_writer file;     /* the output file while it is written */
	struct sl_job_pool pool;        /* without threads */
	bool replaces; /* a file of that name exists; the two numbers identify it */
	uint64_t device, number;
	uint64_t files, particles; /* read so far */
	uint64_t bytes;            /* written so far */
	char notes[2048];          /* lost information, one line each */
	uint64_t stamp;            /* of all inputs in the first pass; 0: it has not ended */
};

/* Iterates over the files of all operands in order: start with {0}; false after the last file. */
struct sl_convert_cursor {
	size_t operand, line;
	char path[SL_PATH_BYTES];
	const struct sl_manifest_line *line_of_run; /* line of a run's manifest; NULL for a file */
};
bool sl_convert_next(const struct sl_conversion *c, struct sl_convert_cursor *at);

/*
 * Processes one input. file is its content, mapped until the function returns. context is that of
 * sl_convert_for_each().
 */
typedef enum sl_status sl_convert_reader(
	struct sl_conversion *c, const char *path, const struct sl_map *file, void *context);

/*
 * Calls read for every input in order, until one fails or a signal stops the job.
 *
 * Each conversion makes two such passes, and another process can write to an input in between.
 * SL_DISK if a file changed while read used it, whatever read returned, because the change is then
 * the cause. SL_DISK also if the files of the second pass are not those of the first, by inode,
 * size and time of modification.
 */
enum sl_status sl_convert_for_each(struct sl_conversion *c, sl_convert_reader *read, void *context);

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
 * The output file: begin it, put its bytes (an sl_byte_sink), and end it, when it gets its name. A
 * file that was not ended is removed by sl_convert().
 */
enum sl_status sl_convert_begin(struct sl_conversion *c);
sl_byte_sink sl_convert_put;
enum sl_status sl_convert_end(struct sl_conversion *c);

/*
 * The same for MCPL, plain or as gzip members: begins the file of so many bytes of header, h, and
 * *o, which takes its records; ends both, unless s, the status so far, is a failure. The end fails
 * if more or fewer particles were read or written than the header states.
 */
enum sl_status sl_convert_begin_list(struct sl_conversion *c, const void *header, size_t bytes,
	const struct sl_mcpl_header *h, struct sl_record_output *o);
enum sl_status sl_convert_end_list(
	struct sl_conversion *c, enum sl_status s, struct sl_record_output *o);

/* --- mcpl_origin ------------------------------------------------------------------------------ */

/*
 * Gives the headers of merged runs the same comment on their origin.
 *
 * A header of this program differs from run to run in two strings: the comment with name and seed,
 * and the blob with the configuration.
 */

/*
 * Gives headers of several runs of this program the same origin, so that they can be merged:
 * replaces the comment on the run by one with the text merged (struct sl_file_facts), and the
 * content of the blob with the configuration by that of first, unless first is NULL. Other
 * programs' headers stay as they are.
 */
enum sl_status sl_mcpl_head_set_origin(
	struct sl_mcpl_head *h, const char *merged, const struct sl_mcpl_head *first);

SL_C_END

#endif
