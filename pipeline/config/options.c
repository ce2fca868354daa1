/*
 * options.c - the table of the options that all runs share, and look-ups in the option tables.
 *
 * One entry per option gives its key, kind, default, range and help. From the table follow parsing,
 * messages, --print-config and sluice help, so a new option needs an entry here and a member of
 * struct sl_config only.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/config/config.h"
#include "stages/batch/recipe.h"
#include "stages/models/models.h"

#define OPTION(...) SL_OPTION(sl_config, __VA_ARGS__)
/* An option whose values have neither a unit nor a range. */
#define PLAIN(path, sort, ...) OPTION(path, sort, NUMBER, 0, 0, __VA_ARGS__)

/* The syntax of a backend with a tuning, for help texts. */
#define TUNED "auto, or NAME[:block=N][:items=N][:padding=on|off] (see sluice list); auto: "

static const char *const modes[] = {"auto",
#define X(name) #name,
	SL_MODES(X)
#undef X
		NULL};

/* In the order of enum sl_durability. */
static const char *const durabilities[] = {"batch", "end", "never", NULL};

/* In the order of enum sl_schedule_choice (resolve/choices/choices.h). */
static const char *const schedules[] = {"history", "rounds", "measure", "auto", NULL};

/*
 * The order is that of --print-config and of the generated documentation. Options of one section
 * must be adjacent. "free" marks options that change no byte of the results: they can differ on
 * resume.
 */
const struct sl_option sl_options[] = {
	/*
	 * run: 2^48 particles are the limit of the input reader too. A batch has at most 2^31, so
	 * that 32-bit counters on a device cannot overflow.
	 */
	PLAIN(run.name, TEXT, .fallback = "run",
		.help = "prefix of the names of all files of the run: letters, digits, '.', '_' and '-'"),
	OPTION(run.seed, COUNT, NUMBER, 0, 0x1p64, .fallback = "1",
		.help = "seed of all random numbers; runs with different seeds are statistically independent"),
	OPTION(run.particles, COUNT, NUMBER, 1, 0x1p48, .required = true,
		.help = "number of particles to generate; model list: number of particles to read, default all"),
	OPTION(run.batch, COUNT, NUMBER, 1, 0x1p31, .fallback = "auto", .automatic = true,
		.help = "particles per batch; each batch is one file; auto: 2^18 to 2^24, such that "
			"a run has at most 64 batches where possible"),
	OPTION(run.threads, COUNT, NUMBER, 1, 1024, .fallback = "auto", .automatic = true,
		.free = true, .help = "batches computed at the same time; auto: one per core"),
	PLAIN(run.device, TEXT, .fallback = "auto", .free = true,
		.help = "where to compute: auto, cpu, cuda, cuda:N, several GPUs as cuda:N,M or "
			"cuda:all, or emulated (runs the kernels on the CPU, for tests; emulated:N: "
			"N devices); auto: the first CUDA device, else the CPU"),
	OPTION(run.slots, COUNT, NUMBER, 1, 16, .fallback = "auto", .automatic = true, .free = true,
		.help = "batches in flight at the same time on each device; auto: 3"),
	PLAIN(run.mode, CHOICE, .fallback = "auto", .choices = modes, .free = true,
		.help = "how to run a batch; staged: one kernel per stage; fused, on a device: "
			"particles are generated and compacted in one kernel, and dead particles "
			"are never written to memory; auto: staged on the CPU, if a backend of "
			"compact or scan is named, if tallies has scores along the histories, or "
			"if a model of many steps is faster staged; otherwise fused"),
	OPTION(run.stop_before, REAL, TIME, 1e9, HUGE_VAL, .fallback = "inf", .free = true,
		.help = "wall-clock limit of the run, such as that of a batch queue: the run stops "
			"in time to end within it, as after a signal, and can be resumed"),
	/* models of the user; the second key makes a run with another source another run */
	PLAIN(models, LINES, .free = true,
		.help = "files of external models, such as [my_walk.so], which sluice model build "
			"makes, or headers such as [my_walk.h], which are built once and kept in the "
			"folder of the user's caches; relative to the working directory; their code "
			"is run; --models and SLUICE_MODELS name such files too"),
	PLAIN(model_digest, TEXT,
		.help = "the digest of the source of the external model: another model is an error; "
			"if left out, that of the model, which is stored in run.json, so that "
			"--resume and verify detect a changed model"),
	/* transport: for models whose particles take many steps; all but max_steps are free */
	OPTION(transport.max_steps, COUNT, NUMBER, 1, 1e9, .fallback = "10000",
		.help = "number of steps after which a particle ends with fate max_steps; for "
			"models with many steps"),
	PLAIN(transport.schedule, CHOICE, .fallback = "auto", .choices = schedules, .free = true,
		.help = "for models with many steps; history: a thread follows a particle to its "
			"end; rounds: each launch advances all alive particles by some steps, and "
			"dead ones are removed in between; measure: the fastest for the first "
			"particles; auto: measure on a GPU, else history; the results are the same"),
	/* columns, keep, key, tallies: texts with a special syntax, parsed by pipeline/resolve */
	PLAIN(columns, NAMED,
		.help = "derived columns, computed from the others at the end of each particle: "
			"{NAME: EXPRESSION}, such as {d: \"hypot(x - 1 cm, y)\"}; keep, key, "
			"tallies and output.columns can use them, and keep can call the functions "
			"directly; the expressions are those of keep with sqrt, hypot, "
			"atan2, exp, log, pow, min, max, abs and wavelength; r, rho, theta, phi "
			"and wavelength are built in, and a definition replaces one of them"),
	PLAIN(keep, LINES, .required = true,
		.help = "the particles that survive: a fate, a condition such as transmitted and w "
			"> 0.5, or 1 keV < ekin <= 2 keV and not (x^2 + y^2 < 9 cm^2 or pdg in "
			"[photon, 11]), or a list of these, of which one must hold; with "
			"output.format: none it can be left out, and no particle survives; filters "
			"(model smc) keep all particles without it"),
	PLAIN(key, TEXTS,
		.help = "sort key of the survivors: a list of COLUMN:BITS[:LO..HI], such as w:16 or "
			"x:12:-5 mm..5 mm (plain numbers are in the unit of the column), or "
			"COLUMN_log:BITS for the logarithm, such as ekin_log:16, or COLUMN:float for "
			"the exact order of numbers; -COLUMN sorts in descending order; equal keys are sorted by id"),
	PLAIN(tallies, LINES, .nested = true,
		.help = "histograms of all particles at their ends: a list of "
			"COLUMN:BINS[:LO..HI][:FATE+FATE], such as w:50 or z:40:0 cm..0.02 "
			"cm:absorbed; the range (in the unit of the column by default) can be "
			"omitted if the model states one; default of the fates: all; or a grid of up to "
			"four axes, [r:100:0 mm..5 mm, z:50:0 mm..2 mm, absorbed]: COLUMN:BINS[:LO..HI], "
			"COLUMN:BINS:LO..HI:log for bins of equal ratio, COLUMN:EDGE..EDGE..EDGE for "
			"given edges, r is hypot(x, y); or a score along the histories of a slab or volume, "
			"[deposit, z:50] for the absorbed weight, [deposit, voxel] for that in each voxel, "
			"[fluence_collision, r:50:0 mm..5 mm, z:50] for the "
			"fluence estimated by collisions, [fluence_track, z:50] for the fluence estimated by "
			"lengths of paths, [crossing:1 mm, w:20] for the weight that crosses a plane z; or the "
			"particles of a filter after each step, [each_step, steps:100, state_1:50:-9..9]"),
	/*
	 * primitives: all backends of a primitive give the same bits. The files of different
	 * DEFLATE backends differ in their compressed bytes, but not in their contents.
	 */
	PLAIN(primitives.scan, TEXT, .fallback = "auto", .free = true,
		.help = "backend of prefix sums: " TUNED
			"compact and sort each use their own scan"),
	PLAIN(primitives.compact, TEXT, .fallback = "auto", .free = true,
		.help = "backend of stream compaction: " TUNED "the fastest"),
	PLAIN(primitives.sort, TEXT, .fallback = "auto", .free = true,
		.help = "backend of the radix sort: " TUNED "the fastest"),
	PLAIN(primitives.deflate, TEXT, .fallback = "auto", .free = true,
		.help = "backend of DEFLATE; auto: device, which compresses survivors on the GPU, "
			"if a GPU writes openpmd, npz or mcpl.gz, else the fastest on the host; "
			"store: no compression"),
	/* output: what is written, and where */
	PLAIN(output.to, TEXT, .free = true, .help = "directory of the run; default: out/NAME"),
	PLAIN(output.durable, CHOICE, .fallback = "batch", .choices = durabilities, .free = true,
		.help = "when files are flushed to the disk; batch: each batch, before it is "
			"committed; end: all files at the end of the session; never: not by sluice; "
			"after a failure of the machine, --resume finds damaged batches by their "
			"checksums and computes them again"),
	PLAIN(output.format, TEXT, .fallback = "openpmd",
		.help = "format of the files: see sluice list; none: survivors are counted, digested "
			"and tallied, but not written"),
	PLAIN(output.columns, TEXTS,
		.help = "the columns that are written; default: all columns of the model"),
	OPTION(output.level, COUNT, NUMBER, 1, 9, .fallback = "1",
		.help = "compression level from 1 (fast) to 9 (small)"),
	PLAIN(output.joined, BOOL, .fallback = "false", .free = true,
		.help = "at the end of the run, also merge the files of all batches into one, such "
			"as NAME.mcpl or NAME.h5, which takes the same disk space again; sluice "
			"convert does the same later"),
	PLAIN(output.order, TEXT,
		.help = "run merges the sorted batches into the joined file in the order of the key "
			"over the whole run; batch joins them one "
			"after another, each in the order of the key; run implies joined; default: batch"),
	OPTION(output.sample, COUNT, NUMBER, 1, 0x1p48,
		.help = "the joined file has a weighted sample of so many "
			"survivors, whose weights are raised so that sums of weights keep their "
			"means (priority sampling); chosen by (run.seed, id), and the same for any "
			"batch size and device; implies joined; default: all survivors"),
	OPTION(output.limit, COUNT, NUMBER, 1, 0x1p48,
		.help = "the joined file has only the first particles in its order, after output.sample; implies joined; default: no limit"),
	PLAIN(output.image, BOOL, .fallback = "false",
		.help = "sum the weight of survivors per pixel: NAME.png to look at and "
			"NAME.image.h5 with the numbers; for the camera of model rays, and for "
			"detectors with pixels"),
	OPTION(output.white, REAL, NUMBER, DBL_MIN, DBL_MAX,
		.help = "pixel value that is white in NAME.png; smaller values get the grey of the "
			"sRGB curve; default: the largest value of the image"),
	/*
	 * output.mcpl: no defaults here, so that other formats can refuse the keys that were given
	 */
	PLAIN(output.mcpl.precision, TEXT,
		.help = "format mcpl: single (4 bytes) or double (8 bytes) numbers; the columns "
			"have single precision; double avoids a second rounding of time and energy, "
			"whose units are converted, and of packed directions; default: single, for model list that "
			"of the files (double if one of them has it)"),
	OPTION(output.mcpl.pdg, REAL, NUMBER, INT32_MIN, INT32_MAX,
		.help = "format mcpl: particle type as a code of the Particle Data Group: 22 "
			"photon, 2112 neutron, 11 electron; default: 22; particles of model list "
			"have their own codes"),
	OPTION(output.mcpl.energy, REAL, ENERGY, 0, DBL_MAX,
		.help = "format mcpl: kinetic energy of all particles, such as 2 eV, for models without an energy"),
	PLAIN(output.mcpl.userflags, TEXT,
		.help = "format mcpl: column written as user flags: id, userflags, pixel, steps, "
			"collisions, fate, or none; default: userflags for model list, else pixel "
			"if the model has pixels, else fate"),
	/* stop: "shorthand" makes stop: RULE short for stop: {when: RULE} */
	PLAIN(stop.when, TEXT, .shorthand = true,
		.help = "end the run after the first batch where rel_error(FATE) < X holds, such as "
			"rel_error(reflected) < 1e-3 or < 0.1 %: the standard error of the fraction "
			"of that fate in the batches so far, relative to the fraction; of filters "
			"(model smc) also where sd(log_likelihood) < X holds, the standard error of "
			"the mean log likelihood; run.particles is then the upper limit; stop: RULE sets the same key"),
	OPTION(stop.min_batches, COUNT, NUMBER, 2, 1e6,
		.help = "number of batches before stop.when is evaluated, because the error "
			"of a few particles is itself uncertain; default: 5"),
/* check: one option per fate; fates.def gives name and help */
#define FATE(name, help_)                                                                          \
	SL_OPTION_NAMED("check." #name, sl_config, check.fate[SL_FATE_##name], REAL, NUMBER, 0, 1, \
		.free = true, .help = "expected fraction of particles with this fate: " help_),
#include "stages/particle/fates.def"
#undef FATE
	OPTION(check.sigma, REAL, NUMBER, DBL_MIN, DBL_MAX, .fallback = "4", .free = true,
		.help = "number of standard errors by which an expected fraction can differ"),
};
const size_t sl_n_options = sizeof(sl_options) / sizeof(sl_options[0]);

/* Writes text to path + used, if it fits, and returns the length with it. */
static size_t append(char path[SL_KEY_BYTES], size_t used, const char *text)
{
	size_t bytes = strlen(text);

	if (used + bytes < SL_KEY_BYTES)
		memcpy(path + used, text, bytes + 1);
	return used + bytes;
}

/*
 * The tables store keys without "model.NAME.", so that a model does not repeat its name. Each
 * search for a key makes all paths, which snprintf() would make the slowest part of reading a
 * configuration.
 */
size_t sl_option_path(
	const struct sl_model *model, const struct sl_option *o, char path[SL_KEY_BYTES])
{
	size_t used = 0;

	path[0] = '\0';
	if (model) {
		used = append(path, used, "model.");
		used = append(path, used, model->name);
		used = append(path, used, ".");
	}
	return append(path, used, o->key);
}

const struct sl_option *sl_option_at(
	const struct sl_model *model, size_t i, char path[SL_KEY_BYTES])
{
	bool common = i < sl_n_options;
	const struct sl_option *o = common ? &sl_options[i] : NULL;

	if (!common && model && i - sl_n_options < model->n_options)
		o = &model->options[i - sl_n_options];
	if (o)
		sl_option_path(common ? NULL : model, o, path);
	return o;
}

const char *sl_key_pattern(const char *path, char pattern[SL_KEY_BYTES])
{
	size_t n = 0;

	while (*path && n + 1 < SL_KEY_BYTES) {
		/* copy the bracket, skip the digits after it */
		pattern[n++] = *path;
		path += *path == '[' ? 1 + strspn(path + 1, "0123456789") : 1;
	}
	pattern[n] = '\0';
	return pattern;
}

bool sl_option_of_items(const struct sl_option *o)
{
	return strstr(o->key, "[]") != NULL;
}

const char *sl_key_leaf(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot ? dot + 1 : path;
}

const struct sl_option *sl_option_of_all(size_t i, const struct sl_model **model)
{
	*model = NULL;
	if (i < sl_n_options)
		return &sl_options[i];
	i -= sl_n_options;
	for (int k = 0; k < sl_n_models; i -= sl_models[k++]->n_options)
		if (i < sl_models[k]->n_options) {
			*model = sl_models[k];
			return &sl_models[k]->options[i];
		}
	return NULL;
}

/*
 * Looks in the tables of all models; the caller compares *model with the model of the run. Item
 * numbers are removed first, because a table has one entry for all items of a list.
 */
const struct sl_option *sl_option_find(const char *path, const struct sl_model **model)
{
	char pattern[SL_KEY_BYTES], full[SL_KEY_BYTES];
	const size_t bytes = strlen(sl_key_pattern(path, pattern));
	const struct sl_option *o;

	for (size_t i = 0; (o = sl_option_of_all(i, model)) != NULL; i++) {
		const size_t n = strlen(o->key);

		/* the end first: a search for each key would otherwise make all paths */
		if (n <= bytes && strcmp(o->key, pattern + bytes - n) == 0 &&
			sl_option_path(*model, o, full) == bytes && strcmp(full, pattern) == 0)
			break;
	}
	return o;
}

const char *sl_set_key(const char *set)
{
	const char *space = strncmp(set, "--", 2) == 0 ? strchr(set, ' ') : NULL;

	return space ? space + 1 : set;
}

const char *sl_set_typed(const char *set)
{
	const char *key = sl_set_key(set), *value = strchr(key, '=');

	if (key == set || !value)
		return sl_said("--set %.200s", set);
	return sl_said("%.*s%.200s", (int)(key - set), set, value + 1);
}
