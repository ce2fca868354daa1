/*
 * completion.c - what sluice-bench completes, from its lists: options.def, SL_BENCH_COMMANDS,
 * backends.def.
 */
#include "bench/commands/commands.h"

#include <string.h>

#include "bench/measure/measure.h"
#include "primitives/catalog.h"

static bool command_at(int c, const char **name, const char **help)
{
	static const char *const facts[][2] = {
#define X(title, text) {#title, text},
		SL_BENCH_COMMANDS(X)
#undef X
	};

	if (c < 0 || c >= SL_BENCH_NONE)
		return false;
	*name = facts[c][0];
	*help = facts[c][1];
	return true;
}

static bool option_at(int i, struct sl_completed_option *option)
{
	struct sl_bench_option_facts o;

	if (!sl_bench_option_at((size_t)i, &o))
		return false;
	*option = (struct sl_completed_option){o.name + strlen("--"), o.value, o.help};
	return true;
}

static bool takes(int c, int i)
{
	struct sl_bench_option_facts o;
	const char *name, *help;

	sl_bench_option_at((size_t)i, &o);
	return command_at(c, &name, &help) ? strstr(o.commands, name) != NULL
	                                   : strcmp(o.name, "--help") == 0;
}

/* A primitive, or PRIMITIVE/BACKEND. */
static void offer_backends(const struct sl_last_word *last)
{
	enum sl_primitive before = SL_PRIMITIVE_COUNT;
	char word[64];

	for (const struct sl_catalog_entry *e = sl_catalog; e->name; e++) {
		const char *primitive = sl_primitive_name(e->primitive);

		if (e->primitive != before)
			sl_offer(last, primitive);
		snprintf(word, sizeof(word), "%s/%s", primitive, e->name);
		if (e->runs_on != SL_RUNS_ON_HOST)
			sl_offer(last, word);
		before = e->primitive;
	}
}

/* An example in words ("u32,u64") has all words of a list; one in numbers does not. */
static void offer_values(const struct sl_last_word *last, int i)
{
	struct sl_bench_option_facts o;

	sl_bench_option_at((size_t)i, &o);
	if (strcmp(o.name, "--only") == 0)
		offer_backends(last);
	else if (o.value[0] < 'a' || o.value[0] > 'z')
		sl_offer_value(last, o.value, o.help);
	else
		for (size_t n; *o.value; o.value += n + (o.value[n] == ',')) {
			n = strcspn(o.value, ",");
			sl_offer_part(last, o.value, n, NULL);
		}
}

static void offer_operands(const struct sl_last_word *last, int c)
{
	(void)last;
	(void)c;
}

const struct sl_completed_program sl_completed_bench = {
	command_at, option_at, takes, offer_values, offer_operands};
