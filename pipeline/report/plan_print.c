/*
 * plan_print.c - prints a plan: one line per subject, which its first word names.
 *
 * The command plan prints it and runs nothing. The text shows every choice that the configuration
 * leaves to the program, and the reason if a choice can surprise. A line that does not apply to the
 * run is left out. Keys of the JSON are read by scripts and by the Python package: never rename
 * one.
 */
#include "pipeline/report/report.h"

#include <string.h>

#include "pipeline/plan/joined_memory.h"
#include "pipeline/plan/plan.h"
#include "pipeline/print/result.h"
#include "pipeline/report/tallies/tallies.h"
#include "pipeline/resolve/choices/choices.h"
#include "pipeline/resolve/execution/execution.h"
#include "pipeline/text/text.h"
#include "primitives/base/size.h"
#include "stages/batch/packed_record.h"
#include "stages/device/device.h"
#include "stages/formats/formats.h"

static const struct sl_line lines[] = {
	{"", "run", "{name}: {particles~particle}, seed {seed}, model {model}"},
	{"", "batches", "[{?stop}at most ]{batches} of {batch} particles"},
	{"part", "part",
		"{number} of {of}: {batches~batch} from batch {first_batch}, {particles~particle}"},
	{"part", "", "sluice join makes image and joined file, and evaluates stop: and check:"},
	{"list_source", "source",
		"{used~particle} of lists, of total weight {weight}[{?other_kinds}; {other_kinds} of "
		"other kinds left out][{?damaged}; {damaged} damaged ones dropped]"},
	{"inputs.*" SL_INPUTS_SHOWN, "inputs", SL_INPUT_LINE},
	{"renamed_blobs.*" SL_INPUTS_SHOWN, "inputs", SL_BLOB_LINE},
	{"stop", "stop",
		"when {when}, after {min_batches~batch} or more[{?never}: never, there are fewer]"},
	{"", "key", "[{key} ({key_bits} bits), ties in id order][{!key}none (id order)]"},
	{"grids", "grids",
		"{}: {^grid_memory.counters} counters[{?^grid_memory.weighted} and sums of weight and of its square], {^grid_memory.bytes:B} per batch"},
	{"tallies", "tallies",
		"{}: {^tally_memory.counters} counters[{?^tally_memory.weighted} and sums of weight], {^tally_memory.bytes:B} per batch"},
	{"", "mode",
		"{mode}[{?recomputed}: survivors are recomputed when they are written]"
		"[: survivors are passed between kernels as records of {record_bytes} bytes]"
		"[ ({mode_reason})][{?candidates}[{?mode=fused}; or staged, if a staged schedule is "
		"faster]]"},
	{"", "schedule",
		"[the fastest of {candidates}, measured with the first particles; memory suffices for "
		"each][{schedule}]"},
	{"schedule_reason", "", "{}"},
	{"primitives", "primitives", "{}"},
	{"machine.device", "device",
		"[{?^several}{#^devices} x ]{name}[{?^emulated} on the CPU], {slots} batches at a time"
		"[{?^several} on each]; {^threads~thread}[{?^compress} compress]"},
	{"machine", "device", "[{!device}cpu: {threads~thread}, loops for {loops} ({processor})]"},
	{"cores_limit", "", "{^machine.cores~core} for this process, by {}"},
	{"no_gpu", "", "no GPU: {}"},
	{"", "memory",
		"{host_bytes:B}: {slots~slot} of {slot_bytes:B}, {writers~writer} of {writer_bytes:B}; "
		"{free_bytes:B} free"},
	{"memory_limit", "", "the free memory is limited by {}"},
	{"survivors_most", "",
		"batches have memory for their survivors only, at most {}: the lists were counted"},
	{"input_bytes", "", "{:B} of this for input files, which are open already"},
	{"volume_bytes", "",
		"{:B} of this for the volume or the source lists, which are read already"},
	{"observation_bytes", "", "{:B} of this for the observations, which are read already"},
	{"devices.*", "",
		"device[{?^several} {number}, {name},] {bytes:B}: {slots~slot} of {slot_bytes:B}; "
		"{free_bytes:B} free"},
	{"devices_unused", "",
		"{} of the named devices cannot be used: each needs a thread, a batch and memory"},
	{"image", "image", "{width} x {height} pixels of {what}, {bytes:B} of memory"},
	{"joined", "joined",
		"the [{?lists}lists][{!lists}survivors] of all batches are merged into {file} at the "
		"end of the run"},
	{"joined.order", "",
		"[{?=run}in the order of the key over the whole run][{?=batch}its order by key is "
		"within each batch only; for the order over the run use output.order: run]"},
	{"joined.intermediate_files", "", "with intermediate files"},
	{"joined.sample", "", "a weighted sample of {~survivor}"},
	{"joined.limit", "", "at most {~particle}"},
	{"joined.key_bytes", "", "sort keys in *" SL_ORDER_SUFFIX ": {} bytes per survivor"},
	{"", "disk",
		"about {disk_expected:B} in {directory}, up to {disk_bytes:B} before compression; "
		"{disk_free:B} free"},
	{"files", "files", "{count} in one directory, and a line of the manifest per batch"},
	{"files", "",
		"[run.batch: {batch} makes {batches~batch} and fits in memory][{!batch}no larger "
		"run.batch fits in memory]"},
	{"estimate", "estimate",
		"[{!particles}none: the lists have no particles][{?particles}"
		"[{?survivors}{survivors/particles/0.01:.3g} % survive]"
		"[{?at_most}fewer than 1 in {particles} survive][{?none}no particle survives], about "
		"{seconds:T} on {threads~thread}[{?^inputs} without compression]"
		"[{?^machine.device} of the CPU; not measured on the device] (from a pilot of "
		"{particles~particle})]"},
	{"warnings.*", "warning", "{}"},
	{NULL, NULL, NULL},
};

/* The fields of the sort key with their bits, the most significant first. */
static void put_key(struct sl_json *j, const struct sl_plan *plan)
{
	const struct sl_recipe *r = &plan->recipe;

	sl_json_array(j, "key");
	for (uint32_t k = 0; k < r->n_fields; k++) {
		const struct sl_key_rule *f = &r->field[k];

		sl_json_text(j, NULL,
			sl_said("%s%s%s:%s", f->reverse ? "-" : "",
				sl_label_name(plan->choices.named.label, f->column),
				f->is_log ? "_log" : "",
				f->is_exact ? "float" : sl_said("%u", f->bits)));
	}
	sl_json_add(j, "] key_bits %u", r->key_bits);
}

/* The memory is that of one batch; with weights, a counter and a sum of weights of 8 bytes each. */
static void put_counters(
	struct sl_json *j, const char *key, const struct sl_grid_part *part, bool weighted)
{
	if (part->counters > 0)
		sl_json_add(j, "%s { counters %u weighted %d bytes %lu }", key, part->counters,
			weighted, (uint64_t)part->words * sizeof(uint64_t));
}

static void put_tallies(struct sl_json *j, const struct sl_plan *plan)
{
	const struct sl_grid_set *g = &plan->recipe.grids;

	for (int bracketed = 1; bracketed >= 0; bracketed--) {
		sl_json_array(j, bracketed ? "grids" : "tallies");
		for (uint32_t k = 0; k < g->n; k++) {
			if (plan->choices.grid[k].bracketed != bracketed)
				continue;
			sl_json_text(j, NULL,
				sl_said(bracketed ? "%s: %u cells" : "%s:%u",
					bracketed ? sl_tally_name(&plan->choices, k)
						  : sl_label_name(plan->choices.named.label,
							    plan->choices.grid[k].axis[0].column),
					g->grid[k].cells));
		}
		sl_json_close(j);
		put_counters(j, bracketed ? "grid_memory" : "tally_memory", &g->part[bracketed],
			g->weighted);
	}
}

/* scan is the backend that all primitives built on a scan share; without one each uses its own. */
static void put_choice(struct sl_json *j, const char *primitive, const struct sl_choice *c,
	const struct sl_choice *scan)
{
	const char *own = scan->backend ? scan->backend->name : "its own";

	if (c->backend)
		sl_json_text(j, primitive,
			c->backend->uses_scan ? sl_said("%s on %s scan", sl_choice_text(c), own)
					      : sl_choice_text(c));
}

/*
 * The backends in the order of the stages. A configured scan that no chosen backend uses is printed
 * as not used, because its setting has no effect.
 */
static void put_primitives(struct sl_json *j, const struct sl_plan *plan)
{
	const struct sl_recipe *r = &plan->recipe;
	const struct sl_choice *compact = sl_plan_compact(plan);
	bool scans = (compact->backend && compact->backend->uses_scan) ||
	             (r->n_fields && r->sort.backend->uses_scan);

	sl_json_object(j, "primitives");
	if (r->scan.backend && !scans)
		sl_json_text(j, "scan", sl_said("%s (not used)", r->scan.backend->name));
	put_choice(j, "compact", compact, &r->scan);
	if (r->n_fields > 0)
		put_choice(j, "sort", &r->sort, &r->scan);
	sl_json_add(j, "deflate %s }", sl_plan_deflate(plan)->name);
}

/*
 * The mode, how it passes survivors between kernels or why it is not fused; with candidates, a run
 * measures them.
 */
static void put_mode(struct sl_json *j, const struct sl_plan *plan)
{
	const struct sl_recipe *r = &plan->recipe;
	bool fused = r->mode == SL_MODE_fused, recomputed = fused && r->model->recomputed;

	sl_json_add(j, "mode %s recomputed %d", sl_device_modes[r->mode].name, recomputed);
	if (fused && !recomputed)
		sl_json_u64(j, "record_bytes",
			sl_record_words(sl_record_columns(r)) * sizeof(uint32_t));
	if (!fused)
		sl_json_text(j, "mode_reason", plan->choices.mode_reason);
	sl_json_array(j, "candidates");
	for (uint32_t i = 0; i < plan->n_candidates; i++)
		sl_json_text(j, NULL, plan->candidate[i].name);
	sl_json_close(j);
	if (r->model->steps && plan->n_candidates == 0)
		sl_json_text(j, "schedule", sl_schedule_text(&r->schedule));
	sl_json_text(j, "schedule_reason", plan->schedule_reason);
}

static void put_devices(struct sl_json *j, const struct sl_plan *plan)
{
	sl_report_machine(j, plan);
	/* threads compress only if the device does not pack the survivors completely */
	sl_json_add(j, "device %s emulated %d threads %u compress %d several %d devices [",
		plan->on_device ? plan->device[0].name : "cpu",
		plan->on_device && sl_device_is_emulated(), plan->threads,
		!sl_plan_is_device_packed(plan), plan->choices.n_devices > 1);
	for (uint32_t d = 0; d < plan->n_devices; d++)
		sl_json_add(j,
			"{ number %lu name %s bytes %lu slots %u slot_bytes %lu "
			"free_bytes %lu }",
			(uint64_t)plan->device[d].number, plan->device[d].name, plan->memory.device,
			plan->n_device_slots, plan->memory.device_pipeline,
			plan->device[d].free_bytes);
	sl_json_add(j, "] devices_unused %u cores_limit? %s no_gpu? %s",
		plan->choices.n_devices - plan->n_devices, plan->machine.cores_limit,
		plan->choices.device_reason);
}

/*
 * Sizes are exact (memory.h), so the free memory shows how many more slots would fit. Inputs are
 * open before the plan is made; their memory is still part of the total.
 */
static void put_memory(struct sl_json *j, const struct sl_plan *plan)
{
	const struct sl_memory_plan *memory = &plan->memory;

	sl_json_add(j,
		"host_bytes %lu slots %u slot_bytes %lu writers %u writer_bytes %lu "
		"free_bytes %lu device_bytes %lu memory_limit? %s",
		memory->host, plan->n_host_slots, sl_memory_plan_slot(plan), plan->n_writers,
		memory->image, plan->machine.free_bytes, memory->device,
		plan->machine.memory_limit);
	if (plan->recipe.counted)
		sl_json_u64(j, "survivors_most", plan->recipe.survivors_most);
	sl_json_add(j, "input_bytes %lu %s? %lu", memory->inputs,
		plan->recipe.resampling.steps > 0 ? "observation_bytes" : "volume_bytes",
		memory->volume);
}

static void put_image(struct sl_json *j, const struct sl_plan *plan)
{
	const struct sl_image *p = &plan->choices.image;

	if (p->width > 0)
		sl_json_add(j, "image { width %u height %u what %s bytes %lu }", p->width,
			p->height, p->what, plan->memory.image_sum);
}

/* The joined file: its name, its order if the survivors are sorted by a key, and its selection. */
static void put_joined(struct sl_json *j, const struct sl_plan *plan)
{
	const struct sl_list_order *o = &plan->choices.list_order;
	const struct sl_order_items items = sl_plan_order_items(plan);
	const struct sl_format *format = plan->choices.format;
	bool many = plan->recipe.n_batches > 1;
	char name[SL_FILE_NAME_BYTES];

	if (!sl_plan_is_joined(plan))
		return;
	sl_json_add(j, "joined { file %s lists %d",
		sl_merged_list_name(plan->config.run.name, format, name), format->join == NULL);
	if (plan->recipe.n_fields > 0 && many)
		sl_json_text(j, "order", o->run ? "run" : "batch");
	sl_json_add(j, "intermediate_files %d sample %lu limit %lu key_bytes %u }",
		items.key && (format->join || plan->recipe.n_batches > SL_MERGED_FILES_MOST),
		o->sample, o->limit, items.bytes);
}

/* Directories with more batches are slow to list and to remove on network file systems. */
enum { BATCHES_MANY = 10000 };

/* Files of many batches, and the size of batches that makes fewer. */
static void put_files(struct sl_json *j, const struct sl_plan *plan)
{
	const struct sl_recipe *r = &plan->recipe;
	uint64_t each = (uint64_t)(plan->choices.format != &sl_format_none) +
	                (sl_counter_words(r) > 0) + (sl_plan_order_items(plan).bytes > 0);
	uint32_t larger;

	sl_json_add(j, "disk_expected %lu disk_bytes %lu disk_free %lu directory %s",
		plan->disk_expected, plan->disk_bytes, plan->disk_free, plan->to);
	if (r->n_batches <= BATCHES_MANY)
		return;
	larger = sl_memory_plan_larger_batch(plan, BATCHES_MANY);
	sl_json_add(j, "files { count %lu", each * r->n_batches);
	if (larger > r->batch)
		sl_json_add(j, "batch %u batches %lu", larger, sl_ceil_div(r->particles, larger));
	sl_json_close(j);
}

/*
 * The pilot runs on one thread of the host, so the time is an estimate for the host only. A pilot
 * without survivors gives only an upper limit, unless it has computed the whole run.
 */
static void put_estimate(struct sl_json *j, const struct sl_plan *plan)
{
	const struct sl_pilot *p = &plan->pilot;
	const uint64_t particles = sl_plan_batches(plan).particles;
	uint32_t threads =
		plan->threads < plan->machine.cores ? plan->threads : plan->machine.cores;
	double batches = (double)particles / plan->recipe.batch;
	bool none = plan->recipe.keep == 0 || p->particles >= particles;

	sl_json_add(j,
		"estimate { particles %u survivors %u none %d at_most %d seconds %g "
		"threads %u }",
		p->particles, p->survivors, p->survivors == 0 && none, p->survivors == 0 && !none,
		1e-9 * (p->ns * (double)particles + p->batch_ns * batches) / threads, threads);
}

/*
 * Which part of the run this is. A rule that needs more batches than the run has can never be met.
 */
static void put_part_and_stop(struct sl_json *j, const struct sl_plan *plan)
{
	const struct sl_batch_range batches = sl_plan_batches(plan);
	const struct sl_stop_rule *rule = &plan->choices.stop_rule;

	if (sl_plan_is_part(plan))
		sl_json_add(j,
			"part { number %lu of %lu first_batch %lu batches %lu particles %lu }",
			plan->config.part.number, plan->config.part.of, batches.first,
			batches.end - batches.first, batches.particles);
	if (rule->below > 0)
		sl_json_add(j, "stop { when %s min_batches %lu never %d }", sl_stop_rule_text(rule),
			rule->min_batches, rule->min_batches > plan->recipe.n_batches);
}

enum sl_status sl_plan_print(const struct sl_plan *plan, bool json, FILE *out)
{
	struct sl_result r;
	struct sl_json *j = &r.json;

	SL_TRY(sl_result_begin(&r, json ? NULL : lines, out));
	sl_json_add(j, "{ name %s particles %lu seed %lu model %s batches %lu batch %u",
		plan->config.run.name, plan->recipe.particles, plan->recipe.seed,
		plan->recipe.model->name, plan->recipe.n_batches, plan->recipe.batch);
	put_part_and_stop(j, plan);
	sl_inputs_json(j, plan);
	put_key(j, plan);
	put_tallies(j, plan);
	put_mode(j, plan);
	put_primitives(j, plan);
	put_devices(j, plan);
	put_memory(j, plan);
	put_image(j, plan);
	put_joined(j, plan);
	put_files(j, plan);
	put_estimate(j, plan);
	sl_json_array(j, "warnings");
	for (uint32_t i = 0; i < plan->n_warnings; i++)
		sl_json_text(j, NULL, plan->warning[i]);
	return sl_result_end(&r, SL_OK);
}
