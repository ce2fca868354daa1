/*
 * pack.h - packs the survivors of a batch on the device, so that fewer bytes are copied to the
 * host, in the form that the file format needs.
 *
 * After the last stage the table is divided into parts. Each column is a part; constant columns
 * only if the format wants them, filled with their value. For formats made of records, all records
 * together are one part. Records are copied as they are, or each part is cut into chunks (with
 * shuffled bytes, if the format wants that) and each chunk compressed into a DEFLATE stream. The
 * streams are adjacent and are copied together, after a size header with their lengths
 * (pack_run.c). The digests of the columns are those of the stage write; the bounds of positions
 * are computed here.
 *
 *	device   | records, or filled columns | streams | scratch |
 *	         | size header, size of each stream |
 *	pinned   | size header | size header |
 */
#ifndef SL_STAGES_DEVICE_PACK_H
#define SL_STAGES_DEVICE_PACK_H

#include "primitives/base/arena.h"
#include "primitives/device/device.h"
#include "primitives/primitives.h"
#include "stages/batch/batch.h"
#include "stages/formats/mcpl/mcpl_record.h"

SL_C_BEGIN

struct sl_recipe;
struct sl_pack_rule;

/*
 * Digest, sizes and bounds of the packed bytes, copied to the host before the bytes. The size
 * of each stream follows the struct, as size_t.
 */
struct sl_pack_size_header {
	uint64_t digest; /* of all bytes, see sl_digest_bytes() */
	size_t used;     /* all bytes */
	/*
	 * Of x, y and z: the largest complemented key and the largest key; 0: no number was seen.
	 */
	uint32_t below[3], above[3];
};

struct sl_pack {
	uint32_t *records; /* NULL: the parts are columns */
	uint64_t *filled;  /* the constant columns of a job, filled with their values */
	size_t filled_bytes;
	uint8_t *out; /* what is copied to the host: streams, or the records */
	size_t out_size;
	struct sl_pack_size_header *size_header;
	struct sl_pack_size_header *host_size_header[2]; /* two copies of it, pinned */
	size_t size_header_bytes;                        /* of each, stream sizes included */
	struct sl_arena scratch;
};

/* A part of the table that is compressed by itself. */
struct sl_pack_part {
	const void *at;
	const void *value; /* the value of a constant column, whose "at" is NULL; else NULL */
	size_t bytes, chunk_bytes;
	uint32_t item_bytes; /* item size of the byte shuffle; 1: bytes are not shuffled */
	const char *name;    /* name of a column, or "records" */
};

/* Bytes of a filled constant column, which is filled in whole 64-bit words. */
static inline size_t sl_pack_filled_bytes(const struct sl_pack_part *part)
{
	return sl_round_up(part->bytes, sizeof(uint64_t));
}

/* A part as the input of a deflate job. */
static inline struct sl_deflate_part sl_pack_input(const struct sl_pack_part *part)
{
	const struct sl_deflate_part input = {
		part->at, part->bytes, part->chunk_bytes, part->item_bytes};

	return input;
}

/* Lists the parts of a table; p may be NULL to get only their sizes. Returns their number. */
uint32_t sl_pack_parts(const struct sl_pack_rule *rule, const struct sl_table *t,
	const struct sl_pack *p, struct sl_pack_part part[SL_COLUMN_COUNT]);

/*
 * Parts are compressed in jobs of several parts each, at the same time. Returns the end of the job
 * that begins with part `from` of n: it gets parts until it has 64 MiB, which keep all
 * multiprocessors busy, or until the memory of p is used. p: NULL for any memory.
 */
uint32_t sl_pack_job_end(const struct sl_pack_rule *rule, const struct sl_pack *p,
	const struct sl_pack_part *part, uint32_t from, uint32_t n);

/* The number of streams of a table. */
size_t sl_pack_streams(const struct sl_pack_rule *rule, const struct sl_table *t);
/* An upper bound of the packed bytes of a table. */
size_t sl_pack_most(const struct sl_pack_rule *rule, const struct sl_table *t);

/* Lays out the memory to pack a table of at most n rows. The form must not be SL_AS_COLUMNS. */
void sl_pack_lay_out(struct sl_arena *device, struct sl_arena *pinned, const struct sl_recipe *r,
	uint32_t n, struct sl_pack *p);

/*
 * Lays out what belongs to the packed bytes; the memory that they are copied to stays, or is not
 * there yet.
 */
void sl_device_packed_lay_out(
	struct sl_arena *pinned, const struct sl_recipe *r, uint32_t n, struct sl_device_packed *p);

/*
 * Makes p->bytes large enough; what they hold is lost if they move. SL_HOST_MEMORY: p has none
 * then.
 */
enum sl_status sl_device_packed_reserve(struct sl_device_packed *p, size_t bytes);

/* --- kernels ---------------------------------------------------------------------------------- */

/* Queues the kernel that fills words with n > 0 copies of a value of 1, 4 or 8 bytes, which is in
 * host memory. It writes whole words of 64 bits. */
typedef enum sl_status sl_fill_launcher(
	const void *value, uint32_t bytes, uint32_t n, uint64_t *words, sl_stream s);
sl_fill_launcher sl_queue_fill, sl_queue_fill_emulated;

/* Queues the kernels that find the least and the greatest position of b->table. The caller has set
 * the size header to 0. */
typedef enum sl_status sl_bounds_launcher(
	const struct sl_batch *b, struct sl_pack_size_header *header, sl_stream s);
sl_bounds_launcher sl_queue_bounds, sl_queue_bounds_emulated;

/*
 * Queues the kernel that digests the first header->used bytes at out, which are at most max_bytes.
 */
typedef enum sl_status sl_pack_digest_launcher(
	const uint8_t *out, size_t max_bytes, struct sl_pack_size_header *header, sl_stream s);
sl_pack_digest_launcher sl_queue_pack_digest, sl_queue_pack_digest_emulated;

/*
 * Queues the kernel that writes the n > 0 rows of t as records to words, n * r->bytes bytes. If
 * used is not NULL, sets *used to that number. The columns, words and used are device memory.
 */
typedef enum sl_status sl_records_launcher(const struct sl_table *t, const struct sl_mcpl_record *r,
	uint32_t n, uint32_t *words, size_t *used, sl_stream s);
sl_records_launcher sl_queue_records, sl_queue_records_emulated;

SL_C_END

#endif
