/*
 * mcpl_read.c - see mcpl.h.
 *
 * In a file of this program a comment lists the columns; a file of another program fills the
 * columns that its records have.
 */
#include "stages/formats/mcpl/mcpl.h"

#include <float.h>

#include "primitives/base/jobs.h"
#include "primitives/files/files.h"

enum { TEXT_BYTES = 1024 };

/* Fails for a file that claims to be of this program and contradicts itself. */
static enum sl_status damaged(const char *problem)
{
	return sl_fail(SL_BAD_INPUT,
		"%s: the file is damaged, or is not an MCPL file of this program; inspect it with "
		"mcpltool, or make it again",
		problem);
}

/* --- columns ---------------------------------------------------------------------------------- */

/*
 * Columns that every record of a list fills; a file of this program may state the energy instead.
 */
enum { EVERY_RECORD = SL_MCPL_NEEDED | SL_BIT(SL_COLUMN_energy) | SL_BIT(SL_COLUMN_pdg) };

/*
 * Adds the columns of a set. A value that the header states once makes a constant column, but for a
 * weight in doubles.
 */
static void add_columns(const struct sl_mcpl_header *h, sl_column_set set, bool wide,
	struct sl_arena *a, struct sl_table *t)
{
	for (int i = 0; i < SL_COLUMN_COUNT; i++) {
		const struct sl_column_facts *f = &sl_column_facts[i];
		bool constant = (i == SL_COLUMN_weight && h->weight != 0 && !wide) ||
		                (i == SL_COLUMN_pdg && h->pdg != 0);

		if (SL_HAS(set, i))
			t->column[t->n_columns++] =
				(struct sl_table_column){.column = (enum sl_column)i,
					.constant = constant,
					.data = sl_cut_items(a, constant ? 1 : t->n,
						f->type == SL_TYPE_F32 && wide ? sizeof(double)
									       : f->bytes)};
	}
}

/* Stores the values that the header states: a table without rows has constant columns too. */
static void set_constants(const struct sl_mcpl_header *h, struct sl_table *t)
{
	for (uint32_t k = 0; k < t->n_columns; k++)
		if (t->column[k].constant && t->column[k].column == SL_COLUMN_weight)
			*(float *)t->column[k].data = (float)h->weight;
		else if (t->column[k].constant)
			*(int32_t *)t->column[k].data = h->pdg;
}

enum sl_status sl_mcpl_check_number(
	uint64_t particle, const char *name, double value, double factor, bool is_weight)
{
	if (!sl_mcpl_is_beyond(value, factor, is_weight))
		return SL_OK;
	return sl_fail(SL_BAD_INPUT,
		"particle %llu (from 0): its %s is %.9g, but columns are in single precision (%.2g to "
		"%.2g); %s" SL_MCPL_REMOVE_PARTICLE,
		(unsigned long long)particle, name, value, (double)FLT_TRUE_MIN, (double)FLT_MAX,
		is_weight ? "scale the weights of the list, or " : "");
}

enum sl_status sl_mcpl_check_particle(uint64_t particle, const struct sl_mcpl_particle *p)
{
	static const char *const axes[] = {"x", "y", "z"};

	for (int k = 0; k < 3; k++) {
		SL_TRY(sl_mcpl_check_number(particle, axes[k], p->position[k], 1, false));
		SL_TRY(sl_mcpl_check_number(particle, "direction", p->direction[k], 1, false));
		SL_TRY(sl_mcpl_check_number(
			particle, "polarisation", p->polarisation[k], 1, false));
	}
	SL_TRY(sl_mcpl_check_number(particle, "energy", p->energy, SL_MCPL_KEV, false));
	SL_TRY(sl_mcpl_check_number(particle, "time", p->time, SL_MCPL_NS, false));
	return sl_mcpl_check_number(particle, "weight", p->weight, 1, true);
}

/* Records that one task decodes. */
enum { BLOCK = 1 << 15 };

struct record_block {
	const struct sl_mcpl_header *h;
	const uint8_t *records;
	size_t first, n; /* the first record is that of this row */
	struct sl_mcpl_target to;
	unsigned found;
};

/* Decodes block k. */
static enum sl_status decode_block(void *context, uint32_t worker, uint32_t k)
{
	struct record_block *rows = (struct record_block *)context;
	const size_t from = (size_t)k * BLOCK, left = rows->n - from,
		     n = left < BLOCK ? left : BLOCK;
	const uint8_t *records = rows->records + from * rows->h->record_bytes;
	struct sl_mcpl_particle p;
	unsigned found = sl_mcpl_to_columns(rows->h, records, n, &rows->to, rows->first + from);

	(void)worker;
	for (size_t i = 0; (found & SL_MCPL_BEYOND) && i < n; i++) {
		sl_mcpl_decode(rows->h, records + i * rows->h->record_bytes, &p);
		SL_TRY(sl_mcpl_check_particle(rows->first + from + i, &p));
	}
	__atomic_fetch_or(&rows->found, found, __ATOMIC_RELAXED);
	return SL_OK;
}

/* Reads all particles; *more: bytes follow the last one. */
static enum sl_status read_rows(
	struct sl_mcpl_stream *s, struct sl_table *t, struct sl_mcpl_reading *r, bool *more)
{
	struct record_block rows = {.h = &s->header, .to = {.wide = r->wide, .checked = !r->wide}};

	for (uint32_t k = 0; k < t->n_columns; k++)
		if (!t->column[k].constant)
			rows.to.column[t->column[k].column] = t->column[k].data;
	set_constants(&s->header, t);
	for (; rows.first < t->n; rows.first += rows.n) {
		SL_TRY(sl_mcpl_raw(s, SIZE_MAX, &rows.records, &rows.n));
		SL_TRY(sl_tasks_run(r->pool, SL_JOB_THREADS_MOST,
			(uint32_t)((rows.n + BLOCK - 1) / BLOCK), decode_block, &rows));
	}
	r->digits = (rows.found & SL_MCPL_ROUNDED) != 0 ||
	            (!r->wide && (double)(float)s->header.weight != s->header.weight);
	return sl_mcpl_end(s, more);
}

/* Whether a file of so many bytes is too small for its particles, even at deflate's best ratio. */
static bool is_too_small(const struct sl_mcpl_header *h, size_t file_bytes)
{
	return h->particles * h->record_bytes / SL_INFLATE_RATIO_MAX > file_bytes;
}

/* --- files of this program -------------------------------------------------------------------- */

/* The set of columns that a comma-separated list names; 0 if it is not such a list. */
static sl_column_set columns_of(const char *list)
{
	char name[TEXT_BYTES];
	sl_column_set set = 0;

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

/* Whether records of these columns have a header with these flags. */
static bool agrees(const struct sl_mcpl_header *h, sl_column_set set)
{
	uint32_t flags = set & SL_MCPL_FLAGS;
	sl_column_set all = EVERY_RECORD | SL_MCPL_POLARISATION | SL_MCPL_FLAGS;
	uint32_t polarisation = h->polarised ? SL_MCPL_POLARISATION : 0;

	return (set & SL_MCPL_NEEDED) == SL_MCPL_NEEDED && (set & ~all) == 0 &&
	       (flags & (flags - 1)) == 0 /* at most one bit */ && h->flags == (flags != 0) &&
	       h->version == 3 && (set & SL_MCPL_POLARISATION) == polarisation &&
	       (h->pdg != 0 || SL_HAS(set, SL_COLUMN_pdg)) && h->blobs >= 1 &&
	       h->comments >= 3u + h->flags;
}

/*
 * Whether it is a file of this program: by the comment that lists the columns, which only this
 * program writes. Sets *set to these columns.
 */
static enum sl_status check_own(const struct sl_mcpl_stream *s, const struct sl_mcpl_head *head,
	size_t file_bytes, sl_column_set *set)
{
	const uint8_t *at = head->bytes + sl_mcpl_put_fixed(NULL, &head->fixed);
	struct sl_mcpl_string text = sl_mcpl_next_string(&at);
	char list[TEXT_BYTES];

	*set = 0;
	if (!sl_mcpl_begins_with(&text, SL_MCPL_SOURCE))
		return damaged("its source is another program");
	for (uint32_t i = 0; i < head->fixed.comments; i++)
		text = sl_mcpl_next_string(&at);
	if (text.length < sizeof(list) && sl_mcpl_begins_with(&text, SL_MCPL_COLUMNS)) {
		memcpy(list, text.at, text.length);
		list[text.length] = '\0';
		*set = columns_of(list + strlen(SL_MCPL_COLUMNS));
	}
	if (!agrees(&s->header, *set))
		return damaged("its last comment lists columns that do not agree with the header");
	return s->recovered || s->header.particles > UINT32_MAX ||
	                       is_too_small(&s->header, file_bytes)
	               ? damaged("its header counts other particles than the file has")
	               : SL_OK;
}

/* What the particles of a file of this program lose when they are read. */
static void mark_rounded(const struct sl_mcpl_header *h, struct sl_table *t)
{
	for (uint32_t k = 0; k < t->n_columns; k++) {
		const enum sl_column c = t->column[k].column;

		t->column[k].rounded =
			(c >= SL_COLUMN_u && c <= SL_COLUMN_w) ||
			(h->single && (c == SL_COLUMN_energy || c == SL_COLUMN_time));
	}
}

/* --- files of any program --------------------------------------------------------------------- */

/*
 * Refuses a number of particles for which no table can be allocated, before it is used as a size:
 * the header can claim any number.
 */
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

/* The columns that the records of a file of another program fill. */
static sl_column_set columns_in(const struct sl_mcpl_header *h)
{
	return EVERY_RECORD | (h->flags ? SL_BIT(SL_COLUMN_userflags) : 0) |
	       (h->polarised ? SL_MCPL_POLARISATION : 0);
}

/* --- the interface ---------------------------------------------------------------------------- */

/* Comments and blobs are lost; this program writes three or four comments and one blob (mcpl.h). */
enum sl_status sl_mcpl_read(const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t)
{
	struct sl_mcpl_reading of_program = {0}, *r = t->list ? t->list : &of_program;
	SL_CLOSED_BY(sl_mcpl_close) struct sl_mcpl_stream s = {.gzipped = false};
	SL_CLOSED_BY(sl_mcpl_head_free) struct sl_mcpl_head head = {.bytes = NULL};
	const struct sl_mcpl_header *h = &s.header;
	enum sl_status status;
	sl_column_set set;
	bool own, more;

	sl_read_begin(t);
	*r = (struct sl_mcpl_reading){.wide = r->wide, .pool = r->pool};
	SL_TRY(sl_mcpl_open(&s, file, bytes));
	r->wide = r->wide && !h->single;
	SL_TRY(sl_mcpl_head_take(&s, &head));
	status = check_own(&s, &head, bytes, &set);
	own = status == SL_OK;
	if (!own)
		SL_TRY(t->list ? check_count(h, bytes) : status);
	SL_TRY(r->wide ? SL_OK : sl_mcpl_check_weight(h));
	t->n = (uint32_t)h->particles;
	add_columns(h, own ? set : columns_in(h), r->wide, a, t);
	if (own)
		mark_rounded(h, t);
	r->recovered = s.recovered;
	r->comments = h->comments - (own ? 3u + h->flags : 0);
	r->blobs = h->blobs - own;
	if (a->base) {
		SL_TRY(sl_format_check_columns(a));
		SL_TRY(read_rows(&s, t, r, &more));
		if (own && more)
			return damaged("bytes follow its last particle");
		r->trailing = more && !s.recovered;
	}
	if (!own)
		r->digits = !h->single && !r->wide; /* of directions, energies and times too */
	return SL_OK;
}
