/*
 * expression.c - fuzz target: parses arbitrary text as a condition of keep, as a derived column,
 * and as a stop rule.
 */
#include <stdio.h>

#include "pipeline/config/reader/reader.h"
#include "pipeline/resolve/condition/condition.h"
#include "pipeline/resolve/output/output.h"
#include "pipeline/resolve/resolve.h"
#include "tests/fuzz/fuzz.h"

static const char file[] = "run: {particles: 10}\nkeep: transmitted\n"
			   "model: {slab: {mu_a: 0.1 /cm, mu_s: 10 /cm, thickness: 1 cm}}\n";

static struct sl_config config;
static struct sl_choices choices;
static struct sl_reader *reader;

/* The configuration is read once; each input only replaces texts in it. */
static void read_configuration(void)
{
	fuzz_expect(sl_config_open_text("c", file, sizeof(file) - 1, NULL, 0, &config, &reader) ==
		    SL_OK);
	sl_device_emulate(false);
	fuzz_expect(sl_resolve(&config, reader, &choices) == SL_OK);
}

static struct sl_resolver begin_derived(void)
{
	struct sl_resolver v = {.c = &config, .r = reader, .to = &choices};

	memset(&choices.derivation, 0, sizeof(choices.derivation));
	choices.named.n = 0;
	sl_derived_begin(&v);
	return v;
}

/* Computes a valid condition and a valid derived column for a particle. */
static void parse_expression(const char *text)
{
	struct sl_named *columns = &config.columns;
	struct sl_particle p = {.x = 1, .w = 0.5f, .id = 7};
	const struct sl_columns c = sl_columns_of(&p);
	struct sl_program k = {0};
	struct sl_resolver v;
	enum sl_column column;
	bool valid;

	columns->n = 0;
	v = begin_derived();
	valid = sl_expression_add(&v, "keep", text, &k);
	fuzz_expect(valid == !sl_config_has_problem(reader, "keep"));
	if (valid)
		sl_condition_holds(&k, &c, 0, 7, SL_FATE_transmitted);
	reader->n_problems = 0;
	*columns = (struct sl_named){.n = 2, .at = {{"a", "b*r"}, {"b", ""}}};
	snprintf(columns->at[1].text, sizeof(columns->at[1].text), "%s", text);
	v = begin_derived();
	if (sl_resolve_any_column(&v, "key", "b", 0, &column))
		sl_derive_particle(&choices.derivation, &p);
	else
		fuzz_expect(sl_config_problems(reader) > 0);
	reader->n_problems = 0;
}

static void parse_stop_rule(const char *text)
{
	snprintf(config.stop.when, sizeof(config.stop.when), "%s", text);
	choices.stop_rule = (struct sl_stop_rule){.below = 0};
	sl_resolve_stop(&(struct sl_resolver){.c = &config, .r = reader, .to = &choices});
	if (config.stop.when[0] && !sl_config_has_problem(reader, "stop.when"))
		fuzz_expect(choices.stop_rule.below > 0 && choices.stop_rule.below < 1 &&
			    choices.stop_rule.fate < SL_FATE_COUNT);
	reader->n_problems = 0;
}

FUZZ(expression)
{
	char *text = fuzz_text(data, size);

	if (!reader)
		read_configuration();
	parse_expression(text);
	parse_stop_rule(text);
	free(text);
}
