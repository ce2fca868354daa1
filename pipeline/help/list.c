/*
 * list.c - sluice list: prints the contents of this build as text or JSON.
 *
 * The lists are the tables of the program (models.def, columns.def, backends.def, ...). Backends
 * that this build lacks are listed too, because configurations of other machines can name them.
 * Keys of the JSON output are read by scripts: never rename one.
 */
#include "pipeline/help/help.h"
#include "pipeline/print/result.h"
#include "pipeline/resolve/choices/choices.h"
#include "primitives/catalog.h"
#include "primitives/device/device.h"
#include "stages/formats/formats.h"
#include "stages/models/models.h"

/* Decided when the program is built: a build without CUDA has no code of the cuda backends. */
#ifdef SL_WITH_CUDA
static const bool has_cuda = true;
#else
static const bool has_cuda = false;
#endif

static const struct sl_line list_lines[] = {
	{"models.*", "models\n",
		"  {name:-16} {help}\n                   columns: {columns}\n                   fates: {fates}"},
	{"columns.*", "columns (name, unit, name in openPMD files)\n",
		"  {name:-16} {unit:-4} {openpmd:-14} {help}"},
	{"fates.*", "fates\n", "  {name:-16} {help}"},
	{"dimensions.*",
		"units (a number with a dimension needs one; files have the first of a line)\n",
		"  {}"},
	{"particles.*", "particles (names for pdg in conditions of keep)\n", "  {@:-16} {}"},
	{"backends.*",
		"backends (host: run on the CPU; device: on CUDA devices and on the emulated device; "
		"cuda: on CUDA devices only)\n[{!^cuda}  this build has no CUDA: backends of device run "
		"on the emulated device only, those of cuda do not run\n]",
		"  {primitive:-8} {name:-14} {needs:-7} [{help}][{!help}not in this build, because it has no CUDA]"
		"[{?tunable}\n                                 "
		"[  block={tunable.block.default} ([{!tunable.block.multiple_of=1}multiples of "
		"{tunable.block.multiple_of} ]up to {tunable.block.most})]"
		"[  items={tunable.items.default} ({tunable.items.one_of})]"
		"[  padding={tunable.padding.default} ({tunable.padding.one_of})]]"},
	{"files.*", "formats\n", "  {name:-16} {help}"},
	{NULL, NULL, NULL},
};

static const struct sl_line device_lines[] = {
	{"*", NULL,
		"{device:-12} [{problem}][{name}, compute capability {capability}, {memory_bytes:B} of "
		"memory, {free_bytes:B} free]"},
	{NULL, NULL, NULL},
};

/*
 * Models, each with its columns and the fates that it can give. A script can check a
 * configuration's columns and fates against these lists.
 */
static void list_models(struct sl_json *j)
{
	sl_json_array(j, "models");
	for (int m = 0; m < sl_n_models; m++) {
		sl_json_add(
			j, "{ name %s help %s columns [", sl_models[m]->name, sl_models[m]->help);
		for (int c = 0; c < SL_COLUMN_COUNT; c++)
			if (SL_HAS(sl_models[m]->columns, c))
				sl_json_text(j, NULL, sl_column_facts[c].name);
		sl_json_add(j, "] fates [");
		for (int f = 0; f < SL_FATE_COUNT; f++)
			if (SL_HAS(sl_models[m]->fates, f))
				sl_json_text(j, NULL, sl_fate_facts[f].name);
		sl_json_add(j, "] }");
	}
	sl_json_close(j);
}

/* The default and the allowed values of block (threads per block), items (per thread), padding. */
static void list_tunable(struct sl_json *j, const struct sl_tunable *t)
{
	sl_json_object(j, "tunable");
	if (t->block > 0)
		sl_json_add(j, "block { default %u multiple_of %u most %u }", t->block,
			t->block_step, t->block_most);
	if (t->items > 0) {
		sl_json_add(j, "items { default %u one_of [", t->items);
		for (int i = 0; t->items_can[i]; i++)
			sl_json_u64(j, NULL, t->items_can[i]);
		sl_json_add(j, "] }");
	}
	if (t->padding) {
		sl_json_add(j, "padding { default %s one_of [", sl_padding_name(t->padding));
		for (int p = SL_PADDING_ON; p <= SL_PADDING_OFF; p++)
			sl_json_text(j, NULL, sl_padding_name((enum sl_padding)p));
		sl_json_add(j, "] }");
	}
	sl_json_close(j);
}

/* openpmd is "position/x": the record of a column in an openPMD file, and its component. */
static void list_columns(struct sl_json *j)
{
	sl_json_array(j, "columns");
	for (int k = 0; k < SL_COLUMN_COUNT; k++) {
		const struct sl_column_facts *c = &sl_column_facts[k];

		if (!sl_is_named_column(k))
			sl_json_add(j, "{ name %s unit %s openpmd %s help %s }", c->name,
				sl_units[c->unit].text,
				sl_said("%s%s%s", c->record, c->component[0] ? "/" : "",
					c->component),
				c->help);
	}
	sl_json_close(j);
}

static void list_named(struct sl_json *j, const char *name, const char *help)
{
	sl_json_add(j, "{ name %s help %s }", name, help);
}

/* All accepted units, and those of each dimension, first the one that is used in the program. */
static void list_units(struct sl_json *j)
{
	sl_json_array(j, "units");
	for (int u = 0; u < SL_UNIT_COUNT; u++)
		if (*sl_units[u].text)
			sl_json_text(j, NULL, sl_units[u].text);
	sl_json_add(j, "] dimensions [");
	for (int d = 0; d < SL_DIMENSION_COUNT; d++) {
		if (d == SL_DIM_NUMBER)
			continue;
		sl_json_array(j, NULL);
		for (int u = 0; u < SL_UNIT_COUNT; u++)
			if ((int)sl_units[u].dimension == d)
				sl_json_text(j, NULL, sl_units[u].text);
		sl_json_close(j);
	}
	sl_json_close(j);
}

/* The names of particles and their codes. */
static void list_particles(struct sl_json *j)
{
	sl_json_object(j, "particles");
	for (int i = 0; i < SL_SPECIES_COUNT; i++)
		sl_json_real(j, sl_species[i].name, sl_species[i].code);
	sl_json_close(j);
}

/* Writes the values of run.device with which this build can run the backend. */
static void list_devices(struct sl_json *j, enum sl_runs_on runs_on)
{
	sl_json_array(j, "runs_on");
	if (runs_on == SL_RUNS_ON_HOST)
		sl_json_text(j, NULL, "cpu");
	if (runs_on != SL_RUNS_ON_HOST && has_cuda)
		sl_json_text(j, NULL, "cuda");
	if (runs_on == SL_RUNS_ON_DEVICE)
		sl_json_text(j, NULL, "emulated");
	sl_json_close(j);
}

/* A backend that this build lacks has no help and no tuning parameters. */
static void list_backends(struct sl_json *j)
{
	sl_json_array(j, "backends");
	for (const struct sl_catalog_entry *l = sl_catalog; l->name; l++) {
		sl_json_add(j, "{ primitive %s name %s space %s needs %s",
			sl_primitive_name(l->primitive), l->name,
			l->runs_on == SL_RUNS_ON_HOST ? "host" : "device",
			sl_runs_on_name(l->runs_on));
		list_devices(j, l->runs_on);
		if (l->backend) {
			sl_json_text(j, "help", l->backend->help);
			if (l->primitive != SL_DEFLATE)
				sl_json_bool(j, "n_on_device",
					l->backend->takes_n_on_device ||
						l->backend->space == SL_HOST);
			list_tunable(j, &l->backend->tunable);
		}
		sl_json_close(j);
	}
	sl_json_close(j);
}

static void list_formats(struct sl_json *j)
{
	sl_json_array(j, "formats");
	for (int i = 0; sl_formats[i]; i++)
		sl_json_text(j, NULL, sl_formats[i]->name);
	sl_json_text(j, NULL, sl_format_none.name);
	sl_json_add(j, "] files [");
	for (int i = 0; sl_formats[i]; i++)
		list_named(j, sl_formats[i]->name, sl_formats[i]->help);
	list_named(j, sl_format_none.name, sl_format_none.help);
	sl_json_close(j);
}

static void list_fates(struct sl_json *j)
{
	sl_json_array(j, "fates");
	for (int f = 0; f < SL_FATE_COUNT; f++)
		list_named(j, sl_fate_facts[f].name, sl_fate_facts[f].help);
	sl_json_close(j);
}

enum sl_status sl_help_list(bool json, FILE *out)
{
	struct sl_result r;

	SL_TRY(sl_result_begin(&r, json ? NULL : list_lines, out));
	sl_json_object(&r.json, NULL);
	list_models(&r.json);
	list_columns(&r.json);
	list_units(&r.json);
	list_particles(&r.json);
	list_backends(&r.json);
	list_formats(&r.json);
	list_fates(&r.json);
	sl_json_bool(&r.json, "cuda", has_cuda);
	return sl_result_end(&r, SL_OK);
}

/*
 * A device, by the word that run.device takes for it. d NULL: why there is none, which only people
 * read.
 */
static void list_device(struct sl_result *r, const char *word, const struct sl_device *d)
{
	struct sl_json *j = &r->json;

	if (d)
		sl_json_add(j,
			"{ device %s name %s capability %s memory_bytes %lu free_bytes %lu }", word,
			d->name, sl_said("%d.%d", d->major, d->minor), d->memory_bytes,
			d->free_bytes);
	else if (r->lines)
		sl_json_add(j, "{ device %s problem %s }", word, sl_last_error());
}

enum sl_status sl_help_devices(bool json, FILE *out)
{
	struct sl_result r;
	struct sl_device d;
	enum sl_status s;
	int n = 0;

	SL_TRY(sl_result_begin(&r, json ? NULL : device_lines, out));
	sl_json_array(&r.json, NULL);
	sl_device_emulate(false);
	if (sl_device_count(&n) != SL_OK)
		list_device(&r, "cuda", NULL);
	for (int i = 0; i < n; i++)
		list_device(&r, sl_said("cuda:%d", i), sl_device_use(i, &d) == SL_OK ? &d : NULL);
	sl_device_emulate(true);
	s = sl_device_use(0, &d);
	if (s == SL_OK)
		list_device(&r, "emulated", &d);
	return sl_result_end(&r, s);
}
