/*
 * info.c - selects the kind of a file by its suffix and prints its contents.
 *
 * info_histograms.c and info_mcpl.c write those of two kinds. A file is read completely, so it must
 * fit in memory: only then can its checksum be compared, and a damaged file is refused before
 * anything of it is printed.
 */
#include "pipeline/info/info.h"

#include <string.h>

#include "pipeline/output/output.h"
#include "pipeline/print/result.h"
#include "pipeline/report/tallies/tallies.h"
#include "pipeline/results/results.h"
#include "primitives/files/files.h"
#include "stages/formats/formats.h"
#include "stages/formats/images/images.h"
#include "stages/formats/mcpl/mcpl.h"
#include "stages/formats/phase_space/phase_space.h"
#include "stages/particle/digest.h"

static const struct sl_line lines[] = {
	{"run", NULL,
		"{^path}: run [{name}][{!name}(no name)], format [{format}][{!format}(unknown)], {state}"},
	{"run", NULL, "[part {part} of {of_parts} of a run]"},
	{"run", NULL,
		"{batches~batch}, {particles~particle}, {survivors~survivor}, {bytes:B} in files"},
	{"run.damaged_lines", NULL,
		"damaged lines of manifest.jsonl: {}, not counted; sluice verify checks the run"},
	{"run.fates.*", "fate                particles     fraction\n",
		"{@:-14} {count:14} {fraction:12.8f}"},
	{"run.warnings.*", NULL, "warning: {}"},
	{"survivors", NULL,
		"{^path}: {format}, {bytes} bytes, {survivors~survivor}[, {bytes/survivors:.2f} bytes "
		"each]"},
	{"image", NULL,
		"{^path}: image, {bytes} bytes, {width} x {height} pixels, of {particles~particle}"},
	{"list", NULL, "{^path}: {format}, {bytes} bytes"},
	{"list", NULL, "source       {source}"},
	{"list.comments.*", NULL, "comment      {}"},
	{"list.blobs.*", NULL, "blob         {}"},
	{"list.blob_bytes.*", NULL, "in it        {} bytes"},
	{"list.recovered", NULL,
		"the program that wrote the file ended before it stored the number of particles; "
		"complete records are counted"},
	{"list", NULL,
		"[{particles~particle} of {record_bytes} bytes[{?converted} as MCPL], {precision} "
		"precision[{?one_pdg}, one PDG code][{?one_weight}, one weight]]"},
	{"head.*", "{*:13}\n", "{*:13.9g}"},
	{"columns.*",
		"[{?type}column       type][{!type}number      ] unit         least weighted mean           rms       largest"
		"           sum[{?digest}  digest]\n",
		"{name:-12} [{type:-4} ][{unit:-4}][{!unit}    ] {least:13.7g} {mean:13.7g} {rms:13.7g} "
		"{largest:13.7g} {sum:13.7g}[  {digest}][{?constant}  constant]"},
	{"types.*",
		"pdg          type              particles        weight      mean keV       sum keV\n",
		"{pdg:-12} [{name:-12}][{!name}            ] {particles:14} {weight:13.7g} {mean_kev:13.7g} {sum_kev:13.7g}"},
	{"unread", NULL, "{}"},
	{"histograms", NULL, "{^path}: histograms, {^bytes} bytes"},
	{"histograms.*", NULL,
		"{name}: [column {column}, {bins} bins from {from:.6g} to {to:.6g}[ {unit}]]"
		"[{!bins}grid], {particles~particle}\n"
		"  fate                    below        [{?bins}in bins][{!bins}  cells]          above"
		"<fates|\n  {fate:-14} {below:14} [{inside:14}][{cells:14}] {above:14}>"},
	{NULL, NULL, NULL},
};

/* --- images ----------------------------------------------------------------------------------- */

/*
 * Writes a dataset with statistics of n pixels of type f64 (real) or u64. The pixels point into the
 * file and may be unaligned, so each is copied.
 */
static void write_pixels(struct sl_json *j, const char *name, bool real, const char *unit,
	const void *pixels, uint64_t n)
{
	struct sl_weighted_stats stats = {0};

	for (uint64_t i = 0; i < n; i++) {
		uint64_t whole;
		double v;

		memcpy(&whole, (const char *)pixels + i * sizeof(whole), sizeof(whole));
		memcpy(&v, &whole, sizeof(v));
		sl_weighted_stats_add(&stats, real ? v : (double)whole, 1);
	}
	sl_json_add(j, "{ name %s type %s unit %s", name, real ? "f64" : "u64", unit);
	sl_weighted_stats_json(&stats, false, j);
	sl_json_close(j);
}

/* The datasets point into the file, so they are written before its memory is freed. */
static enum sl_status info_of_image(const char *path, struct sl_json *j)
{
	SL_CLOSED_BY(sl_host_give) char *file = NULL;
	struct sl_image_found f;
	size_t bytes;
	uint64_t n;

	SL_TRY(sl_path_read(path, SIZE_MAX, &file, &bytes));
	SL_TRY(sl_add_context(sl_image_read(file, bytes, &f), "%s", path));
	n = f.width * f.height;
	sl_json_add(j, "image { bytes %lu width %lu height %lu particles %lu } columns [", bytes,
		f.width, f.height, f.particles);
	write_pixels(j, f.what, true, "", f.value, n);
	write_pixels(j, "sum", false, "2^-32", f.sum, n);
	if (f.rays)
		write_pixels(j, "rays", false, "", f.rays, n);
	sl_json_close(j);
	return SL_OK;
}

/* --- survivors -------------------------------------------------------------------------------- */

/*
 * Survivor files are read one at a time, and their rows added up. Numbers have the units in which
 * files store the columns, which are the first ones of sluice list.
 */

static void add_table(struct sl_row_sums *all, const struct sl_table *t, struct sl_json *j)
{
	double value[SL_COLUMN_COUNT] = {[SL_COLUMN_weight] = 1};

	for (uint32_t row = 0; row < t->n; row++) {
		for (uint32_t k = 0; k < t->n_columns; k++) {
			const struct sl_table_column *c = &t->column[k];
			size_t at = c->constant ? 0 : row * (size_t)sl_facts_of(c)->bytes;

			value[c->column] = sl_column_value(c->column, (const char *)c->data + at);
		}
		sl_row_sums_add(all, t, value, j);
	}
}

/*
 * The digests are those of the values as a reader gets them, so they can be compared with run.json
 * and with another format of the same batch, if that format does not round.
 */
static enum sl_status info_of_survivors(const char *path, uint64_t head, struct sl_json *j)
{
	SL_CLOSED_BY(sl_survivors_free) struct sl_survivors s = {.block = NULL};
	struct sl_row_sums all = {.head = head};

	SL_TRY(sl_survivors_read_columns(path, NULL, &s));
	sl_digest_table(&s.table);
	sl_json_add(j, "survivors { format %s bytes %lu survivors %u } head [", s.format->name,
		s.file_bytes, s.table.n);
	add_table(&all, &s.table, j);
	sl_json_close(j);
	sl_row_sums_json(&all, &s.table, true, true, j);
	return SL_OK;
}

/* All files of a run have the same columns: those of the last file are written. */
static enum sl_status info_of_all_survivors(
	const struct sl_dir *dir, const struct sl_manifest *m, uint64_t head, struct sl_json *j)
{
	struct sl_row_sums all = {.head = head};
	struct sl_table last = {0};

	sl_json_array(j, "head");
	for (size_t i = 0; i < m->n; i++) {
		SL_CLOSED_BY(sl_survivors_free) struct sl_survivors s = {.block = NULL};

		SL_TRY(sl_add_context(
			sl_survivors_read(dir, m->line[i].file.name, NULL, &s), "%s", dir->path));
		add_table(&all, &s.table, j);
		last = s.table;
	}
	sl_json_close(j);
	sl_row_sums_json(&all, &last, true, false, j);
	return SL_OK;
}

/* --- runs ------------------------------------------------------------------------------------- */

/*
 * The state and the sums of a run, from run.json and manifest.jsonl. The directory is not locked:
 * the numbers of a run in progress are those of the batches committed so far. Weights are not
 * written: their unit is in the plan.
 */
static void write_run(struct sl_json *j, const struct sl_existing_run *run,
	const struct sl_existing_sizes *sizes, const struct sl_manifest *m)
{
	struct sl_results r;

	sl_results_make(m, true, &r);
	sl_json_add(j, "run { name %s format %s state %s", run->name ? run->name : "",
		run->format ? run->format->name : "",
		!run->state                          ? "(no state)"
		: strcmp(run->state, "running") == 0 ? "not ended (see sluice status)"
						     : run->state);
	sl_json_add(j,
		"part? %lu of_parts? %lu batches %lu particles %lu survivors %lu bytes %lu "
		"damaged_lines %lu fates {",
		run->part.number, run->part.of, r.all.n, r.all.particles, r.survivors, r.bytes,
		m->damaged);
	for (int f = 0; f < SL_FATE_COUNT; f++)
		if (r.fate[f].count > 0)
			sl_json_add(j, "%s { count %lu fraction %g }", sl_fate_facts[f].name,
				r.fate[f].count, r.fate[f].fraction);
	sl_json_close(j);
	sl_truncated_json(j, r.fate[SL_FATE_max_steps].count, r.all.particles, sizes->max_steps);
	sl_json_close(j);
}

static enum sl_status info_of_run(const struct sl_dir *dir, uint64_t head, struct sl_json *j)
{
	SL_CLOSED_BY(sl_existing_run_free) struct sl_existing_run run = {.tree = NULL};
	SL_CLOSED_BY(sl_manifest_free) struct sl_manifest m = {.line = NULL};
	struct sl_existing_sizes sizes;

	SL_TRY(sl_existing_run_read(dir, &run));
	SL_TRY(sl_existing_run_sizes(&run, &sizes));
	SL_TRY(sl_manifest_read(dir, &m));
	write_run(j, &run, &sizes, &m);
	return run.format != &sl_format_none ? info_of_all_survivors(dir, &m, head, j) : SL_OK;
}

/* --- files ------------------------------------------------------------------------------------ */

/* A directory is a run, whatever its name; files are selected by their suffix. */
static enum sl_status write_info(const char *path, uint64_t head, struct sl_json *j)
{
	SL_CLOSED_BY(sl_dir_close) struct sl_dir dir = {.fd = -1, .lock = -1};
	bool is_run;

	SL_TRY(sl_dir_exists(path, &is_run));
	if (is_run) {
		SL_TRY(sl_dir_open(path, false, &dir));
		return info_of_run(&dir, head, j);
	}
	if (head > 0 &&
		(sl_path_ends_in(path, ".tallies") || sl_path_ends_in(path, SL_IMAGE_SUFFIX)))
		return sl_fail(SL_USAGE,
			"--head: %s has no particles to print (it is an image or has histograms); "
			"remove the option",
			path);
	if (sl_path_ends_in(path, ".tallies"))
		return sl_info_histograms(path, j);
	if (sl_path_ends_in(path, SL_IMAGE_SUFFIX))
		return info_of_image(path, j);
	if (sl_path_ends_in(path, sl_format_mcpl.suffix) ||
		sl_path_ends_in(path, sl_format_mcpl_gz.suffix))
		return sl_info_mcpl(path, head, j);
	if (sl_phase_space_names_foreign(path))
		return sl_info_phase_space(path, head, j);
	return info_of_survivors(path, head, j);
}

enum sl_status sl_info(const char *path, uint64_t head, bool json, FILE *out)
{
	struct sl_result r;

	SL_TRY(sl_result_begin(&r, json ? NULL : lines, out));
	sl_json_add(&r.json, "{ path %s", path);
	return sl_result_end(&r, write_info(path, head, &r.json));
}
