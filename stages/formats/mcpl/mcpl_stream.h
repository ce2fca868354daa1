/*
 * mcpl_stream.h - an MCPL file of anybody's, from its begin to its end.
 *
 * Versions 2 and 3, plain or in gzip of any number of members, all flags. It goes by through a
 * window, and nothing is allocated but that and zlib's memory. A plain file whose writer died
 * before it had counted its particles has as many as there are whole records, as the reference
 * implementation has it; one that is cut short, or such a file in gzip, is refused.
 */
#ifndef SL_STAGES_FORMATS_MCPL_MCPL_STREAM_H
#define SL_STAGES_FORMATS_MCPL_MCPL_STREAM_H

#include "stages/formats/common/inflate.h"
#include "stages/formats/mcpl/mcpl_layout.h"

/* A particle, in the units of the file: cm, MeV, ms. */
struct sl_mcpl_particle {
	double polarisation[3], position[3], direction[3];
	double energy, time, weight;
	int32_t pdg;
	uint32_t flags;
};

struct sl_mcpl_stream {
	struct sl_mcpl_header header; /* particles: those that can be read */
	bool recovered;               /* their number was not in the header */
	bool gzipped;
	uint64_t read; /* particles */
	struct sl_inflate z;
	const uint8_t *at; /* what is not read yet of a plain file, or of the window */
	size_t left;
	uint8_t *window;
};

/* By its first bytes, as the reference has it, which reads a plain file that is called .gz, too. */
bool sl_mcpl_is_gzipped(const void *file, size_t bytes);

/* What is allocated for a file in gzip: the window, and what zlib says that it needs for 32 KiB. */
enum { SL_MCPL_GZIP_BYTES = (1 << 16) + (48 << 10) };

/*
 * Begins to read the bytes bytes of a file, which stay the caller's: the fixed part of the header.
 * SL_BAD_INPUT, and why, if it is none. To be closed after success.
 */
enum sl_status sl_mcpl_open(struct sl_mcpl_stream *s, const void *file, size_t bytes);
void sl_mcpl_close(struct sl_mcpl_stream *s);

/*
 * The same file once more from its begin, or, of a stream of one in gzip, another one in gzip: for
 * an open stream, in the memory that there is.
 */
enum sl_status sl_mcpl_rewind(struct sl_mcpl_stream *s, const void *file, size_t bytes);

/*
 * The next string of the header: the source, then header.comments comments, then header.blobs names
 * of blobs, then as many blobs; all must be read before the particles. *length is how long it is;
 * text has as much of it as fits in size bytes, with a 0 behind it.
 */
enum sl_status sl_mcpl_text(struct sl_mcpl_stream *s, char *text, size_t size, uint32_t *length);

/* Behind all strings: settles how many particles there are. */
enum sl_status sl_mcpl_begin(struct sl_mcpl_stream *s);

/* The next of header.particles particles. SL_BAD_INPUT where they are damaged or cut short. */
enum sl_status sl_mcpl_next(struct sl_mcpl_stream *s, struct sl_mcpl_particle *p);

/* The same as they stand: *n of the next, SL_MCPL_RAW_BYTES of them at most; 0 when none is left.
 */
enum { SL_MCPL_RAW_BYTES = 1 << 16 };
enum sl_status sl_mcpl_raw(struct sl_mcpl_stream *s, const uint8_t **records, size_t *n);

/*
 * Behind the last particle: reads the file to its end, as only there a checksum of gzip tells of
 * damage. *behind: something else followed.
 */
enum sl_status sl_mcpl_end(struct sl_mcpl_stream *s, bool *behind);

/* Reads all strings of a stream just opened, up to its first particle. */
enum sl_status sl_mcpl_skip_head(struct sl_mcpl_stream *s);

/* A header with all of its strings. */
struct sl_mcpl_head {
	struct sl_mcpl_header fixed; /* particles: of all files that were joined */
	uint8_t *bytes;              /* as in a file, except the number of particles */
	size_t size;
};

/*
 * Reads the whole header of a file in memory to a block that it allocates; *recovered as in struct
 * sl_mcpl_stream. After success, call sl_mcpl_head_free().
 */
enum sl_status sl_mcpl_head_read(
	const void *file, size_t bytes, struct sl_mcpl_head *h, bool *recovered);
void sl_mcpl_head_free(struct sl_mcpl_head *h);

#endif
