/*
 * context.h - what all parts of a conversion share: the job, the inputs in order, and the notes.
 */
#ifndef SL_PIPELINE_CONVERT_CONTEXT_H
#define SL_PIPELINE_CONVERT_CONTEXT_H

#include <stdatomic.h>
#include <stdio.h>

#include "pipeline/results/manifest.h"
#include "primitives/files/dirs.h"
#include "primitives/files/files.h"
#include "stages/formats/common/format.h"

struct sl_convert_job {
	const char *const *in; /* n operands of the command line */
	size_t n;
	const char *to;
	const char *const *set; /* n_sets settings, "output.mcpl.pdg=2112" */
	size_t n_sets;
	const atomic_int *stop; /* not 0: give up what is not done yet */
};

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

#endif
