/*
 * existing_run.c - reads the run.json of an earlier session and compares it with a plan.
 *
 * JSON is a subset of YAML, so the parser of configurations reads it. Of run.json only the members
 * that identify the run are used; which batches are done is in manifest.jsonl.
 */
#include "pipeline/output/output.h"

#include <string.h>

#include "pipeline/config/config.h"
#include "pipeline/config/reader/reader.h"
#include "pipeline/text/text.h"
#include "primitives/base/size.h"
#include "primitives/files/files.h"
#include "primitives/primitives.h"
#include "stages/formats/formats.h"

/* why: what is wrong with run.json, as "has no config". */
static enum sl_status bad_run_json(const struct sl_dir *dir, const char *why)
{
	return sl_fail(SL_BAD_INPUT,
		"%s/run.json: %s (the file is damaged, or no run has written it); choose another "
		"--out, or replace the run with --force",
		dir->path, why);
}

/* The text of a member of run.json, owned by tree; NULL if it is missing or no scalar. */
static const char *member(const struct sl_yaml *tree, const char *key)
{
	sl_node node = sl_yaml_get(tree, SL_YAML_ROOT, key);

	return node && sl_yaml_kind(tree, node) == SL_SCALAR ? sl_yaml_text(tree, node, NULL)
	                                                     : NULL;
}

/*
 * Ends the text before the list of batches, and removes the items of all lists of numbers, such as
 * the steps of a filter or the cells of tallies: nothing here reads them, and they can be more than
 * the parser accepts. The stored configuration is a string, and stays as it is. Returns the new
 * length.
 */
static size_t shorten(char *text, size_t bytes)
{
	/* Newlines in strings are escaped, so this is a member of the root. */
	char *batches = strstr(text, "\n\t\"batches\": [");
	bool quoted = false, escaped = false;
	size_t n = 0;

	if (batches) {
		batches[1] = '}'; /* YAML allows the comma before it */
		bytes = (size_t)(batches + 2 - text);
	}
	for (size_t i = 0; i < bytes; i++) {
		text[n++] = text[i];
		quoted ^= text[i] == '"' && !escaped;
		escaped = text[i] == '\\' && !escaped;
		if (text[i] == '[' && !quoted && strchr("-0123456789n", text[i + 1]))
			i += strcspn(text + i + 1, "]");
	}
	return n;
}

/* Reads which part of a run this is; false if there is a member "part" without valid numbers. */
static bool read_part(const struct sl_yaml *tree, struct sl_part *part)
{
	sl_node node = sl_yaml_get(tree, SL_YAML_ROOT, "part");

	return !node ||
	       (sl_yaml_u64(tree, sl_yaml_get(tree, node, "number"), &part->number) &&
		       sl_yaml_u64(tree, sl_yaml_get(tree, node, "of"), &part->of) &&
		       part->number >= 1 && part->number <= part->of && part->of <= SL_PARTS_MAX);
}

/* Reads what run.json says of the particles computed so far, which only sluice status needs. */
static void read_progress(struct sl_existing_run *f)
{
	const struct sl_yaml *tree = f->tree;

	f->particles = sl_yaml_number(tree, SL_YAML_ROOT, "tallies.particles");
	f->session_particles = sl_yaml_number(tree, SL_YAML_ROOT, "times.particles");
	f->session_seconds = sl_yaml_real(tree, SL_YAML_ROOT, "times.wall_seconds");
}

/* Fills f from its tree. */
static enum sl_status read_members(const struct sl_dir *dir, struct sl_existing_run *f)
{
	const struct sl_yaml *tree = f->tree;
	const char *format;

	if (sl_yaml_kind(tree, SL_YAML_ROOT) != SL_MAPPING)
		return bad_run_json(dir, "is not an object");
	f->config = member(tree, "config");
	f->name = member(tree, "name");
	f->state = member(tree, "state");
	format = member(tree, "format");
	f->image = f->config && strstr(f->config, "\n  image: true\n");
	f->joined = member(tree, "joined") != NULL;
	f->deflate = sl_yaml_text(
		tree, sl_yaml_get(tree, SL_YAML_ROOT, "primitives.deflate.backend"), NULL);
	f->format = format ? sl_format_find(format) : NULL;
	if (!f->config || !sl_yaml_u64(tree, sl_yaml_get(tree, SL_YAML_ROOT, "rules_version"),
				  &f->rules_version))
		return bad_run_json(dir, "has no config or rules_version");
	if (!read_part(tree, &f->part))
		return bad_run_json(dir, "has a part without its number");
	read_progress(f);
	/*
	 * The name becomes part of file names that may be removed: it must be one that a run can
	 * have.
	 */
	if (f->name && f->name[strspn(f->name, SL_RUN_NAME_CHARACTERS)] != '\0')
		f->name = NULL;
	return SL_OK;
}

enum sl_status sl_existing_run_read(const struct sl_dir *dir, struct sl_existing_run *f)
{
	SL_CLOSED_BY(sl_host_give) char *text = NULL;
	struct sl_yaml_problem problem;
	enum sl_status s;
	size_t bytes;

	memset(f, 0, sizeof(*f));
	SL_TRY(sl_file_read(dir, "run.json", &text, &bytes));
	s = sl_yaml_parse(text, shorten(text, bytes), &f->tree, &problem);
	if (s == SL_OK)
		s = read_members(dir, f);
	else if (s == SL_BAD_INPUT)
		s = bad_run_json(dir, problem.text);
	if (s != SL_OK)
		sl_existing_run_free(f);
	return s;
}

void sl_existing_run_free(struct sl_existing_run *f)
{
	sl_yaml_free(f->tree);
	f->tree = NULL;
}

enum sl_status sl_existing_run_sizes(
	const struct sl_existing_run *f, struct sl_existing_sizes *sizes)
{
	SL_CLOSED_BY(sl_existing_run_free) struct sl_existing_run c = {.tree = NULL};
	struct sl_yaml_problem problem;
	enum sl_status s = sl_yaml_parse(f->config, strlen(f->config), &c.tree, &problem);

	*sizes = (struct sl_existing_sizes){.n_batches = 1};
	if (s != SL_OK)
		return s == SL_BAD_INPUT ? SL_OK : s;
	sizes->has_seed =
		sl_yaml_u64(c.tree, sl_yaml_get(c.tree, SL_YAML_ROOT, "run.seed"), &sizes->seed);
	sizes->particles = sl_yaml_number(c.tree, SL_YAML_ROOT, "run.particles");
	sizes->batch = sl_yaml_number(c.tree, SL_YAML_ROOT, "run.batch");
	sizes->max_steps = sl_yaml_number(c.tree, SL_YAML_ROOT, "transport.max_steps");
	if (sizes->batch > 0 && sizes->particles > 0)
		sizes->n_batches = sl_ceil_div(sizes->particles, sizes->batch);
	sizes->stops = sl_yaml_get(c.tree, SL_YAML_ROOT, "stop.when") != 0;
	return SL_OK;
}

enum { DEFLATE_BYTES = 64 };

/*
 * Writes the setting that chooses the backend; false if it is not one of this build for the host.
 */
static bool set_deflate(const char *name, char set[DEFLATE_BYTES])
{
	const struct sl_backend *found;

	snprintf(set, DEFLATE_BYTES, "primitives.deflate=%.32s", name);
	return sl_find(SL_DEFLATE, name, &found) == SL_OK && found->space == SL_HOST;
}

enum sl_status sl_existing_run_plan(const struct sl_existing_run *f, const char *const *set,
	size_t n_sets, struct sl_plan **plan)
{
	static struct sl_config config;
	static struct sl_choices choices;
	const char *all[2 + SL_EXISTING_RUN_SETS_MAX] = {
		"run.device=cpu"}; /* the plan is not executed */
	char deflate[DEFLATE_BYTES];
	size_t n = 1;
	SL_CLOSED_BY(sl_config_give) struct sl_reader *reader = NULL;

	*plan = NULL;
	if (set_deflate(f->deflate, deflate))
		all[n++] = deflate;
	for (size_t i = 0; i < n_sets; i++)
		all[n++] = set[i];
	SL_TRY(sl_config_open_stored("run.json", f->config, all, n, &config, &reader));
	config.part = f->part;
	SL_TRY(sl_resolve(&config, reader, &choices));
	return sl_plan_make(&config, &choices, plan);
}

/* Most characters of a line that a message shows before and from the first difference. */
enum { SHOWN = SL_DIFFERENCE_BYTES / 2 };

/* Copies the line of text that contains its character i, or the part of it around i. */
static void copy_line_around(const char *text, size_t i, char line[SL_DIFFERENCE_BYTES])
{
	size_t start = i;

	while (start > 0 && text[start - 1] != '\n')
		start--;
	start += strspn(text + start, " ");
	if (start + SHOWN < i)
		start = i - SHOWN;
	snprintf(line, SL_DIFFERENCE_BYTES, "%.*s", (int)strcspn(text + start, "\n"), text + start);
}

/* The text of each configuration around the first difference. */
bool sl_existing_run_differs(const char *a, const char *b, bool particles,
	char of_a[SL_DIFFERENCE_BYTES], char of_b[SL_DIFFERENCE_BYTES])
{
	const char *line_a = NULL, *line_b = NULL, *x = a, *y = b;
	size_t bytes_a = 0, bytes_b = 0;

	if (!particles) {
		line_a = sl_config_particles_line(a, &bytes_a);
		line_b = sl_config_particles_line(b, &bytes_b);
	}
	for (;; x++, y++) {
		x += x == line_a ? bytes_a : 0; /* the line of run.particles */
		y += y == line_b ? bytes_b : 0;
		if (!*x || *x != *y)
			break;
	}
	if (*x == *y)
		return false;
	copy_line_around(a, (size_t)(x - a), of_a);
	copy_line_around(b, (size_t)(y - b), of_b);
	return true;
}

/* A run can be resumed with another number of particles. */
static enum sl_status same_config(const struct sl_dir *dir, const char *stored, const char *planned)
{
	char old[SL_DIFFERENCE_BYTES], now[SL_DIFFERENCE_BYTES];

	if (!sl_existing_run_differs(stored, planned, false, old, now))
		return SL_OK;
	return sl_fail(SL_OUTPUT_IN_USE,
		"%s: holds a run of another configuration (\"%s\" there, \"%s\" here), so --resume "
		"would mix two runs; use the same configuration, another --out, or --force to replace "
		"the run",
		dir->path, old, now);
}

/*
 * Are the keys of a run of this many particles computed as those of the plan? The range of a field
 * id for which the key gives none is 0 to the last id of the run, and its number of bits drops the
 * lowest bits of that range.
 */
static bool same_key(const struct sl_plan *plan, uint64_t particles)
{
	const struct sl_choices *c = &plan->choices;
	const double last = (double)plan->recipe.particles - 1;

	for (uint32_t k = 0; k < c->n_fields; k++) {
		struct sl_key_field f = c->field[k];

		if (f.column != SL_COLUMN_id || f.hi != last)
			continue;
		f.hi = particles > 0 ? (double)particles - 1 : 0;
		if (sl_key_rule_make(&f).shift != plan->recipe.field[k].shift)
			return false;
	}
	return true;
}

/*
 * Compares the numbers of particles of equal configurations. A run can be extended, because batches
 * do not depend on it, except for the last one, which is computed again. The number of a list
 * without run.particles is that of its files: another number means that these have changed.
 */
static enum sl_status check_particles(const struct sl_dir *dir, const struct sl_existing_run *f,
	const struct sl_plan *plan, struct sl_resumption *how)
{
	uint64_t now = plan->recipe.particles, then;
	struct sl_existing_sizes sizes;

	SL_TRY(sl_existing_run_sizes(f, &sizes));
	then = sizes.particles;
	how->extended = now > then;
	how->n_batches = sizes.n_batches;
	if (now != then && plan->recipe.inputs)
		return sl_fail(SL_OUTPUT_IN_USE,
			"%s: holds a run that read %lu particles from its files, and this one reads "
			"%lu (a run that reads files cannot be extended, because they may have "
			"changed); use another --out, or --force to replace the run",
			dir->path, then, now);
	if (now > then && plan->config.part.of > 0)
		return sl_fail(SL_OUTPUT_IN_USE,
			"%s: holds a part of a run of %lu particles, and this configuration has %lu "
			"(a part cannot be extended, because it would have other batches); use "
			"run.particles: %lu, or extend the run that sluice join makes",
			dir->path, then, now, then);
	if (now > then && !same_key(plan, then))
		return sl_fail(SL_OUTPUT_IN_USE,
			"%s: holds a run of %lu particles, and with %lu the bits of id in key would have "
			"other steps, so committed batches would be in another order; use run.particles: "
			"%lu, another --out, or --force to replace the run",
			dir->path, then, now, then);
	if (now >= then)
		return SL_OK;
	return sl_fail(SL_OUTPUT_IN_USE,
		"%s: holds a run of %lu particles, and this configuration has %lu (--resume can "
		"extend a run, not shorten it); use run.particles: %lu or more, another --out, or "
		"--force to replace the run",
		dir->path, then, now, then);
}

/* The bytes of a part are the same, but a whole run needs its batches in its own directory. */
static enum sl_status same_part(
	const struct sl_dir *dir, const struct sl_part *stored, const struct sl_part *planned)
{
	if (stored->number == planned->number && stored->of == planned->of)
		return SL_OK;
	return sl_fail(SL_OUTPUT_IN_USE,
		"%s: holds %s, which is not what --resume would continue here; give the same --part "
		"and --out as before, or choose another --out",
		dir->path, stored->of > 0 ? sl_part_name(stored) : "the whole run");
}

enum sl_status sl_existing_run_check(
	const struct sl_dir *dir, const struct sl_plan *plan, struct sl_resumption *how)
{
	SL_CLOSED_BY(sl_existing_run_free) struct sl_existing_run f = {.tree = NULL};

	*how = (struct sl_resumption){.extended = false};
	SL_TRY(sl_existing_run_read(dir, &f));
	how->joined = f.joined;
	if (f.rules_version != SL_RULES_VERSION)
		return sl_fail(SL_OUTPUT_IN_USE,
			"%s: holds a run of rules version %lu, and this program has version %d "
			"(the remaining batches would have other bits); use the program that "
			"started the run, another --out, or --force to replace the run",
			dir->path, f.rules_version, SL_RULES_VERSION);
	SL_TRY(same_config(dir, f.config, plan->config_text));
	SL_TRY(same_part(dir, &f.part, &plan->config.part));
	return check_particles(dir, &f, plan, how);
}
