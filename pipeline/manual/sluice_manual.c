/*
 * sluice_manual.c - describes sluice from its tables: commands.def, args.def, the options of
 * configurations, backends.def, formats.def, columns.def, fates.def and status.def.
 */
#include "pipeline/manual/sluice_manual.h"

#include <string.h>

#include "pipeline/args/args.h"
#include "pipeline/args/args_help.h"
#include "pipeline/config/options.h"
#include "primitives/catalog.h"
#include "stages/formats/formats.h"

static const char details[] =
	"\n"
	"    sluice computes batches of particles or rays on a GPU or on the CPU: it generates them,\n"
	"    removes the dead ones, sorts the survivors by a key and writes them compressed. A\n"
	"    configuration in YAML says what to compute. The results have the same bits on every\n"
	"    device.\n"
	"\n"
	"    sluice help KEY explains a key of the configuration, sluice list shows models, columns,\n"
	"    fates, units, backends and formats. Each command has its own page, such as\n"
	"    sluice-run(1).\n";

/* The primitive that a key such as primitives.sort chooses a backend of; SL_PRIMITIVE_COUNT: none. */
static enum sl_primitive primitive_of(const char *path)
{
	static const char section[] = "primitives.";
	int p = 0;

	if (strncmp(path, section, strlen(section)) != 0)
		return SL_PRIMITIVE_COUNT;
	while (p < SL_PRIMITIVE_COUNT &&
		strcmp(sl_primitive_name((enum sl_primitive)p), path + strlen(section)) != 0)
		p++;
	return (enum sl_primitive)p;
}

static void add_backends(struct sl_manual *m, enum sl_primitive p)
{
	sl_manual_add(m, "auto ");
	for (const struct sl_catalog_entry *e = sl_catalog; e->name; e++)
		if (e->primitive == p)
			sl_manual_add(m, "%s ", e->name);
}

static void add_formats(struct sl_manual *m)
{
	for (int i = 0; sl_formats[i]; i++)
		sl_manual_add(m, "%s ", sl_formats[i]->name);
	sl_manual_add(m, "%s", sl_format_none.name);
}

/* The words that a key of the configuration accepts, "" if they are not a list. */
static const char *words_of_key(struct sl_manual *m, const struct sl_option *o, const char *path)
{
	enum sl_primitive p = primitive_of(path);

	if (p < SL_PRIMITIVE_COUNT)
		add_backends(m, p);
	else if (strcmp(path, "output.format") == 0)
		add_formats(m);
	else if (o->kind == SL_KIND_CHOICE)
		for (int i = 0; o->choices[i]; i++)
			sl_manual_add(m, "%s ", o->choices[i]);
	else if (o->kind == SL_KIND_BOOL)
		sl_manual_add(m, "true false");
	else if (o->automatic)
		sl_manual_add(m, "auto");
	else if (o->kind == SL_KIND_TEXT)
		return sl_manual_words_of_help(m, o->help);
	return sl_manual_end(m);
}

/* The words of the value of an option: those of its key, else those that its help lists. */
static const char *words_of_option(struct sl_manual *m, const struct sl_args_option *o)
{
	const struct sl_model *model;
	const char *words = o->key ? words_of_key(m, sl_option_find(o->key, &model), o->key) : "";

	return words[0] ? words : sl_manual_words_of_help(m, o->help);
}

static uint32_t commands_of(size_t i, const struct sl_args_option *o)
{
	uint32_t commands = 0;

	for (int c = 0; c < SL_COMMAND_NONE; c++)
		if (sl_args_takes((enum sl_command)c, i))
			commands |= UINT32_C(1) << c;
	return commands == 0 && !o->commands[0] ? SL_EVERY_COMMAND : commands;
}

static void describe_options(struct sl_manual *m)
{
	struct sl_args_option o;

	for (size_t i = 0; sl_args_option_at(i, &o); i++) {
		struct sl_manual_option *to = &m->option[m->n_options++];
		char note[SL_NOTE_BYTES];

		sl_manual_add(m, "--%s", o.name);
		to->name = sl_manual_end(m);
		to->help = o.help;
		to->commands = commands_of(i, &o);
		sl_manual_add(m, "%s", sl_args_note(&o, false, note));
		to->note = sl_manual_end(m);
		to->takers = o.commands;
		to->value.name = o.value;
		to->value.by = strcmp(o.value, "KEY=VALUE") == 0 ? SL_COMPLETE_SETTINGS
		                                                 : sl_manual_complete_by(o.value);
		to->value.words = o.value[0] ? words_of_option(m, &o) : "";
	}
}

/* Adds a key; keys of the items of a list need numbers, which only the user knows. */
static void describe_key(
	struct sl_manual *m, const struct sl_model *model, const struct sl_option *o)
{
	struct sl_manual_setting *to = &m->setting[m->n_settings];
	char path[SL_KEY_BYTES];

	if (sl_option_of_items(o))
		return;
	m->n_settings++;
	sl_option_path(model, o, path);
	sl_manual_add(m, "%s", path);
	to->key = sl_manual_end(m);
	to->words = words_of_key(m, o, path);
	/* A key that an option sets has the words of the option. */
	for (int i = 0; i < m->n_options && !to->words[0]; i++) {
		size_t n = strlen(path);
		const char *note = m->option[i].note;

		if (strncmp(note, path, n) == 0 && (note[n] == ';' || note[n] == '\0'))
			to->words = m->option[i].value.words;
	}
}

static void describe_keys(struct sl_manual *m)
{
	for (size_t i = 0; i < sl_n_options; i++)
		describe_key(m, NULL, &sl_options[i]);
	for (int k = 0; k < SL_MODEL_COUNT; k++)
		for (size_t i = 0; i < sl_models[k]->n_options; i++)
			describe_key(m, sl_models[k], &sl_models[k]->options[i]);
}

/* The words of sluice help: commands, keys, models, columns and fates. */
static const char *words_of_help_command(struct sl_manual *m)
{
	for (int c = 0; c < SL_COMMAND_NONE; c++)
		sl_manual_add(m, "%s ", sl_commands[c].name);
	for (int i = 0; i < m->n_settings; i++)
		sl_manual_add(m, "%s ", m->setting[i].key);
	for (int k = 0; k < SL_MODEL_COUNT; k++)
		sl_manual_add(m, "%s ", sl_models[k]->name);
	for (int c = 0; c < SL_COLUMN_COUNT; c++)
		if (!sl_is_named_column(c))
			sl_manual_add(m, "%s ", sl_column_facts[c].name);
	for (int f = 0; f < SL_FATE_COUNT; f++)
		sl_manual_add(m, "%s ", sl_fate_facts[f].name);
	return sl_manual_end(m);
}

static void describe_commands(struct sl_manual *m)
{
	m->n_commands = SL_COMMAND_NONE;
	for (int c = 0; c < SL_COMMAND_NONE; c++) {
		struct sl_manual_command *to = &m->command[c];
		const char *operands = sl_commands[c].operands;

		*to = (struct sl_manual_command){.name = sl_commands[c].name,
			.help = sl_commands[c].help,
			.details = sl_commands[c].details,
			.operands = {operands, sl_manual_complete_by(operands), ""}};
		if (strcmp(operands, "[WORD]") == 0)
			to->operands.words = words_of_help_command(m);
	}
}

/* Without initial values: they would put all bytes of m into the file of the program. */
const struct sl_manual *sl_manual_of_sluice(void)
{
	static struct sl_manual m;

	if (m.program)
		return &m;
	m.program = "sluice";
	m.purpose = "simulation batches of particles and rays on a GPU or a CPU";
	m.synopsis = "COMMAND [OPERAND...] [OPTION...]";
	m.details = details;
	m.script = "sluice help --completion";
	m.see_also = "sluice-bench";
	m.pages = m.joined = true;
	describe_options(&m);
	describe_keys(&m);
	describe_commands(&m);
#define SL_STATUS(name, value, text) m.exit[m.n_exits++] = (struct sl_manual_exit){value, text};
#include "primitives/base/status.def"
#undef SL_STATUS
	return &m;
}
