/* sluice_completion.c - what the program sluice completes, from the tables of its help. */
#include <string.h>

#include "pipeline/args/args.h"
#include "pipeline/help/help.h"
#include "primitives/catalog.h"
#include "stages/formats/formats.h"
#include "stages/models/models.h"

static bool command_at(int c, const char **name, const char **help)
{
	if (c >= SL_COMMAND_NONE)
		return false;
	*name = sl_commands[c].name;
	*help = sl_commands[c].help;
	return true;
}

static bool option_at(int i, struct sl_completed_option *option)
{
	const struct sl_args_option *o = sl_args_option_at((size_t)i);

	if (o)
		*option = (struct sl_completed_option){o->name, o->value, o->help};
	return o != NULL;
}

/* --help and --version need no command, and every command takes them. */
static bool takes(int c, int i)
{
	const struct sl_args_option *o = sl_args_option_at((size_t)i);

	return (!o->commands[0] && !o->value[0]) ||
	       (c >= 0 && sl_args_takes((enum sl_command)c, o));
}

/* Offers the backends of a primitive if path is its key, such as primitives.sort. */
static bool offer_backends(const struct sl_last_word *last, const char *path)
{
	const char *name = strncmp(path, "primitives.", 11) == 0 ? path + 11 : "";
	bool found = false;

	for (const struct sl_catalog_entry *e = sl_catalog; e->name; e++) {
		if (strcmp(name, sl_primitive_name(e->primitive)) != 0)
			continue;
		if (!found)
			sl_offer(last, "auto");
		sl_offer(last, e->name);
		found = true;
	}
	return found;
}

static void offer_formats(const struct sl_last_word *last)
{
	for (int i = 0; sl_formats[i]; i++)
		sl_offer(last, sl_formats[i]->name);
	sl_offer(last, sl_format_none.name);
}

/* The option that sets the key; NULL if there is none. */
static const struct sl_args_option *option_of_key(const char *path)
{
	const struct sl_args_option *o;
	size_t i = 0;

	while ((o = sl_args_option_at(i)) != NULL && !(o->key && strcmp(o->key, path) == 0))
		i++;
	return o;
}

/*
 * The values of a key: those of its kind, else those that the help of its option or its own help
 * lists.
 */
static void offer_values_of_key(const struct sl_last_word *last, const char *path)
{
	const struct sl_model *model;
	const struct sl_option *key = sl_option_find(path, &model);
	const struct sl_args_option *o = option_of_key(path);

	if (!key || offer_backends(last, path))
		return;
	if (strcmp(path, "output.format") == 0)
		offer_formats(last);
	else if (key->kind == SL_KIND_CHOICE)
		for (int i = 0; key->choices[i]; i++)
			sl_offer(last, key->choices[i]);
	else if (key->kind == SL_KIND_BOOL)
		sl_offer_value(last, "", "true or false");
	else if (key->automatic)
		sl_offer(last, "auto");
	else if (o)
		sl_offer_value(last, o->value, o->help);
	else if (key->kind == SL_KIND_TEXT)
		sl_offer_value(last, "", key->help);
}

/*
 * Offers each key, with end after it; keys of the items of a list need numbers, which only the user
 * knows.
 */
static void offer_keys(const struct sl_last_word *last, const char *end)
{
	char path[SL_KEY_BYTES + sizeof("=")];
	const struct sl_model *model;
	const struct sl_option *o;

	for (size_t i = 0; (o = sl_option_of_all(i, &model)) != NULL; i++) {
		strcpy(path + sl_option_path(model, o, path), end);
		if (!sl_option_of_items(o))
			sl_offer(last, path);
	}
}

/* KEY= until there is a '=', then the values of the key. */
static void offer_settings(const struct sl_last_word *last)
{
	const char *typed = last->text + last->lead, *sign = strchr(typed, '=');
	struct sl_last_word value = *last;

	if (!sign) {
		offer_keys(last, "=");
		return;
	}
	value.lead += (size_t)(sign + 1 - typed);
	offer_values_of_key(&value, sl_said("%.*s", (int)(sign - typed), typed));
}

static void offer_values(const struct sl_last_word *last, int i)
{
	const struct sl_args_option *o = sl_args_option_at((size_t)i);

	if (strcmp(o->value, "KEY=VALUE") == 0)
		offer_settings(last);
	else if (o->key)
		offer_values_of_key(last, o->key);
	else
		sl_offer_value(last, o->value, o->help);
}

/* The words of sluice help: commands, keys, models, columns and fates. */
static void offer_words_of_help(const struct sl_last_word *last)
{
	for (int c = 0; c < SL_COMMAND_NONE; c++)
		sl_offer(last, sl_commands[c].name);
	offer_keys(last, "");
	for (int k = 0; k < sl_n_models; k++)
		sl_offer(last, sl_models[k]->name);
	for (int c = 0; c < SL_COLUMN_COUNT; c++)
		if (!sl_is_named_column(c))
			sl_offer(last, sl_column_facts[c].name);
	for (int f = 0; f < SL_FATE_COUNT; f++)
		sl_offer(last, sl_fate_facts[f].name);
}

static void offer_operands(const struct sl_last_word *last, int c)
{
	if (strcmp(sl_commands[c].operands, "[WORD]") == 0)
		offer_words_of_help(last);
	else
		sl_offer_value(last, sl_commands[c].operands, "");
}

const struct sl_completed_program sl_completed_sluice = {
	command_at, option_at, takes, offer_values, offer_operands};
