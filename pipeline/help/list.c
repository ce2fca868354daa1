/*
 * list.c - sluice list: prints the contents of this build as text or JSON.
 *
 * The lists are the tables of the program (models.def, columns.def, backends.def, ...). Backends that
 * this build lacks are listed too, because configurations of other machines can name them. Keys of
 * the JSON output are read by scripts: never rename one.
 *
 * The two outputs differ in content: text explains each word for a person, JSON has the names and
 * numbers that a script needs to make configurations, such as the values of block and items.
 */
#include "pipeline/config/config.h"
#include "pipeline/help/list.h"
#include "pipeline/resolve/choices/species.h"
#include "pipeline/text/json.h"
#include "pipeline/text/messages.h"
#include "primitives/catalog.h"
#include "primitives/device/device.h"
#include "stages/formats/formats.h"

/* Decided when the program is built: a build without CUDA has no code of the cuda backends. */
#ifdef SL_WITH_CUDA
static const bool has_cuda = true;
#else
static const bool has_cuda = false;
#endif

/* Prints the tuning parameters of a backend with their defaults and allowed values:
 * "block=256 (multiples of 32 up to 1024), items=4 (1, 2, 4 or 8), padding=on (on or off)". Nothing
 * if it has none. */
static void print_tunable(const struct sl_tunable *t, FILE *out)
{
	bool both = t->block > 0 && t->items > 0;

	if (t->block == 0 && t->items == 0)
		return;
	fprintf(out, "  %32s", "");
	if (t->block > 0 && t->block_step == 1)
		fprintf(out, "block=%u (up to %u)", t->block, t->block_most);
	else if (t->block > 0)
		fprintf(out, "block=%u (multiples of %u up to %u)", t->block, t->block_step,
			t->block_most);
	if (t->items > 0)
		fprintf(out, "%sitems=%u (", both ? ", " : "", t->items);
	for (int i = 0; t->items_can[i]; i++)
		fprintf(out, "%s%u",
			i == 0                ? ""
			: t->items_can[i + 1] ? ", "
					      : " or ",
			t->items_can[i]);
	fprintf(out, t->items > 0 ? ")" : "");
	if (t->padding)
		fprintf(out, ", padding=%s (on or off)", sl_padding_name(t->padding));
	fprintf(out, "\n");
}

/* One line per dimension: first the unit used inside the program, then the accepted ones. */
static void print_units(FILE *out)
{
	fprintf(out,
		"units (a number with a dimension needs one; files have the first of a line)\n");
	for (int d = 0; d < SL_DIMENSION_COUNT; d++) {
		if (d == SL_DIM_NUMBER)
			continue;
		fprintf(out, " ");
		for (int u = 0; u < SL_UNIT_COUNT; u++)
			if ((int)sl_units[u].dimension == d)
				fprintf(out, " %s", sl_units[u].text);
		fprintf(out, "\n");
	}
}

/* The catalog is ordered by primitive; within one, better backends are later. */
static void print_backends(FILE *out)
{
	fprintf(out, "backends (host: run on the CPU; device: on CUDA devices and on the emulated "
		     "device; cuda: on CUDA devices only)\n");
	if (!has_cuda)
		fprintf(out,
			"  this build has no CUDA: backends of device run on the emulated device "
			"only, those of cuda do not run\n");
	for (const struct sl_catalog_entry *l = sl_catalog; l->name; l++) {
		fprintf(out, "  %-8s %-14s %-7s %s\n", sl_primitive_name(l->primitive), l->name,
			sl_runs_on_name(l->runs_on),
			l->backend ? l->backend->help
				   : "not in this build, because it has no CUDA");
		if (l->backend)
			print_tunable(&l->backend->tunable, out);
	}
}

/* The models, each with its columns and the fates that it can give. */
static void print_models(FILE *out)
{
	fprintf(out, "models\n");
	for (int m = 0; m < SL_MODEL_COUNT; m++) {
		fprintf(out, "  %-16s %s\n  %16s columns:", sl_models[m]->name, sl_models[m]->help,
			"");
		for (int c = 0; c < SL_COLUMN_COUNT; c++)
			if (SL_HAS(sl_models[m]->columns, c))
				fprintf(out, " %s", sl_column_facts[c].name);
		fprintf(out, "\n  %16s fates:", "");
		for (int f = 0; f < SL_FATE_COUNT; f++)
			if (SL_HAS(sl_models[m]->fates, f))
				fprintf(out, " %s", sl_fate_facts[f].name);
		fprintf(out, "\n");
	}
}

enum { RECORD_BYTES = 32 };

/* "position/x": the record of a column in an openPMD file, and its component. */
static const char *openpmd_name(int column, char text[RECORD_BYTES])
{
	const struct sl_column_facts *c = &sl_column_facts[column];

	snprintf(text, RECORD_BYTES, "%s%s%s", c->record, c->component[0] ? "/" : "", c->component);
	return text;
}

/* Models first: a reader chooses a model, and then what to keep of it. */
static void list_text(FILE *out)
{
	print_models(out);
	fprintf(out, "columns (name, unit, name in openPMD files)\n");
	for (int c = 0; c < SL_COLUMN_COUNT; c++) {
		char record[RECORD_BYTES];

		if (sl_is_named_column(c))
			continue;
		fprintf(out, "  %-16s %-4s %-14s %s\n", sl_column_facts[c].name,
			sl_units[sl_column_facts[c].unit].text, openpmd_name(c, record),
			sl_column_facts[c].help);
	}
	fprintf(out, "fates\n");
	for (int f = 0; f < SL_FATE_COUNT; f++)
		fprintf(out, "  %-16s %s\n", sl_fate_facts[f].name, sl_fate_facts[f].help);
	print_units(out);
	fprintf(out, "particles (names for pdg in conditions of keep)\n");
	for (int i = 0; i < SL_SPECIES_COUNT; i++)
		fprintf(out, "  %-16s %d\n", sl_species[i].name, (int)sl_species[i].code);
	print_backends(out);
	fprintf(out, "formats\n");
	for (int i = 0; sl_formats[i]; i++)
		fprintf(out, "  %-16s %s\n", sl_formats[i]->name, sl_formats[i]->help);
	fprintf(out, "  %-16s %s\n", sl_format_none.name, sl_format_none.help);
}

/* As print_models(). A script can check a configuration's columns and fates against these lists. */
static void list_models(struct sl_json *j)
{
	sl_json_array(j, "models");
	for (int m = 0; m < SL_MODEL_COUNT; m++) {
		sl_json_object(j, NULL);
		sl_json_text(j, "name", sl_models[m]->name);
		sl_json_text(j, "help", sl_models[m]->help);
		sl_json_array(j, "columns");
		for (int c = 0; c < SL_COLUMN_COUNT; c++)
			if (SL_HAS(sl_models[m]->columns, c))
				sl_json_text(j, NULL, sl_column_facts[c].name);
		sl_json_close(j);
		sl_json_array(j, "fates");
		for (int f = 0; f < SL_FATE_COUNT; f++)
			if (SL_HAS(sl_models[m]->fates, f))
				sl_json_text(j, NULL, sl_fate_facts[f].name);
		sl_json_close(j);
		sl_json_close(j);
	}
	sl_json_close(j);
}

/* The default and the allowed values of block (threads per block), items (per thread), padding. */
static void list_tunable(struct sl_json *j, const struct sl_tunable *t)
{
	sl_json_object(j, "tunable");
	if (t->block > 0) {
		sl_json_object(j, "block");
		sl_json_u64(j, "default", t->block);
		sl_json_u64(j, "multiple_of", t->block_step);
		sl_json_u64(j, "most", t->block_most);
		sl_json_close(j);
	}
	if (t->items > 0) {
		sl_json_object(j, "items");
		sl_json_u64(j, "default", t->items);
		sl_json_array(j, "one_of");
		for (int i = 0; t->items_can[i]; i++)
			sl_json_u64(j, NULL, t->items_can[i]);
		sl_json_close(j);
		sl_json_close(j);
	}
	if (t->padding) {
		sl_json_object(j, "padding");
		sl_json_text(j, "default", sl_padding_name(t->padding));
		sl_json_array(j, "one_of");
		sl_json_text(j, NULL, sl_padding_name(SL_PADDING_ON));
		sl_json_text(j, NULL, sl_padding_name(SL_PADDING_OFF));
		sl_json_close(j);
		sl_json_close(j);
	}
	sl_json_close(j);
}

static void list_columns(struct sl_json *j)
{
	sl_json_array(j, "columns");
	for (int c = 0; c < SL_COLUMN_COUNT; c++) {
		char record[RECORD_BYTES];

		if (sl_is_named_column(c))
			continue;
		sl_json_object(j, NULL);
		sl_json_text(j, "name", sl_column_facts[c].name);
		sl_json_text(j, "unit", sl_units[sl_column_facts[c].unit].text);
		sl_json_text(j, "openpmd", openpmd_name(c, record));
		sl_json_text(j, "help", sl_column_facts[c].help);
		sl_json_close(j);
	}
	sl_json_close(j);
}

/* All accepted units. Plain numbers have an empty unit, which is left out. */
static void list_units(struct sl_json *j)
{
	sl_json_array(j, "units");
	for (int u = 0; u < SL_UNIT_COUNT; u++)
		if (*sl_units[u].text)
			sl_json_text(j, NULL, sl_units[u].text);
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
		sl_json_object(j, NULL);
		sl_json_text(j, "primitive", sl_primitive_name(l->primitive));
		sl_json_text(j, "name", l->name);
		sl_json_text(j, "space", l->runs_on == SL_RUNS_ON_HOST ? "host" : "device");
		list_devices(j, l->runs_on);
		if (l->backend) {
			sl_json_text(j, "help", l->backend->help);
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
	sl_json_close(j);
}

void sl_help_list(bool json, FILE *out)
{
	struct sl_json j = sl_json_stream(out);

	if (!json) {
		list_text(out);
		return;
	}
	sl_json_object(&j, NULL);
	list_models(&j);
	list_columns(&j);
	list_units(&j);
	list_particles(&j);
	list_backends(&j);
	list_formats(&j);
	sl_json_close(&j);
	fputc('\n', out);
}

/* A device, by the word that run.device takes for it. */
static void print_device(const struct sl_device *d, const char *word, struct sl_json *j, FILE *out)
{
	char memory[32], free[32];

	if (!j) {
		fprintf(out, "%-12s %s, compute capability %d.%d, %s of memory, %s free\n", word,
			d->name, d->major, d->minor, sl_sized((double)d->memory_bytes, memory),
			sl_sized((double)d->free_bytes, free));
		return;
	}
	sl_json_object(j, NULL);
	sl_json_text(j, "device", word);
	sl_json_text(j, "name", d->name);
	sl_json_u64(j, "memory_bytes", d->memory_bytes);
	sl_json_u64(j, "free_bytes", d->free_bytes);
	sl_json_close(j);
}

enum sl_status sl_help_devices(bool json, FILE *out)
{
	struct sl_json stream = sl_json_stream(out), *j = json ? &stream : NULL;
	struct sl_device d;
	char word[32];
	int n = 0;

	sl_device_emulate(false);
	if (j)
		sl_json_array(j, NULL);
	if (sl_device_count(&n) != SL_OK && !j)
		fprintf(out, "cuda         none: %s\n", sl_last_error());
	for (int i = 0; i < n; i++) {
		snprintf(word, sizeof(word), "cuda:%d", i);
		if (sl_device_use(i, &d) == SL_OK)
			print_device(&d, word, j, out);
		else if (!j)
			fprintf(out, "%-12s %s\n", word, sl_last_error());
	}
	sl_device_emulate(true);
	SL_TRY(sl_device_use(0, &d));
	print_device(&d, "emulated", j, out);
	if (j) {
		sl_json_close(j);
		fputc('\n', out);
	}
	return SL_OK;
}
