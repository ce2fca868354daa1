/* mcpl_table.c - see mcpl_table.h. */
#include "stages/formats/mcpl/mcpl_table.h"

#include <string.h>

#include "stages/formats/mcpl/mcpl_read.h"
#include "stages/formats/mcpl/mcpl_record.h"
#include "stages/formats/mcpl/mcpl_stream.h"

/* What a particle of a list has that is a column, in the order of struct place. */
enum field {
	POSITION,
	DIRECTION = POSITION + 3,
	ENERGY = DIRECTION + 3,
	WEIGHT,
	TIME,
	PDG,
	FLAGS,
	POLARISATION,
	FIELDS = POLARISATION + 3
};

static const char *const names[FIELDS] = {"x", "y", "z", "u", "v", "w", "energy", "weight", "time",
	"pdg", "userflags", "pol_x", "pol_y", "pol_z"};

/* The column of a field, as a set: empty where there is none. */
static uint32_t column_of(int field)
{
	enum sl_column column = sl_column_find(names[field]);

	return column < SL_COLUMN_COUNT ? SL_BIT(column) : 0;
}

uint32_t sl_mcpl_more_columns(void)
{
	uint32_t set = column_of(PDG);

	for (int i = 0; i < 3; i++)
		set |= column_of(POLARISATION + i);
	return set;
}

uint32_t sl_mcpl_stated_once(void)
{
	return column_of(WEIGHT) | column_of(PDG);
}

/* A column being filled: what of. */
struct filled {
	struct sl_table *t;
	int field[SL_COLUMN_COUNT]; /* of each of its columns */
};

static bool has(const struct sl_mcpl_header *h, int field)
{
	return field < FLAGS || (field == FLAGS ? h->flags : h->polarised);
}

static bool is_constant(const struct sl_mcpl_header *h, int field)
{
	return (field == WEIGHT && h->weight != 0) || (field == PDG && h->pdg != 0);
}

/* Cuts the columns that there are; a field without one is lost. */
static void cut_columns(const struct sl_mcpl_header *h, struct sl_arena *a, struct filled *f,
	struct sl_mcpl_lost *lost)
{
	for (int i = 0; i < FIELDS; i++) {
		enum sl_column column = sl_column_find(names[i]);
		bool constant = is_constant(h, i);

		if (!has(h, i))
			continue;
		lost->pdg |= i == PDG && column == SL_COLUMN_COUNT;
		lost->flags |= i == FLAGS && column == SL_COLUMN_COUNT;
		lost->polarisation |= i >= POLARISATION && column == SL_COLUMN_COUNT;
		if (column == SL_COLUMN_COUNT)
			continue;
		f->field[f->t->n_columns] = i;
		f->t->column[f->t->n_columns++] = (struct sl_table_column){.column = column,
			.constant = constant,
			.data = sl_cut_items(
				a, constant ? 1 : f->t->n, sl_column_facts[column].bytes)};
	}
}

static double real_of(const struct sl_mcpl_particle *p, int field)
{
	if (field < DIRECTION)
		return p->position[field - POSITION];
	if (field < ENERGY)
		return p->direction[field - DIRECTION];
	if (field >= POLARISATION)
		return p->polarisation[field - POLARISATION];
	return field == ENERGY   ? p->energy * SL_MCPL_KEV
	       : field == WEIGHT ? p->weight
	                         : p->time * SL_MCPL_NS;
}

static void set(
	const struct sl_table_column *c, int field, uint32_t row, const struct sl_mcpl_particle *p)
{
	char *at = (char *)c->data + (c->constant ? 0 : (size_t)row * 4);
	float real;

	if (field == PDG || field == FLAGS) {
		memcpy(at, field == PDG ? (const void *)&p->pdg : &p->flags, 4);
		return;
	}
	real = (float)real_of(p, field);
	memcpy(at, &real, sizeof(real));
}

static enum sl_status read_rows(
	struct sl_mcpl_stream *s, const struct filled *f, struct sl_mcpl_lost *lost)
{
	struct sl_mcpl_particle p = {.weight = s->header.weight, .pdg = s->header.pdg};

	for (uint32_t k = 0; k < f->t->n_columns && f->t->n == 0; k++)
		if (f->t->column[k].constant)
			set(&f->t->column[k], f->field[k], 0, &p);
	for (uint32_t row = 0; row < f->t->n; row++) {
		SL_TRY(sl_mcpl_next(s, &p));
		for (uint32_t k = 0; k < f->t->n_columns; k++)
			set(&f->t->column[k], f->field[k], row, &p);
	}
	SL_TRY(sl_mcpl_end(s, &lost->behind));
	lost->behind = lost->behind && !s->recovered;
	return SL_OK;
}

/* A file in gzip of so many bytes cannot hold more than that: deflate gives at most 1032 for one.
 */
enum { RATIO_MOST = 1100 };

static enum sl_status check_count(const struct sl_mcpl_header *h, size_t file_bytes)
{
	if (h->particles > UINT32_MAX)
		return sl_fail(SL_BAD_INPUT,
			"it has %llu particles (a table has 4294967295 rows at most), try mcpltool "
			"--extract, or a list as output",
			(unsigned long long)h->particles);
	if (h->particles * h->record_bytes / RATIO_MOST > file_bytes)
		return sl_fail(SL_BAD_INPUT,
			"it claims more particles than it can hold (it is damaged), try making it "
			"again");
	return SL_OK;
}

static enum sl_status read_list(struct sl_mcpl_stream *s, size_t file_bytes, struct sl_arena *a,
	struct sl_table *t, struct sl_mcpl_lost *lost)
{
	const struct sl_mcpl_header *h = &s->header;
	struct filled f = {.t = t};

	SL_TRY(sl_mcpl_skip_head(s));
	SL_TRY(check_count(h, file_bytes));
	t->n = (uint32_t)h->particles;
	cut_columns(h, a, &f, lost);
	lost->digits = !h->single;
	lost->recovered = s->recovered;
	lost->comments = h->comments;
	lost->blobs = h->blobs;
	if (!a->base)
		return SL_OK;
	if (!sl_fits(a))
		return sl_fail(SL_USAGE,
			"%zu bytes for the columns of a file that needs %zu: measure first",
			a->size, a->used);
	return read_rows(s, &f, lost);
}

/* What a list of ours has from lists that it was made of (mcpl_metadata.h). */
static enum sl_status count_carried(const void *file, size_t bytes, struct sl_mcpl_lost *lost)
{
	struct sl_mcpl_stream s;

	SL_TRY(sl_mcpl_open(&s, file, bytes));
	lost->comments = s.header.comments - 3 - s.header.flags;
	lost->blobs = s.header.blobs - 1;
	sl_mcpl_close(&s);
	return SL_OK;
}

enum sl_status sl_mcpl_table(const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t,
	struct sl_mcpl_lost *lost)
{
	struct sl_arena measure = {0}; /* a header decides, whatever the rows are */
	struct sl_mcpl_stream s;
	enum sl_status status;

	*lost = (struct sl_mcpl_lost){0};
	status = sl_mcpl_read(file, bytes, &measure, t);
	if (status == SL_OK) {
		SL_TRY(count_carried(file, bytes, lost));
		return sl_mcpl_read(file, bytes, a, t);
	}
	if (status != SL_BAD_INPUT)
		return status;
	*t = (struct sl_table){0};
	SL_TRY(sl_mcpl_open(&s, file, bytes));
	status = read_list(&s, bytes, a, t, lost);
	sl_mcpl_close(&s);
	return status;
}
