/* options.c - the table of what is common to all runs: one line an option. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/config/config.h"
#include "pipeline/config/options.h"
#include "stages/batch/recipe.h"

#define AT(field) offsetof(struct sl_config, field)

/* How a backend is named that has a tuning. */
#define TUNED "auto, or NAME[:block=N][:items=N] as sluice list tells; auto: "

static const char *const modes[] = {"auto",
#define X(name) #name,
	SL_MODES(X)
#undef X
		NULL};

/* In the order of enum sl_schedule_choice. */
static const char *const schedules[] = {"history", "rounds", "measure", "auto", NULL};

const struct sl_option sl_options[] = {
	{.key = "run.name",
		.kind = SL_KIND_TEXT,
		.offset = AT(run.name),
		.fallback = "run",
		.help = "names the files of the run: letters, digits, '.', '_' and '-'"},
	{.key = "run.seed",
		.kind = SL_KIND_COUNT,
		.offset = AT(run.seed),
		.fallback = "1",
		.hi = 0x1p64,
		.help = "of all random numbers; another seed is an independent run"},
	{.key = "run.particles",
		.kind = SL_KIND_COUNT,
		.offset = AT(run.particles),
		.required = true,
		.lo = 1,
		.hi = 0x1p48,
		.help = "how many particles to generate; of a list how many to read, all when left "
			"out"},
	{.key = "run.batch",
		.kind = SL_KIND_COUNT,
		.offset = AT(run.batch),
		.fallback = "auto",
		.lo = 1,
		.hi = 0x1p31,
		.automatic = true,
		.help = "particles a batch, one file each; auto: 2^18 to 2^24, for at most 64 "
			"batches where that is enough"},
	{.key = "run.threads",
		.kind = SL_KIND_COUNT,
		.offset = AT(run.threads),
		.fallback = "auto",
		.lo = 1,
		.hi = 1024,
		.automatic = true,
		.free = true,
		.help = "batches computed at the same time; auto: one a core"},
	{.key = "run.device",
		.kind = SL_KIND_TEXT,
		.offset = AT(run.device),
		.fallback = "auto",
		.free = true,
		.help = "where to compute: auto, cpu, cuda, cuda:N or emulated (kernels run on the "
			"CPU, to test them); auto: the first CUDA device, or else the CPU"},
	{.key = "run.slots",
		.kind = SL_KIND_COUNT,
		.offset = AT(run.slots),
		.fallback = "auto",
		.lo = 1,
		.hi = 16,
		.automatic = true,
		.free = true,
		.help = "on a device: batches there at the same time; auto: 3"},
	{.key = "run.mode",
		.kind = SL_KIND_CHOICE,
		.offset = AT(run.mode),
		.fallback = "auto",
		.choices = modes,
		.free = true,
		.help = "how to run a batch; staged: each stage by itself; fused, on a device: "
			"particles are made and compacted in one kernel, no dead one touches "
			"memory; auto: fused, unless on the CPU or a backend of compact or scan "
			"is named"},
	{.key = "run.stop_before",
		.kind = SL_KIND_REAL,
		.dimension = SL_DIM_TIME,
		.offset = AT(run.stop_before),
		.fallback = "inf",
		.lo = 1e9,
		.hi = HUGE_VAL,
		.free = true,
		.help = "the run stops by itself, as by a signal, so as to end before it has taken "
			"that long: the time that a batch queue allows"},
	{.key = "run.tuning",
		.kind = SL_KIND_TEXT,
		.offset = AT(run.tuning),
		.fallback = "auto",
		.free = true,
		.help = "on a device: file of the block and items that backends choose, as "
			"sluice-bench tune writes it, or none; auto: the file that SL_TUNING "
			"names, else ~/.config/sluice/tuning if it is there"},
	{.key = "transport.max_steps",
		.kind = SL_KIND_COUNT,
		.offset = AT(transport.max_steps),
		.fallback = "10000",
		.lo = 1,
		.hi = 1e9,
		.help = "flights after which a particle is given up; for models of many steps"},
	{.key = "transport.schedule",
		.kind = SL_KIND_CHOICE,
		.offset = AT(transport.schedule),
		.fallback = "auto",
		.choices = schedules,
		.free = true,
		.help = "history: each particle to its end; rounds: some steps of all that live, "
			"the dead left behind; measure: what is fastest for the first particles; "
			"auto: measure on a GPU, history elsewhere. For models of many steps; the "
			"results are the same"},
	{.key = "transport.steps_per_launch",
		.kind = SL_KIND_COUNT,
		.offset = AT(transport.steps_per_launch),
		.fallback = "8",
		.lo = 1,
		.hi = 1e9,
		.free = true,
		.help = "of rounds: steps of each particle in a round"},
	{.key = "transport.compact",
		.kind = SL_KIND_TEXT,
		.offset = AT(transport.compact),
		.fallback = "alive < 0.5",
		.free = true,
		.help = "of rounds: when the living are moved together: every (round), every 4, "
			"never, or alive < 0.5: when that part of them is left"},
	{.key = "transport.sort",
		.kind = SL_KIND_TEXT,
		.offset = AT(transport.sort),
		.fallback = "never",
		.free = true,
		.help = "of rounds: when the living are sorted by transport.key, and so compacted; "
			"in the words of transport.compact"},
	{.key = "transport.key",
		.kind = SL_KIND_TEXTS,
		.offset = AT(transport.key),
		.free = true,
		.help = "of rounds: what the living are sorted by, as z:8; fields as those of key, "
			"32 bits in all"},
	{.key = "transport.finish",
		.kind = SL_KIND_TEXT,
		.offset = AT(transport.finish),
		.fallback = "alive < 0.01",
		.free = true,
		.help = "of rounds: when the last of a batch are run to their ends in one go: "
			"alive < 0.01, or never"},
	{.key = "keep",
		.kind = SL_KIND_LINES,
		.offset = AT(keep),
		.required = true,
		.help = "the fates that survive, or conditions, as transmitted and w > 0.5, or ekin "
			"> 1 keV and not (abs(z) < 5 cm or pdg == 22), any of a list; all else is "
			"dead"},
	{.key = "key",
		.kind = SL_KIND_TEXTS,
		.offset = AT(key),
		.help = "survivors are sorted by these fields, as w:16 or x:12:-5 mm..5 mm "
			"(column, "
			"bits, range, in the column's unit where it names none), or ekin_log:16, by the "
			"logarithm; ties by id"},
	{.key = "tallies",
		.kind = SL_KIND_TEXTS,
		.offset = AT(tallies),
		.help = "counts of all particles by bins of a column, as w:50 or "
			"z:40:0 cm..0.02 cm:absorbed (column, bins, range, fates with + between "
			"them); the range is the model's where it has one, and in the column's unit "
			"where it names none; the fates are all when left out"},
	{.key = "primitives.scan",
		.kind = SL_KIND_TEXT,
		.offset = AT(primitives.scan),
		.fallback = "auto",
		.free = true,
		.help = "the backend of prefix sums: " TUNED "compact and sort use their own"},
	{.key = "primitives.compact",
		.kind = SL_KIND_TEXT,
		.offset = AT(primitives.compact),
		.fallback = "auto",
		.free = true,
		.help = "the backend of stream compaction: " TUNED "the fastest there is"},
	{.key = "primitives.sort",
		.kind = SL_KIND_TEXT,
		.offset = AT(primitives.sort),
		.fallback = "auto",
		.free = true,
		.help = "the backend of the radix sort: " TUNED "the fastest there is"},
	{.key = "primitives.deflate",
		.kind = SL_KIND_TEXT,
		.offset = AT(primitives.deflate),
		.fallback = "auto",
		.free = true,
		.help = "the backend of DEFLATE; auto: device, where openpmd, npz or mcpl.gz is written "
			"on a GPU, which compresses survivors there, else the fastest of the "
			"host's; store: no compression"},
	{.key = "output.to",
		.kind = SL_KIND_TEXT,
		.offset = AT(output.to),
		.free = true,
		.help = "the directory of the run; out/NAME when left out"},
	{.key = "output.format",
		.kind = SL_KIND_TEXT,
		.offset = AT(output.format),
		.fallback = "openpmd",
		.help = "of the files: see sluice list"},
	{.key = "output.columns",
		.kind = SL_KIND_TEXTS,
		.offset = AT(output.columns),
		.help = "the columns written; all that the model carries when left out"},
	{.key = "output.level",
		.kind = SL_KIND_COUNT,
		.offset = AT(output.level),
		.fallback = "1",
		.lo = 1,
		.hi = 9,
		.help = "of compression, from 1 (fast) to 9 (small)"},
	{.key = "output.joined",
		.kind = SL_KIND_BOOL,
		.offset = AT(output.joined),
		.fallback = "false",
		.free = true,
		.help = "for mcpl and mcpl.gz: when the run is done, the lists of its batches become "
			"one, NAME.mcpl, too, which takes the disk once more; sluice convert does so "
			"afterwards"},
	{.key = "output.image",
		.kind = SL_KIND_BOOL,
		.offset = AT(output.image),
		.fallback = "false",
		.help = "sums up the weight of survivors by pixel: NAME.png to look at, and "
			"NAME.image.h5 with the numbers; for rays of a camera, and for detectors "
			"with pixels"},
	{.key = "output.white",
		.kind = SL_KIND_REAL,
		.offset = AT(output.white),
		.lo = DBL_MIN,
		.hi = DBL_MAX,
		.help = "the value of a pixel that is white in NAME.png, greys below it as sRGB "
			"codes light; the largest of the image when left out"},
	{.key = "output.mcpl.precision",
		.kind = SL_KIND_TEXT,
		.offset = AT(output.mcpl.precision),
		.help = "of the numbers in files of mcpl: single, 4 bytes, or double, 8; columns "
			"are single, but time and energy in other units, and directions as MCPL "
			"packs them, come nearer to them in double; single when left out"},
	{.key = "output.mcpl.pdg",
		.kind = SL_KIND_REAL,
		.offset = AT(output.mcpl.pdg),
		.lo = INT32_MIN,
		.hi = INT32_MAX,
		.help = "what the particles are in files of mcpl, by the code of the Particle Data "
			"Group: 22 photons, 2112 neutrons, 11 electrons; 22 when left out; those "
			"of a list have codes of their own"},
	{.key = "output.mcpl.energy",
		.kind = SL_KIND_REAL,
		.dimension = SL_DIM_ENERGY,
		.offset = AT(output.mcpl.energy),
		.lo = 0,
		.hi = DBL_MAX,
		.help = "the kinetic energy of all particles in files of mcpl, as 2 eV: for models "
			"whose particles have none"},
	{.key = "output.mcpl.userflags",
		.kind = SL_KIND_TEXT,
		.offset = AT(output.mcpl.userflags),
		.help = "the column that user flags are in files of mcpl: id, userflags, pixel, "
			"steps, collisions or fate, or none of them; when left out, those of a "
			"list, pixel where the model has them, else fate"},
	{.key = "stop.when",
		.kind = SL_KIND_TEXT,
		.offset = AT(stop.when),
		.foremost = true,
		.help = "the run ends behind the first batch where this holds, "
			"rel_error(reflected) < 1e-3 or < 0.1 %: the standard error of the "
			"fraction of a fate, over the batches so far, in parts of that fraction; "
			"run.particles is then the most; stop: RULE is short for it"},
	{.key = "stop.min_batches",
		.kind = SL_KIND_COUNT,
		.offset = AT(stop.min_batches),
		.lo = 2,
		.hi = 1e6,
		.help = "batches before which the run is not ended by stop.when, as the scatter of "
			"a few may be small by chance; 5 when left out"},
#define FATE(name, help_)                                 \
	{.key = "check." #name,                           \
		.kind = SL_KIND_REAL,                     \
		.offset = AT(check.fate[SL_FATE_##name]), \
		.lo = 0,                                  \
		.hi = 1,                                  \
		.free = true,                             \
		.help = "the expected fraction of this fate: " help_},
#include "stages/particle/fates.def"
#undef FATE
	{.key = "check.sigma",
		.kind = SL_KIND_REAL,
		.offset = AT(check.sigma),
		.fallback = "4",
		.lo = DBL_MIN,
		.hi = DBL_MAX,
		.free = true,
		.help = "how many standard errors an expected fraction may be off"},
};
const size_t sl_n_options = sizeof(sl_options) / sizeof(sl_options[0]);

size_t sl_option_path(
	const struct sl_model *model, const struct sl_option *o, char path[SL_KEY_BYTES])
{
	return (size_t)snprintf(path, SL_KEY_BYTES, "%s%s%s%s", model ? "model." : "",
		model ? model->name : "", model ? "." : "", o->key);
}

const struct sl_option *sl_option_at(
	const struct sl_model *model, size_t i, char path[SL_KEY_BYTES])
{
	bool common = i < sl_n_options;
	const struct sl_option *o = NULL;

	if (common)
		o = &sl_options[i];
	else if (model && i - sl_n_options < model->n_options)
		o = &model->options[i - sl_n_options];
	if (o)
		sl_option_path(common ? NULL : model, o, path);
	return o;
}

const char *sl_key_pattern(const char *path, char pattern[SL_KEY_BYTES])
{
	size_t n = 0;

	while (*path && n + 1 < SL_KEY_BYTES) {
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

const struct sl_model *sl_model_find(const char *name)
{
	for (int i = 0; i < SL_MODEL_COUNT; i++)
		if (strcmp(sl_models[i]->name, name) == 0)
			return sl_models[i];
	return NULL;
}

static const struct sl_option *find(const struct sl_option *table, size_t n, const char *key)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(table[i].key, key) == 0)
			return &table[i];
	return NULL;
}

const struct sl_option *sl_option_find(const char *path, const struct sl_model **model)
{
	char pattern[SL_KEY_BYTES];
	const struct sl_option *found = find(sl_options, sl_n_options, path);

	*model = NULL;
	for (int i = 0; i < SL_MODEL_COUNT && !found; i++) {
		const struct sl_model *m = sl_models[i];
		size_t n = strlen(m->name);

		if (strncmp(path, "model.", 6) != 0 || strncmp(path + 6, m->name, n) != 0 ||
			path[6 + n] != '.')
			continue;
		found = find(m->options, m->n_options, sl_key_pattern(path + 6 + n + 1, pattern));
		*model = m;
	}
	return found;
}
