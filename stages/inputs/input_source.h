/*
 * input_source.h - an open input file: an MCPL list, or a list of another format (phase_space.h).
 *
 * Sources do not change after they are opened, so any number of threads may use them.
 */
#ifndef SL_STAGES_INPUTS_INPUT_SOURCE_H
#define SL_STAGES_INPUTS_INPUT_SOURCE_H

#include "primitives/files/map.h"
#include "stages/formats/mcpl/mcpl_metadata.h"
#include "stages/formats/mcpl/mcpl_stream.h"
#include "stages/formats/phase_space/phase_space.h"

struct sl_input_source {
	struct sl_map map;
	struct sl_mcpl_stream stream; /* of MCPL, at the first particle; each reader copies it. Of a
	                                 gzip file only the header is valid */
	struct sl_phase_space *space; /* of another format; NULL: MCPL */
	uint8_t *kept; /* NULL, or the records of a gzip file, decompressed (reading.h) */
};

/* Maps a file and opens it if it is not MCPL. */
enum sl_status sl_input_source_map(struct sl_input_source *f, const char *path);
void sl_input_source_close(struct sl_input_source *f);

/* What the particles of an open file have. */
const struct sl_mcpl_header *sl_input_source_fields(const struct sl_input_source *f);

/* Bytes of a file and their CRC-32. An IAEA phase space is two files, one after the other. */
size_t sl_input_source_bytes(const struct sl_input_source *f);
uint32_t sl_input_source_crc(const struct sl_input_source *f);

/*
 * A stamp that changes if a file is replaced or written to, from the stamp of the files before it.
 */
uint64_t sl_input_source_stamp(const struct sl_input_source *f, uint64_t stamp);

/* Whether a file was written to since it was opened. */
bool sl_input_source_is_changed(const struct sl_input_source *f, const char *path);

/* Whether it is the file with this device and inode number. */
bool sl_input_source_is(const struct sl_input_source *f, uint64_t device, uint64_t number);

/* The file as MCPL, at least its header, for metadata. */
struct sl_mcpl_part sl_input_source_part(const struct sl_input_source *f);

#endif
