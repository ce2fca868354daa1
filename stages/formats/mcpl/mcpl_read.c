/*
 * mcpl_read.c - the columns of a file of MCPL that this program wrote.
 *
 * A comment tells which they are. Directions, and what stands there in other units, come back
 * rounded; of numbers of 8 bytes those in other units come back to the bit.
 */
#include "stages/formats/mcpl/mcpl_read.h"

#include <string.h>

#include "stages/formats/mcpl/mcpl.h"
#include "stages/formats/mcpl/mcpl_stream.h"

enum { TEXT_BYTES = 1024 };

/* Deflate gives at most 1032 bytes for one; a file that claims more is lying. */
enum { RATIO_MOST = 1100 };

static enum sl_status damaged(const char *problem)
{
	return sl_fail(SL_BAD_INPUT,
		"%s: it is no MCPL of this program, or it is damaged; look with mcpltool, or make "
		"it again",
		problem);
}

/* --- header ----------------------------------------------------------------------------------- */

/* The set of columns that a list of names, with commas between them, stands for; 0: of none. */
static uint32_t columns_of(const char *list)
{
	char name[TEXT_BYTES];
	uint32_t set = 0;

	for (; *list; list += strlen(name) + (list[strlen(name)] == ',')) {
		enum sl_column column;
		size_t n = strcspn(list, ",");

		memcpy(name, list, n);
		name[n] = '\0';
		column = sl_column_find(name);
		if (column == SL_COLUMN_COUNT || set >> column != 0) /* they stand in order */
			return 0;
		set |= SL_BIT(column);
	}
	return set;
}

/* Is there one bit or none in a set? */
static bool is_one_at_most(uint32_t set)
{
	return (set & (set - 1)) == 0;
}

/* Can records with these flags be made of these columns? */
static bool agrees(const struct sl_mcpl_header *h, uint32_t set)
{
	uint32_t flags = set & SL_MCPL_FLAGS;
	uint32_t all = SL_MCPL_NEEDED | SL_BIT(SL_COLUMN_energy) | SL_BIT(SL_COLUMN_pdg) |
	               SL_MCPL_POLARISATION | SL_MCPL_FLAGS;
	uint32_t polarisation = h->polarised ? SL_MCPL_POLARISATION : 0;

	return (set & SL_MCPL_NEEDED) == SL_MCPL_NEEDED && (set & ~all) == 0 &&
	       is_one_at_most(flags) && h->flags == (flags != 0) && h->version == 3 &&
	       (set & SL_MCPL_POLARISATION) == polarisation &&
	       (h->pdg != 0 || SL_HAS(set, SL_COLUMN_pdg)) && h->blobs >= 1 &&
	       h->comments >= 3u + h->flags;
}

/* Reads all strings; of them, the set of columns, which the last comment tells. */
static enum sl_status read_header(struct sl_mcpl_stream *s, uint32_t *set)
{
	static const char columns[] = SL_MCPL_COLUMNS;
	char text[TEXT_BYTES];
	uint32_t length;

	*set = 0;
	SL_TRY(sl_mcpl_text(s, text, sizeof(text), &length));
	if (strncmp(text, SL_MCPL_SOURCE, strlen(SL_MCPL_SOURCE)) != 0)
		return damaged("another program wrote it");
	for (uint32_t i = 0; i < s->header.comments; i++)
		SL_TRY(sl_mcpl_text(s, text, sizeof(text), &length));
	if (length < sizeof(text) && strncmp(text, columns, strlen(columns)) == 0)
		*set = columns_of(text + strlen(columns));
	if (!agrees(&s->header, *set))
		return damaged("its last comment does not tell columns that it may have");
	for (uint32_t i = 0; i < 2 * s->header.blobs; i++)
		SL_TRY(sl_mcpl_text(s, text, sizeof(text), &length));
	return sl_mcpl_begin(s);
}

/* --- records ---------------------------------------------------------------------------------- */

static void set_real(const struct sl_table_column *c, uint32_t row, double value)
{
	((float *)c->data)[row] = (float)value;
}

static void set_whole(const struct sl_table_column *c, uint32_t row, uint32_t value)
{
	switch (sl_column_facts[c->column].type) {
	case SL_TYPE_U8:
		((uint8_t *)c->data)[row] = (uint8_t)value;
		break;
	case SL_TYPE_U64:
		((uint64_t *)c->data)[row] = value;
		break;
	case SL_TYPE_I32:
		((int32_t *)c->data)[row] = (int32_t)value;
		break;
	default:
		((uint32_t *)c->data)[row] = value;
		break;
	}
}

static void set_item(
	const struct sl_table_column *c, uint32_t row, const struct sl_mcpl_particle *p)
{
	if (c->constant && row > 0)
		return;
	if (SL_HAS(SL_MCPL_POLARISATION, c->column))
		set_real(c, row, p->polarisation[c->column - SL_COLUMN_pol_x]);
	else if (c->column == SL_COLUMN_pdg)
		set_whole(c, row, (uint32_t)p->pdg);
	else if (SL_HAS(SL_MCPL_FLAGS, c->column))
		set_whole(c, row, p->flags);
	else if (c->column <= SL_COLUMN_z)
		set_real(c, row, p->position[c->column - SL_COLUMN_x]);
	else if (c->column <= SL_COLUMN_w)
		set_real(c, row, p->direction[c->column - SL_COLUMN_u]);
	else if (c->column == SL_COLUMN_energy)
		set_real(c, row, p->energy * SL_MCPL_KEV);
	else if (c->column == SL_COLUMN_time)
		set_real(c, row, p->time * SL_MCPL_NS);
	else
		set_real(c, row, p->weight);
}

static enum sl_status read_rows(struct sl_mcpl_stream *s, const struct sl_table *t)
{
	struct sl_mcpl_particle p = {.weight = s->header.weight, .pdg = s->header.pdg};
	bool more;

	for (uint32_t k = 0; k < t->n_columns && t->n == 0; k++)
		if (t->column[k].constant)
			set_item(&t->column[k], 0, &p);
	for (uint32_t row = 0; row < t->n; row++) {
		SL_TRY(sl_mcpl_next(s, &p));
		for (uint32_t k = 0; k < t->n_columns; k++)
			set_item(&t->column[k], row, &p);
	}
	SL_TRY(sl_mcpl_end(s, &more));
	return more ? damaged("something follows its last particle") : SL_OK;
}

static void add_column(const struct sl_mcpl_header *h, enum sl_column column, struct sl_arena *a,
	struct sl_table *t)
{
	const struct sl_column_facts *f = &sl_column_facts[column];
	bool constant = (column == SL_COLUMN_weight && h->weight != 0) ||
	                (column == SL_COLUMN_pdg && h->pdg != 0);
	bool converted = column == SL_COLUMN_energy || column == SL_COLUMN_time;

	t->column[t->n_columns++] = (struct sl_table_column){.column = column,
		.constant = constant,
		.rounded = (column >= SL_COLUMN_u && column <= SL_COLUMN_w) ||
	                   (converted && h->single),
		.data = sl_cut_items(a, constant ? 1 : t->n, f->bytes)};
}

/* *file_bytes: of the file, by which it is known to lie about its particles. */
static enum sl_status read_table(
	struct sl_mcpl_stream *s, size_t file_bytes, struct sl_arena *a, struct sl_table *t)
{
	const struct sl_mcpl_header *h = &s->header;
	uint32_t set;

	SL_TRY(read_header(s, &set));
	if (s->recovered || h->particles > UINT32_MAX ||
		h->particles * h->record_bytes / RATIO_MOST > file_bytes)
		return damaged("it has not the particles that it claims");
	t->n = (uint32_t)h->particles;
	for (int i = 0; i < SL_COLUMN_COUNT; i++)
		if (SL_HAS(set, i))
			add_column(h, (enum sl_column)i, a, t);
	if (!a->base)
		return SL_OK;
	if (!sl_fits(a))
		return sl_fail(SL_USAGE,
			"%zu bytes for the columns of a file that needs %zu: measure first",
			a->size, a->used);
	return read_rows(s, t);
}

enum sl_status sl_mcpl_read(const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t)
{
	struct sl_mcpl_stream s;
	enum sl_status status;

	*t = (struct sl_table){0};
	SL_TRY(sl_mcpl_open(&s, file, bytes));
	status = read_table(&s, bytes, a, t);
	sl_mcpl_close(&s);
	return status;
}
