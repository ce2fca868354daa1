/*
 * mcpl_read.c - see mcpl_read.h.
 *
 * A record is read as a struct sl_mcpl_particle, whose fields are then stored in the columns. In a
 * file of this program a comment lists the columns. In other files each field goes to the column of
 * the same name, if there is one.
 */
#include "stages/formats/mcpl/mcpl_read.h"

#include <string.h>

#include "stages/formats/mcpl/mcpl.h"
#include "stages/formats/mcpl/mcpl_stream.h"

enum { TEXT_BYTES = 1024 };

static enum sl_status damaged(const char *problem)
{
	return sl_fail(SL_BAD_INPUT,
		"%s: the file is damaged, or is not an MCPL file of this program; inspect it with "
		"mcpltool, or make it again",
		problem);
}

/* --- fields and columns ----------------------------------------------------------------------- */

/* The numbers of a particle, in the order of names. */
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

/* The columns of the fields. Some of them may be missing from columns.def. */
static const char *const names[FIELDS] = {"x", "y", "z", "u", "v", "w", "energy", "weight", "time",
	"pdg", "userflags", "pol_x", "pol_y", "pol_z"};

/* The column of a field as a set, empty if it is missing. */
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

/* A table and the fields that fill its columns. */
struct filled {
	struct sl_table *t;
	int field[SL_COLUMN_COUNT]; /* by index in the table */
};

/* Adds a column that a field fills. A value that the header states makes it a constant column. */
static void add_column(struct filled *f, const struct sl_mcpl_header *h, enum sl_column column,
	int field, struct sl_arena *a)
{
	struct sl_table *t = f->t;
	bool constant = (field == WEIGHT && h->weight != 0) || (field == PDG && h->pdg != 0);

	f->field[t->n_columns] = field;
	t->column[t->n_columns++] = (struct sl_table_column){.column = column,
		.constant = constant,
		.data = sl_cut_items(a, constant ? 1 : t->n, sl_column_facts[column].bytes)};
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
	const struct sl_table_column *c, int field, uint32_t row, const struct sl_mcpl_particle *p)
{
	uint32_t i = c->constant ? 0 : row;

	if (field == PDG || field == FLAGS)
		set_whole(c, i, field == PDG ? (uint32_t)p->pdg : p->flags);
	else
		((float *)c->data)[i] = (float)real_of(p, field);
}

/*
 * Reads all particles; *behind: bytes follow the last one. Without rows, constant columns still get
 * the value that the header states.
 */
static enum sl_status read_rows(struct sl_mcpl_stream *s, const struct filled *f, bool *behind)
{
	struct sl_mcpl_particle p = {.weight = s->header.weight, .pdg = s->header.pdg};
	const struct sl_table *t = f->t;

	for (uint32_t k = 0; k < t->n_columns && t->n == 0; k++)
		if (t->column[k].constant)
			set_item(&t->column[k], f->field[k], 0, &p);
	for (uint32_t row = 0; row < t->n; row++) {
		SL_TRY(sl_mcpl_next(s, &p));
		for (uint32_t k = 0; k < t->n_columns; k++)
			set_item(&t->column[k], f->field[k], row, &p);
	}
	return sl_mcpl_end(s, behind);
}

/* Whether a file of so many bytes is too small for its particles, even at deflate's best ratio. */
static bool is_too_small(const struct sl_mcpl_header *h, size_t file_bytes)
{
	return h->particles * h->record_bytes / SL_INFLATE_RATIO_MAX > file_bytes;
}

/* --- files of this program -------------------------------------------------------------------- */

/* The set of columns that a comma-separated list names; 0 if it is not such a list. */
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
		if (column == SL_COLUMN_COUNT || set >> column != 0) /* columns are in order */
			return 0;
		set |= SL_BIT(column);
	}
	return set;
}

/* Whether a set has at most one bit. */
static bool is_one_at_most(uint32_t set)
{
	return (set & (set - 1)) == 0;
}

/* Whether records of these columns have a header with these flags. */
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

/* Reads all strings. *set: the columns that the last comment lists. */
static enum sl_status read_header(struct sl_mcpl_stream *s, uint32_t *set)
{
	static const char columns[] = SL_MCPL_COLUMNS;
	char text[TEXT_BYTES];
	uint32_t length;

	*set = 0;
	SL_TRY(sl_mcpl_text(s, text, sizeof(text), &length));
	if (strncmp(text, SL_MCPL_SOURCE, strlen(SL_MCPL_SOURCE)) != 0)
		return damaged("its source is another program");
	for (uint32_t i = 0; i < s->header.comments; i++)
		SL_TRY(sl_mcpl_text(s, text, sizeof(text), &length));
	if (length < sizeof(text) && strncmp(text, columns, strlen(columns)) == 0)
		*set = columns_of(text + strlen(columns));
	if (!agrees(&s->header, *set))
		return damaged("its last comment lists columns that do not agree with the header");
	for (uint32_t i = 0; i < 2 * s->header.blobs; i++)
		SL_TRY(sl_mcpl_text(s, text, sizeof(text), &length));
	return sl_mcpl_begin(s);
}

/* The field that fills a column of a file of this program. */
static int field_of(enum sl_column column)
{
	int field = 0;

	if (SL_HAS(SL_MCPL_FLAGS, column))
		return FLAGS;
	while (strcmp(names[field], sl_column_facts[column].name) != 0)
		field++;
	return field;
}

/* Whether values of a field come back rounded: directions, and float32 in other units. */
static bool is_rounded(const struct sl_mcpl_header *h, int field)
{
	return (field >= DIRECTION && field < ENERGY) ||
	       (h->single && (field == ENERGY || field == TIME));
}

static enum sl_status read_table(
	struct sl_mcpl_stream *s, size_t file_bytes, struct sl_arena *a, struct sl_table *t)
{
	const struct sl_mcpl_header *h = &s->header;
	struct filled f = {.t = t};
	uint32_t set;
	bool behind;

	SL_TRY(read_header(s, &set));
	if (s->recovered || h->particles > UINT32_MAX || is_too_small(h, file_bytes))
		return damaged("its header counts other particles than the file has");
	t->n = (uint32_t)h->particles;
	for (int i = 0; i < SL_COLUMN_COUNT; i++)
		if (SL_HAS(set, i)) {
			int field = field_of((enum sl_column)i);

			add_column(&f, h, (enum sl_column)i, field, a);
			t->column[t->n_columns - 1].rounded = is_rounded(h, field);
		}
	if (!a->base)
		return SL_OK;
	SL_TRY(sl_format_check_columns(a));
	SL_TRY(read_rows(s, &f, &behind));
	return behind ? damaged("something follows its last particle") : SL_OK;
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

/* --- files of any program --------------------------------------------------------------------- */

static bool has_field(const struct sl_mcpl_header *h, int field)
{
	return field < FLAGS || (field == FLAGS ? h->flags : h->polarised);
}

/* Adds a column for each field of the file; a field without a column is lost. */
static void add_columns(const struct sl_mcpl_header *h, struct sl_arena *a, struct filled *f,
	struct sl_mcpl_lost *lost)
{
	for (int i = 0; i < FIELDS; i++) {
		enum sl_column column = sl_column_find(names[i]);

		if (!has_field(h, i))
			continue;
		if (column < SL_COLUMN_COUNT) {
			add_column(f, h, column, i, a);
			continue;
		}
		lost->pdg |= i == PDG;
		lost->flags |= i == FLAGS;
		lost->polarisation |= i >= POLARISATION;
	}
}

static enum sl_status check_count(const struct sl_mcpl_header *h, size_t file_bytes)
{
	if (h->particles > UINT32_MAX)
		return sl_fail(SL_BAD_INPUT,
			"its header counts %llu particles, but a table has at most 4294967295 "
			"rows; split it with mcpltool --extract, or choose MCPL as output",
			(unsigned long long)h->particles);
	if (is_too_small(h, file_bytes))
		return sl_fail(SL_BAD_INPUT,
			"its header counts %llu particles, more than a file of %zu bytes can hold: "
			"the file is damaged; make it again",
			(unsigned long long)h->particles, file_bytes);
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
	add_columns(h, a, &f, lost);
	lost->digits = !h->single;
	lost->recovered = s->recovered;
	lost->comments = h->comments;
	lost->blobs = h->blobs;
	if (!a->base)
		return SL_OK;
	SL_TRY(sl_format_check_columns(a));
	SL_TRY(read_rows(s, &f, &lost->behind));
	lost->behind = lost->behind && !s->recovered;
	return SL_OK;
}

/*
 * Counts the comments and blobs that a file of this program took over from lists it was made of
 * (mcpl_metadata.h): all but its own three or four comments and its own blob.
 */
static enum sl_status count_metadata(const void *file, size_t bytes, struct sl_mcpl_lost *lost)
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
	struct sl_arena measure = {0}; /* the header decides; records are not read */
	struct sl_mcpl_stream s;
	enum sl_status status;

	*lost = (struct sl_mcpl_lost){0};
	status = sl_mcpl_read(file, bytes, &measure, t);
	if (status == SL_OK) {
		SL_TRY(count_metadata(file, bytes, lost));
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
