/*
 * cases.c - chooses the cases of a comparison, names and plans them.
 *
 * Cases are added in the order of compare.h. add_case() skips a case that would do the same work as
 * an earlier one, so the functions that vary one choice need not exclude the base case.
 */
#include "pipeline/compare/compare.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/plan/plan.h"
#include "pipeline/resolve/execution/execution.h"
#include "primitives/catalog.h"

/*
 * Upper bound of cases. Host and device each have: every name shared by the three primitives, the
 * configured choice, and each backend varied alone. Fused mode has the configured choice and each
 * sort. Host and device each have the schedules of rounds.
 */
_Static_assert(
	3 + SL_CATALOG_COUNT / 3 + 2 * SL_CATALOG_COUNT + 2 * SL_ROUNDS_CHOICES <= SL_CASES_MAX,
	"SL_CASES_MAX is too small for all backends and schedules");

/* Does the compact or sort backend of this case use the scan backend? */
static bool uses_scan(const struct sl_comparison_case *entry)
{
	return (entry->compact.backend && entry->compact.backend->uses_scan) ||
	       (entry->sort.backend && entry->sort.backend->uses_scan);
}

bool sl_case_is_emulated(const struct sl_comparison_case *entry)
{
	return entry->on_device && sl_device_is_emulated();
}

const char *sl_case_space(const struct sl_comparison_case *entry)
{
	return entry->on_device ? "device" : "host";
}

/*
 * Do two cases do the same work? Their texts have all choices that matter: the scan only if compact
 * or sort use it. The sort key and the final steps of rounds are those of the configuration.
 */
static bool is_same(const struct sl_comparison_case *a, const struct sl_comparison_case *b)
{
	return strcmp(sl_case_text(a), sl_case_text(b)) == 0 &&
	       strcmp(sl_schedule_text(&a->schedule), sl_schedule_text(&b->schedule)) == 0;
}

/*
 * Adds a case unless an equal one exists. The mode follows from the compact backend: fused mode has
 * none, because its kernel compacts. Fused mode runs whole histories, so it has no rounds.
 */
static void add_case(struct sl_comparison *c, struct sl_comparison_case entry)
{
	entry.mode = entry.compact.backend ? SL_MODE_staged : SL_MODE_fused;
	if (entry.mode == SL_MODE_fused)
		entry.schedule = (struct sl_schedule){0};
	if (c->choices.n_fields == 0)
		entry.sort = (struct sl_choice){0};
	for (size_t i = 0; i < c->n; i++)
		if (is_same(&entry, &c->cases[i]))
			return;
	c->cases[c->n++] = entry;
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

static enum sl_space space_of(const struct sl_comparison_case *entry)
{
	return entry->on_device ? SL_DEVICE : SL_HOST;
}

/*
 * Adds a case for each name that all three primitives have on the device: naive with naive and
 * naive, ...
 */
static void add_same_name(struct sl_comparison *c, struct sl_comparison_case entry)
{
	entry.scan = entry.compact = entry.sort = (struct sl_choice){.backend = NULL};
	for (size_t i = 0; (entry.scan.backend = backend_at(SL_SCAN, SL_DEVICE, i)) != NULL; i++)
		if (sl_find(SL_COMPACT, entry.scan.backend->name, &entry.compact.backend) ==
				SL_OK &&
			sl_find(SL_SORT, entry.scan.backend->name, &entry.sort.backend) == SL_OK)
			add_case(c, entry);
}

/* Adds a case for each backend of one primitive; the other primitives are those of entry. */
static void vary(struct sl_comparison *c, struct sl_comparison_case entry, enum sl_primitive p)
{
	struct sl_choice *varied = p == SL_SCAN      ? &entry.scan
	                           : p == SL_COMPACT ? &entry.compact
	                                             : &entry.sort;
	const struct sl_backend *b;

	for (size_t i = 0; (b = backend_at(p, space_of(&entry), i)) != NULL; i++) {
		*varied = (struct sl_choice){.backend = b};
		add_case(c, entry);
	}
}

/* The last backend in the catalog that uses a scan; the catalog lists better backends later. */
static const struct sl_backend *last_with_scan(enum sl_primitive p, enum sl_space space)
{
	const struct sl_backend *b, *found = NULL;

	for (size_t i = 0; (b = backend_at(p, space, i)) != NULL; i++)
		if (b->uses_scan)
			found = b;
	return found;
}

/*
 * Varies the scan. A scan only has an effect if compact or sort use it, so both are replaced by
 * backends that do.
 */
static void vary_scan(struct sl_comparison *c, struct sl_comparison_case entry)
{
	const struct sl_backend *compact = last_with_scan(SL_COMPACT, space_of(&entry));
	const struct sl_backend *sort = last_with_scan(SL_SORT, space_of(&entry));

	if (!compact)
		return;
	entry.compact = (struct sl_choice){.backend = compact};
	if (sort)
		entry.sort = (struct sl_choice){.backend = sort};
	vary(c, entry, SL_SCAN);
}

/* Adds the base case, and then varies each primitive alone. */
static void vary_each(struct sl_comparison *c, struct sl_comparison_case base)
{
	add_case(c, base);
	vary_scan(c, base);
	vary(c, base, SL_COMPACT);
	vary(c, base, SL_SORT);
}

/* Varies the sort in fused mode, which has no scan or compact backend to choose. */
static void vary_fused(struct sl_comparison *c, struct sl_comparison_case base)
{
	base.compact = (struct sl_choice){0};
	add_case(c, base);
	vary(c, base, SL_SORT);
}

/* Adds the base case with the history schedule and with each schedule of rounds. */
static void vary_schedule(struct sl_comparison *c, struct sl_comparison_case entry)
{
	entry.schedule.steps = 0;
	add_case(c, entry);
	for (int i = 0; i < SL_ROUNDS_CHOICES; i++) {
		entry.schedule = c->choices.rounds[i];
		add_case(c, entry);
	}
}

void sl_cases_choose(struct sl_comparison *c)
{
	const struct sl_choices *chosen = &c->choices;
	struct sl_comparison_case host = {.scan = (struct sl_choice){.backend = &sl_scan_cpu},
		.compact = (struct sl_choice){.backend = &sl_compact_cpu},
		.sort = (struct sl_choice){.backend = &sl_sort_cpu}};
	struct sl_comparison_case device = {.on_device = true,
		.scan = chosen->scan,
		.compact = chosen->compact,
		.sort = chosen->sort};

	c->n = 0;
	if (chosen->schedule == SL_BY_ROUNDS)
		host.schedule = device.schedule = chosen->rounds[0];
	vary_each(c, host);
	if (chosen->model->steps)
		vary_schedule(c, host);
	if (chosen->device == SL_ON_CPU)
		return;
	add_same_name(c, device);
	vary_each(c, device);
	if (sl_mode_allows_fused(chosen))
		vary_fused(c, device);
	if (chosen->model->steps)
		vary_schedule(c, device);
}

/* --- names ------------------------------------------------------------------------------------ */

static const char *name_of(const struct sl_choice *c, const char *none)
{
	return c->backend ? sl_choice_text(c) : none;
}

struct sl_case_names sl_case_names(const struct sl_comparison_case *entry)
{
	const uint32_t steps = entry->schedule.steps;

	return (struct sl_case_names){.scan = uses_scan(entry) ? name_of(&entry->scan, "own") : "-",
		.compact = name_of(&entry->compact, "fused"),
		.sort = name_of(&entry->sort, "-"),
		.schedule = steps > 0 ? sl_said("%u steps", steps) : "history"};
}

const char *sl_case_text(const struct sl_comparison_case *entry)
{
	struct sl_case_names names = sl_case_names(entry);
	bool rounds = entry->schedule.steps > 0;

	return sl_said("%s, scan %s, compact %s, sort %s%s%s", sl_case_space(entry), names.scan,
		names.compact, names.sort, rounds ? ", rounds: " : "",
		rounds ? names.schedule : "");
}

/* --- plans ------------------------------------------------------------------------------------ */

/*
 * A case changes only the choices of device, mode, schedule and backends. The batch size is that of
 * the comparison, so that all cases generate the same batches.
 */
enum sl_status sl_case_plan(const struct sl_comparison *c, const struct sl_comparison_case *entry,
	bool first_batch, struct sl_plan **plan, struct sl_workspace **w)
{
	struct sl_choices choices = c->choices;
	struct sl_config config = c->config;

	config.run.batch = choices.batch = c->batch;
	choices.n_batches = c->n_batches;
	if (first_batch) {
		config.run.threads = config.run.slots = choices.n_batches = 1;
		config.run.particles = c->batch;
	}
	if (!entry->on_device) {
		choices.device = SL_ON_CPU;
		choices.n_devices = 0;
	}
	choices.mode = entry->mode;
	choices.schedule = entry->schedule.steps > 0 ? SL_BY_ROUNDS : SL_BY_HISTORY;
	choices.rounds[0] = entry->schedule;
	choices.scan = entry->scan;
	choices.compact = entry->compact;
	choices.sort = entry->sort;
	*w = NULL;
	SL_TRY(sl_plan_make(&config, &choices, plan));
	SL_TRY(sl_memory_plan_check(*plan));
	SL_TRY(sl_workspace_open(*plan, w));
	return sl_workspace_allocate(*w);
}
