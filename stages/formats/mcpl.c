/*
 * mcpl.c - a table as a list of particles for other Monte Carlo codes: MCPL 3, plain or in gzip.
 *
 * A row becomes a record, in key order. Positions and weights are the columns' own numbers; energy
 * and time are in other units, and a direction is two of its components, so they come back to
 * within a rounding.
 */
#include "stages/formats/mcpl.h"

#include <math.h>
#include <string.h>

#include "stages/formats/gzip_stored.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "numbers are written as they lie in memory, and the file says that they are little-endian"
#endif

enum { MEMBER_BYTES = SL_MCPL_MEMBER_BYTES, NUMBERS_MOST = 11 };

/* What must outlive the table's columns. */
struct kept {
	double weight; /* of all; 0: each has its own */
};

/* --- records ---------------------------------------------------------------------------------- */

/* Where a number of each row comes from: a column, a constant, or what all have. */
struct source {
	const char *data;
	enum sl_column_type type;
	size_t step; /* bytes from row to row; 0: one value */
};

/* All that a record is made of. */
struct sources {
	struct source polarisation[3], position[3], direction[3], energy, time, weight, pdg, flags;
	bool single, polarised, weighs, typed, flagged;
	double all_energy; /* MeV; NaN: each has its own */
};

static const struct sl_table_column *find(const struct sl_table *t, enum sl_column column)
{
	for (uint32_t k = 0; k < t->n_columns; k++)
		if (t->column[k].column == column)
			return &t->column[k];
	return NULL;
}

static enum sl_status find_source(const struct sl_table *t, enum sl_column column, struct source *s)
{
	const struct sl_table_column *c = find(t, column);
	const struct sl_column_facts *f = &sl_column_facts[column];

	if (!c)
		return sl_fail(SL_USAGE,
			"a particle of mcpl has the column %s, and the table does not; add it",
			f->name);
	*s = (struct source){(const char *)c->data, f->type, c->constant ? 0 : f->bytes};
	return SL_OK;
}

/* The weight that all rows have, if it is one that a header can state; else 0. */
static double common_weight(const struct sl_table *t)
{
	const struct sl_table_column *c = find(t, SL_COLUMN_weight);
	double weight = c && c->constant ? (double)*(const float *)c->data : 0;

	return isfinite(weight) ? weight : 0;
}

static enum sl_status find_sources(
	const struct sl_table *t, const struct sl_mcpl_facts *facts, struct sources *s)
{
	*s = (struct sources){.single = !facts->wide,
		.weighs = common_weight(t) == 0,
		.polarised = sl_mcpl_is_polarised(t),
		.typed = sl_mcpl_common_pdg(t, facts) == 0,
		.flagged = facts->flags != SL_COLUMN_COUNT,
		.all_energy = facts->energy / sl_mcpl_kev};
	for (int i = 0; i < 3; i++) {
		SL_TRY(find_source(t, (enum sl_column)(SL_COLUMN_x + i), &s->position[i]));
		SL_TRY(find_source(t, (enum sl_column)(SL_COLUMN_u + i), &s->direction[i]));
	}
	for (int i = 0; s->polarised && i < 3; i++)
		SL_TRY(find_source(t, (enum sl_column)(SL_COLUMN_pol_x + i), &s->polarisation[i]));
	if (s->typed)
		SL_TRY(find_source(t, SL_COLUMN_pdg, &s->pdg));
	if (isnan(s->all_energy))
		SL_TRY(find_source(t, SL_COLUMN_energy, &s->energy));
	SL_TRY(find_source(t, SL_COLUMN_time, &s->time));
	SL_TRY(find_source(t, SL_COLUMN_weight, &s->weight));
	return s->flagged ? find_source(t, facts->flags, &s->flags) : SL_OK;
}

static double real(const struct source *s, uint32_t row)
{
	float v;

	memcpy(&v, s->data + row * s->step, sizeof(v));
	return (double)v;
}

/* A whole number, whose lower 32 bits are taken. */
static uint32_t whole(const struct source *s, uint32_t row)
{
	const char *at = s->data + row * s->step;
	uint32_t v;

	if (s->type == SL_TYPE_U8)
		return *(const uint8_t *)at;
	memcpy(&v, at, sizeof(v));
	return v;
}

/* The numbers of a row in their order; returns how many. */
static int numbers_of(const struct sources *s, uint32_t row, double number[NUMBERS_MOST])
{
	double direction[3];
	int before = s->polarised ? 3 : 0;

	for (int i = 0; i < before; i++)
		number[i] = real(&s->polarisation[i], row);
	number += before;
	for (int i = 0; i < 3; i++) {
		number[i] = real(&s->position[i], row);
		direction[i] = real(&s->direction[i], row);
	}
	sl_mcpl_pack(direction, number + 3);
	number[5] =
		copysign(isnan(s->all_energy) ? real(&s->energy, row) / sl_mcpl_kev : s->all_energy,
			number[5]);
	number[6] = real(&s->time, row) / sl_mcpl_ns;
	if (s->weighs)
		number[7] = real(&s->weight, row);
	return before + (s->weighs ? 8 : 7);
}

static uint8_t *put_whole(uint8_t *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
	return at + sizeof(value);
}

/* Rows from .. to-1 as records; returns where they end. */
static uint8_t *put_rows(const struct sources *s, uint32_t from, uint32_t to, uint8_t *at)
{
	double number[NUMBERS_MOST];

	for (uint32_t row = from; row < to; row++) {
		int n = numbers_of(s, row, number);

		for (int i = 0; i < n; i++) {
			float narrow = (float)number[i];
			size_t bytes = s->single ? sizeof(narrow) : sizeof(number[i]);

			memcpy(at, s->single ? (const void *)&narrow : &number[i], bytes);
			at += bytes;
		}
		if (s->typed)
			at = put_whole(at, whole(&s->pdg, row));
		if (s->flagged)
			at = put_whole(at, whole(&s->flags, row));
	}
	return at;
}

/* --- packing ---------------------------------------------------------------------------------- */

/* The rows of a gzip member. */
static uint32_t rows_of_member(uint32_t record_bytes)
{
	return MEMBER_BYTES / record_bytes;
}

/* The bytes of a table's records: when each has a weight of its own, as lay_out() cannot tell. */
static size_t records_bytes(const struct sl_table *t, const struct sl_file_facts *run)
{
	struct sl_mcpl_header h = sl_mcpl_header_of(t, &run->mcpl, 0);

	return sl_size_mul(t->n, h.record_bytes);
}

/* The same in members that hold them as they are: no member is shorter than half of the most. */
static size_t members_bytes(const struct sl_table *t, const struct sl_file_facts *run)
{
	size_t bytes = records_bytes(t, run);
	size_t members = bytes / (MEMBER_BYTES / 2) + 1;

	return sl_size_add(bytes,
		sl_size_mul(members, sl_gzip_stored_bytes(MEMBER_BYTES) - (size_t)MEMBER_BYTES));
}

static void lay_out_bytes(struct sl_arena *a, size_t bytes, struct sl_packed *p)
{
	void *kept = sl_cut_items(a, 1, sizeof(struct kept));

	*p = (struct sl_packed){
		.pieces = kept, .bytes = (uint8_t *)sl_cut(a, bytes), .size = bytes};
}

static void lay_out(struct sl_arena *a, const struct sl_table *most,
	const struct sl_file_facts *run, struct sl_packed *p)
{
	lay_out_bytes(a, records_bytes(most, run), p);
}

static void lay_out_gz(struct sl_arena *a, const struct sl_table *most,
	const struct sl_file_facts *run, struct sl_packed *p)
{
	lay_out_bytes(a, members_bytes(most, run), p);
}

static size_t scratch(const struct sl_table *most, const struct sl_file_facts *run)
{
	(void)most, (void)run;
	return 0;
}

size_t sl_mcpl_member_scratch(const struct sl_file_facts *run)
{
	struct sl_shape shape = {.in_bytes = MEMBER_BYTES, .level = run->level};

	return sl_round_up(sl_scratch(run->deflate, &shape), SL_ALIGN);
}

/* The records of a member, and what deflate asks for. */
static size_t scratch_gz(const struct sl_table *most, const struct sl_file_facts *run)
{
	(void)most;
	return sl_size_add(MEMBER_BYTES, sl_mcpl_member_scratch(run));
}

/* What both begin with: is there room, and what is a row made of? */
static enum sl_status begin(const struct sl_file_facts *run, const struct sl_table *t, size_t bytes,
	struct sl_packed *p, struct sources *s)
{
	if (bytes > p->size)
		return sl_fail(SL_USAGE,
			"%zu bytes of records are to be packed, there is room for %zu: more rows "
			"than the packing was laid out for; lay it out for more",
			bytes, p->size);
	SL_TRY(find_sources(t, &run->mcpl, s));
	((struct kept *)p->pieces)->weight = common_weight(t);
	p->table = *t;
	p->used = 0;
	return SL_OK;
}

static enum sl_status pack(struct sl_exec *x, const struct sl_file_facts *run,
	const struct sl_table *t, struct sl_packed *p)
{
	struct sources s;

	(void)x;
	SL_TRY(begin(run, t, records_bytes(t, run), p, &s));
	p->used = (size_t)(put_rows(&s, 0, t->n, p->bytes) - p->bytes);
	return SL_OK;
}

enum sl_status sl_mcpl_member(struct sl_exec *x, const struct sl_file_facts *run,
	const void *records, size_t bytes, uint8_t *out, size_t *used)
{
	struct sl_deflate_job job = {
		.in = records,
		.in_bytes = bytes,
		.out = out,
		.out_size = sl_gzip_stored_bytes(bytes),
		.out_bytes = used,
		.level = run->level,
		.wrapper = SL_GZIP,
	};

	SL_TRY(sl_deflate(run->deflate, x, &job));
	if (*used == 0)
		*used = sl_gzip_store(records, bytes, out);
	return SL_OK;
}

static enum sl_status pack_member(struct sl_exec *x, const struct sl_file_facts *run,
	const uint8_t *records, size_t bytes, struct sl_packed *p)
{
	size_t used = 0;

	SL_TRY(sl_mcpl_member(x, run, records, bytes, p->bytes + p->used, &used));
	p->used += used;
	return SL_OK;
}

static enum sl_status pack_gz(struct sl_exec *x, const struct sl_file_facts *run,
	const struct sl_table *t, struct sl_packed *p)
{
	struct sl_mcpl_header h = sl_mcpl_header_of(t, &run->mcpl, common_weight(t));
	struct sl_exec rest = *x;
	uint8_t *records = (uint8_t *)sl_cut(&rest.scratch, MEMBER_BYTES);
	uint32_t rows = rows_of_member(h.record_bytes);
	struct sources s;

	if (!records)
		return sl_fail(SL_USAGE,
			"scratch of mcpl.gz has %zu bytes, %zu are needed: give it at least "
			"scratch() bytes",
			x->scratch.size, scratch_gz(t, run));
	SL_TRY(begin(run, t, members_bytes(t, run), p, &s));
	for (uint32_t from = 0, n; from < t->n; from += n) {
		n = t->n - from < rows ? t->n - from : rows;
		put_rows(&s, from, from + n, records);
		SL_TRY(pack_member(&rest, run, records, (size_t)n * h.record_bytes, p));
	}
	return SL_OK;
}

/* --- the file --------------------------------------------------------------------------------- */

/* The longest header that files of this run have. */
static size_t header_bytes(const struct sl_table *t, const struct sl_file_facts *run)
{
	return sl_mcpl_put_header(NULL, run, t, 1, NULL);
}

static size_t image_bytes(const struct sl_table *most, const struct sl_file_facts *run)
{
	return header_bytes(most, run);
}

/* The header is made behind where it is stored. */
static size_t image_bytes_gz(const struct sl_table *most, const struct sl_file_facts *run)
{
	size_t header = header_bytes(most, run);

	return sl_size_add(sl_gzip_stored_bytes(header), header);
}

static size_t put_header(uint8_t *at, const struct sl_file_facts *run,
	const struct sl_batch_facts *batch, const struct sl_packed *p)
{
	double weight = ((const struct kept *)p->pieces)->weight;

	return sl_mcpl_put_header(at, run, &p->table, weight, batch);
}

static enum sl_status assemble(const struct sl_file_facts *run, const struct sl_batch_facts *batch,
	const struct sl_packed *p, void *image, size_t size, struct sl_pieces *file)
{
	SL_TRY(sl_format_check_image(size, image_bytes(&p->table, run)));
	*file = (struct sl_pieces){0};
	sl_pieces_add(file, image, put_header((uint8_t *)image, run, batch, p));
	sl_pieces_add(file, p->bytes, p->used);
	return SL_OK;
}

static enum sl_status assemble_gz(const struct sl_file_facts *run,
	const struct sl_batch_facts *batch, const struct sl_packed *p, void *image, size_t size,
	struct sl_pieces *file)
{
	uint8_t *at = (uint8_t *)image, *header;

	SL_TRY(sl_format_check_image(size, image_bytes_gz(&p->table, run)));
	header = at + size - header_bytes(&p->table, run);
	*file = (struct sl_pieces){0};
	sl_pieces_add(file, at, sl_gzip_store(header, put_header(header, run, batch, p), at));
	sl_pieces_add(file, p->bytes, p->used);
	return SL_OK;
}

const struct sl_format sl_format_mcpl = {
	.name = "mcpl",
	.suffix = ".mcpl",
	.help = "MCPL 3, a list of particles: for McStas, OpenMC, Geant4, MCNP, PHITS",
	.lay_out = lay_out,
	.scratch = scratch,
	.pack = pack,
	.image_bytes = image_bytes,
	.assemble = assemble,
	.read = sl_mcpl_read,
};

const struct sl_format sl_format_mcpl_gz = {
	.name = "mcpl.gz",
	.suffix = ".mcpl.gz",
	.help = "the same in gzip, which all of them but mcpltool of Debian 12 read as it is",
	.lay_out = lay_out_gz,
	.scratch = scratch_gz,
	.pack = pack_gz,
	.image_bytes = image_bytes_gz,
	.assemble = assemble_gz,
	.read = sl_mcpl_read,
};
