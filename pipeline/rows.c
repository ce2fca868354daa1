/* rows.c - which choices of backends are compared. */
#include <string.h>

#include "pipeline/compare.h"

bool sl_row_scans(const struct sl_row *row)
{
	return row->compact.backend->uses_scan ||
	       (row->sort.backend && row->sort.backend->uses_scan);
}

static bool is_same_choice(const struct sl_choice *a, const struct sl_choice *b)
{
	return a->backend == b->backend && a->tuning.block == b->tuning.block &&
	       a->tuning.items == b->tuning.items;
}

/* Do two rows come to the same? A scan that is part of neither does not matter. */
static bool is_same(const struct sl_row *a, const struct sl_row *b)
{
	return a->on_device == b->on_device && is_same_choice(&a->compact, &b->compact) &&
	       is_same_choice(&a->sort, &b->sort) &&
	       (!sl_row_scans(a) || is_same_choice(&a->scan, &b->scan));
}

static void add(struct sl_comparison *c, struct sl_choice scan, struct sl_choice compact,
	struct sl_choice sort, bool on_device)
{
	struct sl_row row = {
		.on_device = on_device, .scan = scan, .compact = compact, .sort = sort};

	for (size_t i = 0; i < c->n; i++)
		if (is_same(&row, &c->row[i]))
			return;
	if (c->n < SL_ROWS_MOST)
		c->row[c->n++] = row;
}

/* The i-th backend of a primitive in a space; NULL past the last. */
static const struct sl_backend *backend_at(enum sl_primitive p, enum sl_space space, size_t i)
{
	const struct sl_backend *b;

	for (size_t k = 0; (b = sl_backend_at(k)) != NULL; k++)
		if (b->primitive == p && b->space == space && i-- == 0)
			return b;
	return NULL;
}

static const struct sl_backend *named(enum sl_primitive p, enum sl_space space, const char *name)
{
	const struct sl_backend *b;

	for (size_t i = 0; (b = backend_at(p, space, i)) != NULL; i++)
		if (strcmp(b->name, name) == 0)
			return b;
	return NULL;
}

static struct sl_choice plain(const struct sl_backend *b)
{
	struct sl_choice c = {.backend = b};

	return c;
}

/* Each name that all three primitives have: naive with naive and naive, ... */
static void add_equal(struct sl_comparison *c, enum sl_space space)
{
	const struct sl_backend *scan;

	for (size_t i = 0; (scan = backend_at(SL_SCAN, space, i)) != NULL; i++) {
		const struct sl_backend *compact = named(SL_COMPACT, space, scan->name);
		const struct sl_backend *sort = named(SL_SORT, space, scan->name);

		if (compact && sort)
			add(c, plain(scan), plain(compact), plain(sort), space == SL_DEVICE);
	}
}

/* The last of the matrix that is made of a scan: the best of them. */
static const struct sl_backend *scanning(enum sl_primitive p, enum sl_space space)
{
	const struct sl_backend *b, *found = NULL;

	for (size_t i = 0; (b = backend_at(p, space, i)) != NULL; i++)
		if (b->uses_scan)
			found = b;
	return found;
}

/* A scan shows where others are made of it. */
static void vary_scan(struct sl_comparison *c, enum sl_space space, const struct sl_row *base)
{
	const struct sl_backend *compact = scanning(SL_COMPACT, space), *b;
	const struct sl_backend *sort = scanning(SL_SORT, space);

	for (size_t i = 0; compact && (b = backend_at(SL_SCAN, space, i)) != NULL; i++)
		add(c, plain(b), plain(compact), sort ? plain(sort) : base->sort,
			space == SL_DEVICE);
}

static void vary(struct sl_comparison *c, enum sl_space space, struct sl_row base)
{
	const struct sl_backend *b;

	add(c, base.scan, base.compact, base.sort, base.on_device);
	vary_scan(c, space, &base);
	for (size_t i = 0; (b = backend_at(SL_COMPACT, space, i)) != NULL; i++)
		add(c, base.scan, plain(b), base.sort, base.on_device);
	for (size_t i = 0; (b = backend_at(SL_SORT, space, i)) != NULL; i++)
		add(c, base.scan, base.compact, plain(b), base.on_device);
}

void sl_rows_choose(struct sl_comparison *c)
{
	const struct sl_choices *chosen = c->choices;
	struct sl_row host = {.scan = plain(&sl_scan_cpu),
		.compact = plain(&sl_compact_cpu),
		.sort = plain(&sl_sort_cpu)};
	struct sl_row device = {.on_device = true,
		.scan = chosen->scan,
		.compact = chosen->compact,
		.sort = chosen->sort};

	c->n = 0;
	vary(c, SL_HOST, host);
	if (chosen->device == SL_ON_CPU)
		return;
	add_equal(c, SL_DEVICE);
	vary(c, SL_DEVICE, device);
}
