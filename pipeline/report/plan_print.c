/*
 * plan_print.c - prints a plan: one line per subject, which its first word names.
 *
 * The command plan prints it and runs nothing. The text shows every choice that the configuration
 * leaves to the program, and the reason if a choice can surprise. A line that does not apply to the
 * run is left out.
 */
#include "pipeline/resolve/choices/names.h"
#include "pipeline/resolve/execution/backends.h"
#include "pipeline/resolve/execution/schedule.h"
#include "pipeline/plan/file_names.h"
#include "pipeline/plan/joined_memory.h"
#include "pipeline/plan/plan.h"
#include "pipeline/report/tallies/grid_file.h"
#include "pipeline/report/plan_print.h"
#include "pipeline/report/report_devices.h"
#include "pipeline/plan/input_files.h"
#include "pipeline/plan/candidates.h"
#include "pipeline/plan/memory.h"
#include "primitives/tuning.h"
#include "stages/batch/packed_record.h"
#include "stages/device/device_modes.h"
#include "pipeline/text/messages.h"
#include "primitives/base/size.h"
#include "stages/formats/formats.h"

/* The fields of the sort key with their bits, the most significant first. */
static void print_key(const struct sl_plan *plan, FILE *out)
{
	const struct sl_recipe *r = &plan->recipe;

	if (r->n_fields == 0) {
		fprintf(out, "none (id order)\n");
		return;
	}
	for (uint32_t k = 0; k < r->n_fields; k++) {
		const struct sl_key_rule *f = &r->field[k];

		fprintf(out, "%s%s%s%s:", k ? ", " : "", f->reverse ? "-" : "",
			sl_column_name(&plan->choices.named, f->column), f->is_log ? "_log" : "");
		fprintf(out, f->is_exact ? "float" : "%u", f->bits);
	}
	fprintf(out, " (%u bits), ties in id order\n", r->key_bits);
}

/* The memory is that of one batch; with weights, a counter and a sum of weights of 8 bytes each. */
static void print_tallies(const struct sl_plan *plan, FILE *out)
{
	const struct sl_histogram_set *b = &plan->recipe.bins;
	const struct sl_grid_set *g = &plan->recipe.grids;
	char bytes[32], name[SL_GRID_NAME_BYTES];

	for (uint32_t k = 0; k < g->n; k++)
		fprintf(out, "%s%s: %u cells", k ? ", " : "grids       ",
			sl_grid_name(&plan->choices, k, name), g->grid[k].cells);
	if (g->n > 0)
		fprintf(out, ": %u counters%s, %s per batch\n", g->n_counters,
			g->weighted ? " and sums of weight and of its square" : "",
			sl_sized((double)(sl_grid_words(g) * sizeof(uint64_t)), bytes));
	if (b->n == 0)
		return;
	fprintf(out, "tallies     ");
	for (uint32_t k = 0; k < b->n; k++)
		fprintf(out, "%s%s:%u", k ? ", " : "",
			sl_column_name(&plan->choices.named, b->tally[k].column), b->tally[k].bins);
	fprintf(out, ": %u counters%s, %s per batch\n", b->n_counters,
		b->weighted ? " and sums of weight" : "",
		sl_sized((double)(sl_histogram_words(b) * sizeof(uint64_t)), bytes));
}

/* scan is the backend that all primitives built on a scan share; without one each uses its own. */
static void print_choice(
	const char *primitive, const struct sl_choice *c, const struct sl_choice *scan, FILE *out)
{
	char text[SL_CHOICE_BYTES];

	fprintf(out, "%s %s", primitive, sl_choice_text(c, text));
	if (c->backend->uses_scan)
		fprintf(out, " on %s scan", scan->backend ? scan->backend->name : "its own");
	fputs(", ", out);
}

/* Prints the mode, and how it passes survivors between kernels or why it is not fused. */
static void print_mode(const struct sl_plan *plan, FILE *out)
{
	const struct sl_recipe *r = &plan->recipe;
	uint32_t bytes = sl_record_words(sl_record_columns(r)) * (uint32_t)sizeof(uint32_t);

	fprintf(out, "mode        %s", sl_device_modes[r->mode].name);
	if (r->mode == SL_MODE_fused && sl_models[r->model]->recomputed)
		fprintf(out, ": survivors are recomputed when they are written");
	else if (r->mode == SL_MODE_fused)
		fprintf(out, ": survivors are passed between kernels as records of %u bytes",
			bytes);
	else if (plan->choices.mode_reason[0])
		fprintf(out, " (%s)", plan->choices.mode_reason);
	if (r->mode == SL_MODE_fused && plan->n_candidates > 0)
		fprintf(out, "; or staged, if a staged schedule is faster");
	fputc('\n', out);
}

/* A model of a single step has no schedule. With candidates, the run measures them at its start. */
static void print_schedule(const struct sl_plan *plan, FILE *out)
{
	char text[SL_SCHEDULE_BYTES];

	if (!sl_models[plan->recipe.model]->steps)
		return;
	if (plan->n_candidates > 0) {
		fprintf(out, "schedule    the fastest of ");
		for (uint32_t i = 0; i < plan->n_candidates; i++)
			fprintf(out, "%s%s", i ? ", " : "", plan->candidate[i].name);
		fprintf(out, ", measured with the first particles; memory suffices for each\n");
	} else {
		fprintf(out, "schedule    %s\n", sl_schedule_text(&plan->recipe.schedule, text));
	}
	if (plan->schedule_reason[0])
		fprintf(out, "            %s\n", plan->schedule_reason);
}

/*
 * The backends in the order of the stages. A configured scan that no chosen backend uses is printed
 * as not used, because its setting has no effect.
 */
static void print_primitives(const struct sl_plan *plan, FILE *out)
{
	const struct sl_recipe *r = &plan->recipe;
	const struct sl_choice *compact = sl_plan_compact(plan);
	bool scans = (compact->backend && compact->backend->uses_scan) ||
	             (r->n_fields && r->sort.backend->uses_scan);

	fprintf(out, "primitives  ");
	if (r->scan.backend && !scans)
		fprintf(out, "scan %s (not used), ", r->scan.backend->name);
	if (compact->backend)
		print_choice("compact", compact, &r->scan, out);
	if (r->n_fields > 0)
		print_choice("sort", &r->sort, &r->scan, out);
	else
		fputs("no sort, ", out);
	fprintf(out, "deflate %s\n", sl_plan_deflate(plan)->name);
}

/* Threads compress only if the device does not pack the survivors completely. */
static void print_device(const struct sl_plan *plan, FILE *out)
{
	char devices[SL_DEVICES_TEXT_BYTES];

	if (plan->on_device)
		fprintf(out, "device      %s%s, %u batches at a time%s; %u threads%s\n",
			sl_devices_text(plan, devices),
			sl_device_is_emulated() ? " on the CPU" : "", plan->n_device_slots,
			plan->n_devices > 1 ? " on each" : "", plan->threads,
			sl_plan_is_device_packed(plan) ? "" : " compress");
	else
		fprintf(out, "device      cpu: %u thread%s, loops for %s (%s)\n", plan->threads,
			plan->threads == 1 ? "" : "s", plan->recipe.loops->level,
			plan->machine.processor);
	if (plan->machine.cores_limit)
		fprintf(out, "            %u core%s for this process, by %s\n", plan->machine.cores,
			plan->machine.cores == 1 ? "" : "s", plan->machine.cores_limit);
	if (plan->on_device && sl_tuning_lines() > 0)
		fprintf(out, "            tuned by %s: %u lines\n", sl_tuning_path(),
			sl_tuning_lines());
	if (plan->choices.device_reason[0])
		fprintf(out, "            no GPU: %s\n", plan->choices.device_reason);
}

/*
 * Sizes are exact (memory.h), so the free memory in the same line shows how many more slots would fit.
 * Inputs are open before the plan is made; their memory is still part of the total.
 */
static void print_memory(const struct sl_plan *plan, FILE *out)
{
	const struct sl_memory_plan *memory = &plan->memory;
	char a[32], b[32], c[32], d[32];

	fprintf(out, "memory      %s: %u slots of %s, %u writer%s of %s; %s free\n",
		sl_sized((double)memory->host, a), plan->n_host_slots,
		sl_sized((double)sl_memory_plan_slot(plan), b), plan->n_writers,
		plan->n_writers > 1 ? "s" : "", sl_sized((double)memory->image, c),
		sl_sized((double)plan->machine.free_bytes, d));
	if (plan->machine.memory_limit)
		fprintf(out, "            the free memory is limited by %s\n",
			plan->machine.memory_limit);
	if (plan->recipe.counted)
		fprintf(out,
			"            batches have memory for their survivors only, at most %u: the "
			"lists were counted\n",
			plan->recipe.survivors_most);
	if (memory->inputs > 0)
		fprintf(out, "            %s of this for input lists, which are open already\n",
			sl_sized((double)memory->inputs, a));
	sl_devices_print_memory(plan, out);
}

/* A rule that needs more batches than the run has can never be met; the line says so. */
static void print_stop_rule(const struct sl_plan *plan, FILE *out)
{
	char text[SL_STOP_RULE_BYTES];

	if (plan->choices.stop_rule.below > 0)
		fprintf(out, "stop        when %s, after %llu batches or more%s\n",
			sl_stop_rule_text(&plan->choices.stop_rule, text),
			(unsigned long long)plan->choices.stop_rule.min_batches,
			plan->choices.stop_rule.min_batches > plan->recipe.n_batches
				? ": never, there are fewer"
				: "");
}

static void print_image(const struct sl_plan *plan, FILE *out)
{
	const struct sl_image *p = &plan->choices.image;
	char bytes[32];

	if (p->width > 0)
		fprintf(out, "image       %u x %u pixels of %s, %s of memory\n", p->width,
			p->height, p->what, sl_sized((double)plan->memory.image_sum, bytes));
}

/* The joined file: its name, its order if the survivors are sorted by a key, and its selection. */
static void print_joined(const struct sl_plan *plan, FILE *out)
{
	const struct sl_list_order *o = &plan->choices.list_order;
	const struct sl_order_items items = sl_plan_order_items(plan);
	char name[SL_FILE_NAME_BYTES];

	if (!sl_plan_is_joined(plan))
		return;
	fprintf(out, "joined      the %s of all batches are merged into %s at the end of the run\n",
		plan->choices.format->join ? "survivors" : "lists",
		sl_merged_list_name(plan->config.run.name, plan->choices.format, name));
	if (plan->recipe.n_fields > 0 && plan->recipe.n_batches > 1)
		fprintf(out, "            %s\n",
			o->run ? "in the order of the key over the whole run"
			       : "its order by key is within each batch only; for the order over "
				 "the run use output.order: run");
	if (items.key &&
		(plan->choices.format->join || plan->recipe.n_batches > SL_MERGED_FILES_MOST))
		fprintf(out, "            with intermediate files\n");
	if (o->sample > 0)
		fprintf(out, "            a weighted sample of %llu survivors\n",
			(unsigned long long)o->sample);
	if (o->limit > 0)
		fprintf(out, "            at most %llu particles\n", (unsigned long long)o->limit);
	if (items.bytes > 0)
		fprintf(out, "            sort keys in *%s: %u bytes per survivor\n",
			SL_ORDER_SUFFIX, items.bytes);
}

/* Directories with more batches are slow to list and to remove on network file systems. */
enum { BATCHES_MANY = 10000 };

/* Files of batches: with the number of many, and the size of batches that makes fewer. */
static void print_files(const struct sl_plan *plan, FILE *out)
{
	const struct sl_recipe *r = &plan->recipe;
	uint64_t each = (uint64_t)(plan->choices.format != &sl_format_none) +
	                (sl_counter_words(r) > 0) + (sl_plan_order_items(plan).bytes > 0);
	uint32_t larger;

	if (r->n_batches <= BATCHES_MANY)
		return;
	fprintf(out, "files       %llu in one directory, and a line of the manifest per batch\n",
		(unsigned long long)(each * r->n_batches));
	larger = sl_memory_plan_larger_batch(plan, BATCHES_MANY);
	if (larger > r->batch)
		fprintf(out, "            run.batch: %u makes %llu batches and fits in memory\n",
			larger, (unsigned long long)sl_ceil_div(r->particles, larger));
	else
		fprintf(out, "            no larger run.batch fits in memory\n");
}

/* A pilot without survivors gives only an upper limit, unless it has computed the whole run. */
static void print_estimate(const struct sl_plan *plan, FILE *out)
{
	const struct sl_pilot *p = &plan->pilot;
	const uint64_t particles = sl_plan_batches(plan).particles;
	uint32_t threads =
		plan->threads < plan->machine.cores ? plan->threads : plan->machine.cores;
	double batches = (double)particles / plan->recipe.batch;
	double seconds = 1e-9 * (p->ns * (double)particles + p->batch_ns * batches) / threads;
	char text[SL_DURATION_BYTES];

	if (p->particles == 0) {
		fprintf(out, "estimate    none: the lists have no particles\n");
		return;
	}
	if (plan->recipe.keep == 0)
		fprintf(out, "estimate    no particle survives");
	else if (p->survivors == 0 && p->particles < particles)
		fprintf(out, "estimate    fewer than 1 in %u survive", p->particles);
	else
		fprintf(out, "estimate    %.3g %% survive", 100.0 * p->survivors / p->particles);
	if (seconds < 100)
		snprintf(text, sizeof(text), "%.2g s", seconds);
	fprintf(out, ", about %s on %u thread%s%s%s (from a pilot of %u particles)\n",
		seconds < 100 ? text : sl_duration(seconds, text), threads, threads == 1 ? "" : "s",
		plan->recipe.inputs ? " without compression" : "",
		plan->on_device ? " of the CPU; not measured on the device" : "", p->particles);
}

/* The batches of a part, and what is left to sluice join. */
static void print_part(const struct sl_plan *plan, FILE *out)
{
	const struct sl_part *part = &plan->config.part;
	const struct sl_batch_range batches = sl_plan_batches(plan);

	if (!sl_plan_is_part(plan))
		return;
	fprintf(out,
		"part        %llu of %llu: batches %llu to %llu, %llu particles\n"
		"            sluice join makes image and joined file, and evaluates stop: and check:\n",
		(unsigned long long)part->number, (unsigned long long)part->of,
		(unsigned long long)batches.first, (unsigned long long)batches.end - 1,
		(unsigned long long)batches.particles);
}

/* The pilot runs on one thread of the host, so the time is an estimate for the host only. */
void sl_plan_print(const struct sl_plan *plan, FILE *out)
{
	const struct sl_recipe *r = &plan->recipe;
	char a[32], b[32], c[32];

	fprintf(out, "run         %s: %llu particles, seed %llu, model %s\n", plan->config.run.name,
		(unsigned long long)r->particles, (unsigned long long)r->seed,
		sl_models[r->model]->name);
	fprintf(out, "batches     %s%llu of %u particles\n",
		plan->choices.stop_rule.below > 0 ? "at most " : "",
		(unsigned long long)r->n_batches, r->batch);
	print_part(plan, out);
	sl_inputs_print(plan, false, out);
	print_stop_rule(plan, out);
	fprintf(out, "key         ");
	print_key(plan, out);
	print_tallies(plan, out);
	print_mode(plan, out);
	print_schedule(plan, out);
	print_primitives(plan, out);
	print_device(plan, out);
	print_memory(plan, out);
	print_image(plan, out);
	print_joined(plan, out);
	fprintf(out, "disk        about %s in %s, up to %s before compression; %s free\n",
		sl_sized((double)plan->disk_expected, c), plan->to,
		sl_sized((double)plan->disk_bytes, a), sl_sized((double)plan->disk_free, b));
	print_files(plan, out);
	print_estimate(plan, out);
	for (uint32_t i = 0; i < plan->n_warnings; i++)
		fprintf(out, "warning     %s\n", plan->warning[i]);
}
