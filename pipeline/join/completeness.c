/* completeness.c - see join.h. */
#include "pipeline/join/join.h"

#include <stdio.h>
#include <string.h>

/* --- which batches ---------------------------------------------------------------------------- */

/* Has the part only batches of its range? */
static enum sl_status check_range(const struct sl_joined_part *part, const struct sl_plan *plan)
{
	const struct sl_batch_range own = sl_part_batches(
		&part->part, plan->recipe.n_batches, plan->recipe.batch, plan->recipe.particles);

	for (size_t i = 0; i < part->manifest.n; i++)
		if (part->manifest.line[i].batch < own.first ||
			part->manifest.line[i].batch >= own.end)
			return sl_fail(SL_BAD_INPUT,
				"%s/manifest.jsonl: has batch %lu, but the part has batches %lu to "
				"%lu (the file was changed); compute the part again with --force",
				part->path, part->manifest.line[i].batch, own.first, own.end - 1);
	return SL_OK;
}

/*
 * Moves the lines of all parts to *all; they ascend because the parts do. The parts keep their
 * numbers of lines: a run of many batches needs its lines in memory once.
 */
static enum sl_status concatenate(struct sl_joined_parts *parts, struct sl_manifest *all)
{
	size_t n = 0;

	for (size_t i = 0; i < parts->n; i++)
		n += parts->at[i].manifest.n;
	*all = (struct sl_manifest){.in_order = true};
	SL_TRY(sl_host_get(n, sizeof(*all->line), &all->line));
	for (size_t i = 0; i < parts->n; i++) {
		struct sl_manifest *m = &parts->at[i].manifest;

		if (m->n > 0)
			memcpy(all->line + all->n, m->line, m->n * sizeof(*all->line));
		all->n += m->n;
		sl_memory_give(SL_HOST, m->line);
		m->line = NULL;
	}
	return SL_OK;
}

enum { TEXT_BYTES = 1024, NAMED_PARTS = 12 };

/* Appends a part that lacks batches to text; part is NULL if it was not given. */
static void name_part(const struct sl_joined_part *part, uint64_t number, uint64_t batches,
	uint64_t named, char text[TEXT_BYTES])
{
	size_t used = strlen(text);

	text += used;
	used = TEXT_BYTES - used;
	if (named == NAMED_PARTS)
		snprintf(text, used, ", ...");
	else if (named > NAMED_PARTS)
		return;
	else if (!part)
		snprintf(text, used, "%spart %lu is missing", named ? ", " : "", number);
	else
		snprintf(text, used, "%spart %lu has %zu of %lu batches%s", named ? ", " : "",
			number, part->manifest.n, batches,
			part->manifest.damaged ? " and a damaged manifest" : "");
}

/* Names all parts that lack batches of the run, which has so many. */
static enum sl_status refuse_incomplete(
	const struct sl_joined_parts *parts, const struct sl_plan *plan, uint64_t batches)
{
	struct sl_part part = {.of = parts->of};
	char text[TEXT_BYTES] = "";
	struct sl_batch_range own;
	uint64_t named = 0;
	size_t next = 0;

	for (part.number = 1; part.number <= part.of; part.number++) {
		const struct sl_joined_part *given = NULL;

		if (next < parts->n && parts->at[next].part.number == part.number)
			given = &parts->at[next++];
		own = sl_part_batches(
			&part, plan->recipe.n_batches, plan->recipe.batch, plan->recipe.particles);
		if (own.first < batches && (!given || given->manifest.n < own.end - own.first))
			name_part(given, part.number, own.end - own.first, named++, text);
	}
	return sl_fail(SL_BAD_INPUT,
		"the %lu parts of the run are not complete: %s; compute the rest with sluice run "
		"--part I/%lu --resume, and give all parts",
		parts->of, text, parts->of);
}

enum sl_status sl_parts_collect(
	struct sl_joined_parts *parts, const struct sl_plan *plan, struct sl_manifest *all)
{
	struct sl_stop_state o;

	*all = (struct sl_manifest){.line = NULL};
	for (size_t i = 0; i < parts->n; i++)
		SL_TRY(check_range(&parts->at[i], plan));
	SL_TRY(concatenate(parts, all));
	o = sl_stop_rule_state(&plan->choices.stop_rule, plan->recipe.n_batches, all);
	/*
	 * each batch is there once, so the batches are complete if the last of as many is in its
	 * place
	 */
	if (all->n < o.batches || all->line[o.batches - 1].batch != o.batches - 1)
		return refuse_incomplete(parts, plan, o.batches);
	all->n = o.batches;
	return SL_OK;
}

/* --- their files ------------------------------------------------------------------------------ */

enum sl_status sl_join_check_stop(const atomic_int *stop)
{
	return atomic_load(stop) ? sl_fail(SL_STOPPED, "a signal stopped the join; nothing is left "
						       "of it, so start it again")
	                         : SL_OK;
}
