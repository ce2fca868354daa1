/*
 * mcpl_stream.h - reads an MCPL file of any program in memory, from beginning to end.
 *
 * It reads versions 2 and 3 with all flags, plain or in gzip with any number of members. A gzip
 * file is decompressed through a window; only the window and the state of ISA-L are allocated. A
 * plain file whose writer ended before it stored the number of particles has as many particles as
 * whole records, as in the reference implementation. A file that is cut short is refused, and so is
 * a gzip file without a number of particles.
 *
 * Order of calls: sl_mcpl_open, all strings (sl_mcpl_text, or sl_mcpl_skip_head), sl_mcpl_begin,
 * particles (sl_mcpl_next or sl_mcpl_raw), sl_mcpl_end, sl_mcpl_close.
 *
 * The file can be a mapping that another process changes at any time. Each number that determines a
 * size is therefore read once, into a variable, and checked and used there.
 */
#ifndef SL_STAGES_FORMATS_MCPL_MCPL_STREAM_H
#define SL_STAGES_FORMATS_MCPL_MCPL_STREAM_H

#include "stages/formats/common/common.h"
#include "stages/formats/mcpl/mcpl_layout.h"
#include "stages/formats/mcpl/mcpl_record.h"
#include "stages/particle/particle.h"

/*
 * Converts a particle to internal units and single precision. The user flags go to each column that
 * can be user flags, cut to its type; id is one of these.
 */
struct sl_particle sl_mcpl_to_particle(const struct sl_mcpl_particle *p);

struct sl_mcpl_stream {
	struct sl_mcpl_header header; /* particles: those that can be read */
	bool recovered;               /* the header has no number of particles; they were counted */
	bool gzipped;
	uint64_t read; /* particles read so far */
	struct sl_inflate z;
	const uint8_t *at;   /* the next byte, in the plain file or in the window */
	size_t left;         /* bytes from there on, in the plain file or in the window */
	size_t string_bytes; /* that the strings not read yet may have */
	uint8_t *window;     /* NULL for a plain file */
};

/* Bytes allocated for a gzip file: the window, and the state of the decompression. */
enum { SL_MCPL_GZIP_BYTES = (1 << 16) + SL_INFLATE_BYTES };

/*
 * Opens a file of so many bytes, which the caller keeps, and reads the fixed part of its header. A
 * file that is not MCPL is SL_BAD_INPUT. After SL_OK, call sl_mcpl_close(); twice is no fault.
 */
enum sl_status sl_mcpl_open(struct sl_mcpl_stream *s, const void *file, size_t bytes);
void sl_mcpl_close(struct sl_mcpl_stream *s);

/*
 * Opens the same file again, without a new allocation. A stream of a gzip file may also open
 * another gzip file.
 */
enum sl_status sl_mcpl_rewind(struct sl_mcpl_stream *s, const void *file, size_t bytes);

/*
 * Read the next string of the header: the source, header.comments comments, header.blobs names of
 * blobs, as many blobs. First its length, then its bytes, of which to gets the first size at most.
 * A string that would exceed the limits of mcpl_layout.h is SL_BAD_INPUT, and so is one that is
 * longer than the rest of a plain file; the length is checked before memory for the bytes is
 * needed.
 */
enum sl_status sl_mcpl_string_length(struct sl_mcpl_stream *s, uint32_t *length);
enum sl_status sl_mcpl_string_bytes(
	struct sl_mcpl_stream *s, uint32_t length, void *to, size_t size);

/*
 * Both at once: text gets what fits in size bytes, with a terminator; *length is the full length.
 */
enum sl_status sl_mcpl_text(struct sl_mcpl_stream *s, char *text, size_t size, uint32_t *length);

/* After all strings: determines how many particles there are. */
enum sl_status sl_mcpl_begin(struct sl_mcpl_stream *s);

/* Reads all strings of a stream just opened and calls sl_mcpl_begin(). */
enum sl_status sl_mcpl_skip_head(struct sl_mcpl_stream *s);

/* Reads the next of header.particles particles. SL_BAD_INPUT if it is damaged or missing. */
enum sl_status sl_mcpl_next(struct sl_mcpl_stream *s, struct sl_mcpl_particle *p);

/* The particle of a record as stored. */
void sl_mcpl_decode(
	const struct sl_mcpl_header *h, const uint8_t *record, struct sl_mcpl_particle *p);

/*
 * Reads the next *n records as stored, at most so many bytes; of a gzip file, also at most
 * SL_MCPL_RAW_BYTES. *n = 0 after the last. They are valid until the next call.
 */
enum { SL_MCPL_RAW_BYTES = 1 << 16 };
enum sl_status sl_mcpl_raw(
	struct sl_mcpl_stream *s, size_t bytes, const uint8_t **records, size_t *n);

/*
 * SL_BAD_INPUT if single precision cannot represent the common weight: too large values would
 * become infinite, and below the normal range values lose their digits or become 0.
 */
enum sl_status sl_mcpl_check_weight(const struct sl_mcpl_header *h);

/*
 * After the last particle: reads to the end of the file, because the checksum of gzip is there.
 * *trailing: bytes follow the last particle.
 */
enum sl_status sl_mcpl_end(struct sl_mcpl_stream *s, bool *trailing);

#endif
