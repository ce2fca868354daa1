/*
 * npz.c - the format npz: an archive of numpy with one deflated array per column.
 *
 * This file makes everything except the packed items (npz_pack.c): headers, the member about.npy
 * and the directory. A deflated array is one DEFLATE stream: its header is the first block, stored,
 * and the packed items are the rest. The CRC-32 of a member is combined from those of both parts.
 */
#include "stages/formats/tables/tables.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "items are copied from memory, and the file's types are little-endian"
#endif

/*
 * The header of a stored block that contains the header of an array, and is not the last block of
 * its stream. (RFC 1951, 3.2.4)
 */
static const uint8_t block[SL_NPZ_BLOCK_BYTES] = {0, SL_NPY_BYTES, 0, 0xff - SL_NPY_BYTES, 0xff};

/* --- arrays ----------------------------------------------------------------------------------- */

/* Prints the magic and 118 bytes of text: a line, padded with blanks. */
static void print_header(char header[SL_NPY_BYTES], const char *type, const char *shape)
{
	static const char magic[] = "\x93NUMPY\x01\x00\x76\x00";
	enum { MAGIC = sizeof(magic) - 1, TEXT = SL_NPY_BYTES - MAGIC };
	int n;

	memcpy(header, magic, MAGIC);
	n = snprintf(header + MAGIC, TEXT, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
		type, shape);
	memset(header + MAGIC + n, ' ', (size_t)(TEXT - 1 - n));
	header[SL_NPY_BYTES - 1] = '\n';
}

void sl_npy_header(char header[SL_NPY_BYTES], enum sl_column_type type, uint32_t n)
{
	static const char *const names[] = {[SL_TYPE_F32] = "<f4",
		[SL_TYPE_U32] = "<u4",
		[SL_TYPE_U64] = "<u8",
		[SL_TYPE_U8] = "|u1",
		[SL_TYPE_I32] = "<i4"};
	char shape[16];

	snprintf(shape, sizeof(shape), "(%" PRIu32 ",)", n);
	print_header(header, names[type], shape);
}

/* Prints the header of an array that is one text of so many bytes. */
static void print_header_of_text(char header[SL_NPY_BYTES], size_t bytes)
{
	char type[24];

	snprintf(type, sizeof(type), "|S%zu", bytes);
	print_header(header, type, "()");
}

/* --- the member about.npy --------------------------------------------------------------------- */

/* A text that is written as far as it fits, or only counted. */
struct json_text {
	char *at; /* NULL: count only */
	size_t size, used;
};

static void print(struct json_text *t, const char *format, ...) SL_PRINTF(2, 3);
static void print(struct json_text *t, const char *format, ...)
{
	size_t left = t->used < t->size ? t->size - t->used : 0;
	va_list more;

	va_start(more, format);
	t->used += (size_t)vsnprintf(left ? t->at + t->used : NULL, left, format, more);
	va_end(more);
}

/* A JSON string (RFC 8259). Bytes beyond ASCII are UTF-8 and need no escape. */
static void print_string(struct json_text *t, const char *string)
{
	print(t, "\"");
	for (; *string; string++) {
		if (*string == '"' || *string == '\\')
			print(t, "\\%c", *string);
		else if (*string == '\n')
			print(t, "\\n");
		else if ((unsigned char)*string < 0x20)
			print(t, "\\u%04x", *string);
		else
			print(t, "%c", *string);
	}
	print(t, "\"");
}

static void print_member(struct json_text *t, const char *key, const char *string)
{
	print(t, ", \"%s\": ", key);
	print_string(t, string);
}

/*
 * Prints the content of about.npy: the facts of the run and of the batch, the unit of each column,
 * and the configuration, with which the run can be repeated.
 */
static void print_about(struct json_text *t, const struct sl_file_facts *run,
	const struct sl_batch_facts *batch, const struct sl_table *columns)
{
	print(t, "{\"software\": \"Sluice\"");
	print_member(t, "version", run->software_version);
	print(t, ", \"rules_version\": %" PRIu32, run->rules_version);
	print_member(t, "run", run->run_name);
	print(t, ", \"seed\": %" PRIu64, run->seed);
	if (batch->number != SL_WHOLE_RUN)
		print(t, ", \"batch\": %" PRIu64, batch->number);
	print(t, ", \"first_id\": %" PRIu64 ", \"generated\": %" PRIu64, batch->first_id,
		batch->generated);
	print_member(t, "species", run->species);
	print(t, ", " SL_NPZ_UNITS);
	for (uint32_t i = 0; i < columns->n_columns; i++)
		print(t, "%s\"%s\": \"%s\"", i ? ", " : "", sl_table_name(columns, i),
			sl_units[sl_table_unit(columns, i)].text);
	print(t, "}");
	if (run->merged)
		print(t, ", \"merged\": %s", run->merged);
	print_member(t, "config", run->config);
	print(t, "}");
}

/* --- the file --------------------------------------------------------------------------------- */

/*
 * State of a file that is assembled. Packed arrays stay where they are, the rest is in the image.
 */
struct npz_writing {
	uint8_t *next; /* free space in the image */
	struct sl_pieces *file;
	struct sl_zip_member member[SL_COLUMN_COUNT + 1];
	char name[SL_COLUMN_COUNT + 1][SL_ZIP_NAME_MAX];
	uint32_t n;
};

/* Writes the header of a member; the caller adds its data. */
static void begin_member(struct npz_writing *w, struct sl_zip_member m)
{
	size_t bytes;

	m.at = w->file->bytes;
	m.name = w->name[w->n];
	w->member[w->n++] = m;
	bytes = sl_zip_local(&m, w->next);
	sl_pieces_add(w->file, w->next, bytes);
	w->next += bytes;
}

/*
 * Adds the array of a column. The checksum of header and items together is combined from both,
 * because the items were packed earlier, on another thread or on a device.
 */
static void add_array(
	struct npz_writing *w, const struct sl_packed *p, const struct sl_npz_piece *piece)
{
	const struct sl_column_facts *f = &sl_column_facts[piece->column];
	uint64_t items = (uint64_t)p->table.n * f->bytes;
	size_t before = piece->method == SL_ZIP_DEFLATED ? sizeof(block) : 0;
	char header[SL_NPY_BYTES];

	sl_npy_header(header, f->type, p->table.n);
	begin_member(w,
		(struct sl_zip_member){
			.name_bytes = (size_t)snprintf(w->name[w->n], SL_ZIP_NAME_MAX,
				"%s" SL_NPZ_SUFFIX, sl_label_name(p->table.label, piece->column)),
			.method = piece->method,
			.crc = sl_crc32_combine(sl_crc32(header, SL_NPY_BYTES), piece->crc, items),
			.packed = before + SL_NPY_BYTES + piece->bytes,
			.size = SL_NPY_BYTES + items});
	memcpy(w->next, block, before);
	memcpy(w->next + before, header, SL_NPY_BYTES);
	sl_pieces_add(w->file, w->next, before + SL_NPY_BYTES);
	w->next += before + SL_NPY_BYTES;
	sl_pieces_add_known(w->file, piece->at, piece->bytes,
		p->has_crc ? 0 : sl_crc32(piece->at, piece->bytes));
}

/*
 * Adds about.npy, stored without compression because it is short. The array is made after the space
 * for its header, because the header contains the checksum.
 */
static void add_about(struct npz_writing *w, const struct sl_file_facts *run,
	const struct sl_batch_facts *batch, const struct sl_table *columns)
{
	char *array = (char *)w->next + SL_ZIP_HEADER_BYTES;
	struct json_text text = {0};
	size_t bytes;

	print_about(&text, run, batch, columns);
	bytes = SL_NPY_BYTES + text.used;
	print_header_of_text(array, text.used);
	text = (struct json_text){.at = array + SL_NPY_BYTES, .size = text.used + 1};
	print_about(&text, run, batch, columns);
	memcpy(w->name[w->n], SL_NPZ_ABOUT, sizeof(SL_NPZ_ABOUT));
	begin_member(w, (struct sl_zip_member){.name_bytes = sizeof(SL_NPZ_ABOUT) - 1,
				.method = SL_ZIP_STORED,
				.crc = sl_crc32(array, bytes),
				.packed = bytes,
				.size = bytes});
	sl_pieces_add(w->file, array, bytes);
	w->next = (uint8_t *)array + bytes;
}

/* The directory has the offset of each member, so it is written after the last one. */
static void add_directory(struct npz_writing *w)
{
	uint64_t at = w->file->bytes;
	size_t used = 0;

	for (uint32_t i = 0; i < w->n; i++)
		used += sl_zip_entry(&w->member[i], w->next + used);
	used += sl_zip_end(w->n, at, used, w->next + used);
	sl_pieces_add(w->file, w->next, used);
}

/* The numbers of a batch with the most digits, for an upper limit. */
static const struct sl_batch_facts longest = {SL_WHOLE_RUN - 1, UINT64_MAX, UINT64_MAX};

/* An upper limit, as if each header were the longest: the packed items are not in the image. */
static struct sl_format_sizes sizes(const struct sl_table *most, const struct sl_file_facts *run)
{
	struct sl_format_sizes s = sl_npz_sizes(most, run);
	size_t headers = (size_t)(most->n_columns + 1) *
	                 (2 * SL_ZIP_HEADER_BYTES + sizeof(block) + SL_NPY_BYTES);
	struct json_text about = {0};

	print_about(&about, run, &longest, most);
	s.image = sl_size_add(headers, SL_NPY_BYTES + about.used + 1 + SL_ZIP_END_BYTES);
	return s;
}

/* Makes the file in the image and lists its pieces; packed items are referred to, not copied. */
static enum sl_status assemble(const struct sl_file_facts *run, const struct sl_batch_facts *batch,
	const struct sl_packed *p, void *image, size_t size, struct sl_pieces *file)
{
	const struct sl_npz_pieces *pieces = (const struct sl_npz_pieces *)p->pieces;
	struct npz_writing w = {.next = (uint8_t *)image, .file = file};

	(void)size;
	for (uint32_t i = 0; i < pieces->n; i++)
		add_array(&w, p, &pieces->piece[i]);
	add_about(&w, run, batch, &p->table);
	add_directory(&w);
	return SL_OK;
}

const struct sl_format sl_format_npz = {
	.name = "npz",
	.suffix = ".npz",
	.help = "an archive of numpy, deflated: np.load(FILE)[\"x\"]",
	.sizes = sizes,
	.pack = sl_npz_pack,
	.packing = {.chunk_bytes = SIZE_MAX, .wrapper = SL_GZIP, .constants = true},
	.assemble = assemble,
	.read = sl_npz_read,
	.join = &sl_npz_join,
};
