/*
 * context.h - the state shared by all parts of a conversion: the job, its inputs and the notes.
 *
 * A note is a line for the user about information that the output file cannot hold.
 */
#ifndef SL_PIPELINE_CONVERT_COMMON_CONTEXT_H
#define SL_PIPELINE_CONVERT_COMMON_CONTEXT_H

#include <stdatomic.h>
#include <stdio.h>

#include "pipeline/results/manifest.h"
#include "primitives/files/dirs.h"
#include "primitives/files/files.h"
#include "primitives/files/map.h"
#include "stages/formats/common/format.h"

struct sl_convert_job {
	const char *const *in; /* n operands of the command line */
	size_t n;
	const char *to;
	const char *const *set; /* n_sets settings, "output.mcpl.pdg=2112" */
	size_t n_sets;
	const atomic_int *stop; /* not 0: stop, remove the unfinished file */
};

/* An operand: a file, or a run directory with its manifest of committed batches. */
struct sl_convert_operand {
	const char *path;
	bool is_run;
	struct sl_manifest manifest;
};

struct sl_conversion {
	const struct sl_convert_job *job;
	struct sl_convert_operand *operand;
	const struct sl_format *format; /* of the output file */
	struct sl_file_facts facts;     /* deflate and level always; the rest for tables only */
	struct sl_dir dir;              /* directory of the output file */
	const char *name;               /* its name there */
	uint64_t files, particles;      /* read so far */
	uint64_t bytes;                 /* written so far */
	char notes[2048];               /* lost information, one line each */
	uint64_t stamp;                 /* of all inputs in the first pass; 0: it has not ended */
};

/* Iterates over the files of all operands in order: start with {0}; false after the last file. */
struct sl_convert_cursor {
	size_t operand, line;
	char path[SL_PATH_BYTES];
	const struct sl_manifest_line *line_of_run; /* line of a run's manifest; NULL for a file */
	uint64_t stamp;                             /* of the files so far, see sl_convert_done() */
};
bool sl_convert_next(const struct sl_conversion *c, struct sl_convert_cursor *at);

/*
 * Inputs are read twice, and another process can write to them in between. sl_convert_done() unmaps an
 * input that was used with status s and returns s, or SL_DISK if the file changed since it was mapped: it
 * is then the cause of whatever s says. sl_convert_pass() is called after the last input of a pass;
 * SL_DISK if the files are not those of the first pass, by inode, size and time of modification.
 */
enum sl_status sl_convert_done(struct sl_convert_cursor *at, struct sl_map *file, enum sl_status s);
enum sl_status sl_convert_pass(struct sl_conversion *c, const struct sl_convert_cursor *at);

/* Fails with SL_DISK because the input changed between or during the passes. */
enum sl_status sl_convert_changed(const char *path);

/* Adds a line to the notes. Text beyond the size of notes is cut. */
void sl_convert_note(struct sl_conversion *c, const char *format, ...) SL_PRINTF(2, 3);

/* Notes for MCPL inputs: only `particles` complete records in an unclosed file; bytes after the end. */
void sl_convert_note_recovered(struct sl_conversion *c, const char *path, uint64_t particles);
void sl_convert_note_trailing(struct sl_conversion *c, const char *path);

/* SL_STOPPED if a signal has set job->stop. */
enum sl_status sl_convert_check_stop(const struct sl_conversion *c);

#endif
