/* cases.c - which choices of backends are compared, and what they are called. */
#include "pipeline/compare/cases/cases.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/resolve/execution/schedule.h"
#include "primitives/catalog.h"

/*
 * In each of two spaces: every name that three primitives have, the choice of the configuration,
 * and each backend once more in its place; and fused, that choice and at most each once more; and
 * the schedules.
 */
enum { SCHEDULES = 4 };
_Static_assert(3 + SL_CATALOG_COUNT / 3 + 2 * SL_CATALOG_COUNT + 2 * SCHEDULES <= SL_CASES_MAX,
	"there may be more rows than fit");

bool sl_case_scans(const struct sl_comparison_case *row)
{
	return (row->compact.backend && row->compact.backend->uses_scan) ||
	       (row->sort.backend && row->sort.backend->uses_scan);
}

static bool is_same_choice(const struct sl_choice *a, const struct sl_choice *b)
{
	return a->backend == b->backend && a->tuning.block == b->tuning.block &&
	       a->tuning.items == b->tuning.items;
}

static bool is_same_when(const struct sl_when *a, const struct sl_when *b)
{
	return a->kind == b->kind && a->every == b->every && !(a->below < b->below) &&
	       !(a->below > b->below);
}

/* The key and the finish are those of the configuration in all. */
static bool is_same_schedule(const struct sl_schedule *a, const struct sl_schedule *b)
{
	return a->steps == b->steps && is_same_when(&a->compact, &b->compact) &&
	       is_same_when(&a->sort, &b->sort);
}

/* Do two rows come to the same? A scan that is part of neither does not matter. */
static bool is_same(const struct sl_comparison_case *a, const struct sl_comparison_case *b)
{
	return a->on_device == b->on_device && is_same_choice(&a->compact, &b->compact) &&
	       is_same_choice(&a->sort, &b->sort) && is_same_schedule(&a->schedule, &b->schedule) &&
	       (!sl_case_scans(a) || is_same_choice(&a->scan, &b->scan));
}

/* Unless it is there already. */
static void add_row(struct sl_comparison *c, const struct sl_comparison_case *row)
{
	for (size_t i = 0; i < c->n; i++)
		if (is_same(row, &c->row[i]))
			return;
	c->row[c->n++] = *row;
}

/* Without a compact, it is fused. */
static void add(struct sl_comparison *c, struct sl_choice scan, struct sl_choice compact,
	struct sl_choice sort, bool on_device)
{
	struct sl_comparison_case row = {.on_device = on_device,
		.mode = compact.backend ? SL_MODE_staged : SL_MODE_fused,
		.scan = scan,
		.compact = compact,
		.sort = sort};

	if (c->choices.schedule == SL_BY_ROUNDS && row.mode == SL_MODE_staged)
		row.schedule = c->choices.rounds;
	if (c->choices.n_fields == 0)
		row.sort = (struct sl_choice){0};
	add_row(c, &row);
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
static void vary_scan(
	struct sl_comparison *c, enum sl_space space, const struct sl_comparison_case *base)
{
	const struct sl_backend *compact = scanning(SL_COMPACT, space), *b;
	const struct sl_backend *sort = scanning(SL_SORT, space);

	for (size_t i = 0; compact && (b = backend_at(SL_SCAN, space, i)) != NULL; i++)
		add(c, plain(b), plain(compact), sort ? plain(sort) : base->sort,
			space == SL_DEVICE);
}

static void vary(struct sl_comparison *c, enum sl_space space, struct sl_comparison_case base)
{
	const struct sl_backend *b;

	add(c, base.scan, base.compact, base.sort, base.on_device);
	vary_scan(c, space, &base);
	for (size_t i = 0; (b = backend_at(SL_COMPACT, space, i)) != NULL; i++)
		add(c, base.scan, plain(b), base.sort, base.on_device);
	for (size_t i = 0; (b = backend_at(SL_SORT, space, i)) != NULL; i++)
		add(c, base.scan, base.compact, plain(b), base.on_device);
}

/* Fused, a sort is all that can be chosen. */
static void vary_fused(struct sl_comparison *c, const struct sl_comparison_case *base)
{
	const struct sl_choice none = {0};
	const struct sl_backend *b;

	add(c, base->scan, none, base->sort, true);
	for (size_t i = 0; (b = backend_at(SL_SORT, SL_DEVICE, i)) != NULL; i++)
		add(c, base->scan, none, plain(b), true);
}

/* What rounds are sorted by: their key, or else that of the survivors, if rounds can have it. */
static bool choose_key(const struct sl_choices *chosen, struct sl_schedule *s)
{
	if (s->n_fields > 0)
		return true;
	for (uint32_t k = 0; k < chosen->n_fields; k++) {
		s->field[k] = sl_key_rule_make(&chosen->field[k]);
		if (chosen->field[k].column == SL_COLUMN_id)
			return false;
	}
	s->n_fields = chosen->n_fields;
	s->key_bits = chosen->key_bits;
	return s->n_fields > 0 && s->key_bits <= 32;
}

/* The base once more by histories, and by rounds of each kind. */
static void vary_schedule(struct sl_comparison *c, struct sl_comparison_case row)
{
	static const struct sl_when never = {.kind = SL_NEVER};
	static const struct sl_when compact[SCHEDULES - 1] = {{.kind = SL_NEVER},
		{.kind = SL_EVERY, .every = 1}, {.kind = SL_BELOW, .below = 0.5}};

	row.mode = SL_MODE_staged;
	row.schedule.steps = 0;
	add_row(c, &row);
	row.schedule = c->choices.rounds;
	row.schedule.sort = never;
	for (int i = 0; i < SCHEDULES - 1; i++) {
		row.schedule.compact = compact[i];
		add_row(c, &row);
	}
	row.schedule.sort = (struct sl_when){.kind = SL_EVERY, .every = 4};
	if (row.sort.backend && choose_key(&c->choices, &row.schedule))
		add_row(c, &row);
}

void sl_cases_choose(struct sl_comparison *c)
{
	const struct sl_choices *chosen = &c->choices;
	struct sl_comparison_case host = {.scan = plain(&sl_scan_cpu),
		.compact = plain(&sl_compact_cpu),
		.sort = plain(&sl_sort_cpu)};
	struct sl_comparison_case device = {.on_device = true,
		.scan = chosen->scan,
		.compact = chosen->compact,
		.sort = chosen->sort};

	c->n = 0;
	if (c->choices.n_fields == 0)
		host.sort = device.sort = (struct sl_choice){0};
	vary(c, SL_HOST, host);
	if (chosen->model->steps)
		vary_schedule(c, host);
	if (chosen->device == SL_ON_CPU)
		return;
	add_equal(c, SL_DEVICE);
	vary(c, SL_DEVICE, device);
	vary_fused(c, &device);
	if (chosen->model->steps)
		vary_schedule(c, device);
}

/* --- names ------------------------------------------------------------------------------------ */

static void name_choice(const struct sl_choice *c, const char *none, char text[SL_CHOICE_BYTES])
{
	if (c->backend)
		sl_choice_text(c, text);
	else
		snprintf(text, SL_CHOICE_BYTES, "%s", none);
}

static void name_schedule(const struct sl_schedule *s, char text[SL_CHOICE_BYTES])
{
	bool sorts = s->sort.kind != SL_NEVER;
	char when[SL_WHEN_BYTES];

	if (s->steps == 0)
		snprintf(text, SL_CHOICE_BYTES, "history");
	else
		snprintf(text, SL_CHOICE_BYTES, "%s%s", sorts ? "sort " : "",
			sl_when_text(sorts ? &s->sort : &s->compact, when));
}

struct sl_case_names sl_case_names(const struct sl_comparison_case *row)
{
	const struct sl_choice none = {0};
	struct sl_case_names names;
	bool scans = sl_case_scans(row);

	name_choice(scans ? &row->scan : &none, scans ? "own" : "-", names.scan);
	name_choice(&row->compact, "fused", names.compact);
	name_choice(&row->sort, "-", names.sort);
	name_schedule(&row->schedule, names.schedule);
	return names;
}

const char *sl_case_text(const struct sl_comparison_case *row, char text[SL_CASE_BYTES])
{
	struct sl_case_names names = sl_case_names(row);

	snprintf(text, SL_CASE_BYTES, "%s, scan %s, compact %s, sort %s%s%s",
		row->on_device ? "device" : "host", names.scan, names.compact, names.sort,
		row->schedule.steps > 0 ? ", rounds: " : "",
		row->schedule.steps > 0 ? names.schedule : "");
	return text;
}
