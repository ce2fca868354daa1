/* manual.c - describes sluice-bench from its lists: options.def, SL_BENCH_COMMANDS, backends.def. */
#include "bench/commands/manual.h"

#include <string.h>

#include "bench/measure/options.h"
#include "primitives/catalog.h"

static const char details[] =
	"\n"
	"    sluice-bench times the primitives of sluice on a device: scan, stream compaction, radix sort\n"
	"    and deflate. Every result is verified before it is timed, and compared with a copy of the\n"
	"    memory and with CUB.\n"
	"\n"
	"    The items of a list are separated by commas. A number is written as 1000, 2^27 or 2^27-3;\n"
	"    2^4..2^30 is every power of two from 2^4 to 2^30.\n"
	"\n"
	"    Tables: \"of\" is the number of samples; \"copy\" and \"CUB\" are the speed relative to a copy\n"
	"    and to CUB; a * after the host time means that the time may contain host time.\n";

/* A primitive, or PRIMITIVE/BACKEND. */
static void add_backends(struct sl_manual *m)
{
	enum sl_primitive last = SL_PRIMITIVE_COUNT;

	for (const struct sl_catalog_entry *e = sl_catalog; e->name; e++) {
		const char *primitive = sl_primitive_name(e->primitive);

		if (e->primitive != last)
			sl_manual_add(m, "%s ", primitive);
		if (e->runs_on != SL_RUNS_ON_HOST)
			sl_manual_add(m, "%s/%s ", primitive, e->name);
		last = e->primitive;
	}
}

/* An example in words ("u32,u64") has all words of a list; one in numbers does not. */
static const char *words_of_option(struct sl_manual *m, const struct sl_bench_option_facts *o)
{
	const char *value = o->value;

	if (strcmp(o->name, "--only") == 0)
		add_backends(m);
	else if (value[0] < 'a' || value[0] > 'z')
		return sl_manual_words_of_help(m, o->help);
	else
		for (size_t n; *value; value += n + (value[n] == ',')) {
			n = strcspn(value, ",");
			sl_manual_add(m, "%.*s ", (int)n, value);
		}
	return sl_manual_end(m);
}

static uint32_t commands_of(const struct sl_manual *m, const char *names)
{
	uint32_t commands = 0;

	for (int c = 0; c < m->n_commands; c++)
		if (strstr(names, m->command[c].name))
			commands |= UINT32_C(1) << c;
	return commands;
}

static void describe_options(struct sl_manual *m)
{
	struct sl_bench_option_facts o;

	for (size_t i = 0; sl_bench_option_at(i, &o); i++)
		m->option[m->n_options++] = (struct sl_manual_option){.name = o.name,
			.value = {o.value, sl_manual_complete_by(o.value), words_of_option(m, &o)},
			.help = o.help,
			.note = "",
			.takers = o.commands,
			.commands = commands_of(m, o.commands)};
}

/* Options of the program alone; options.def has those of commands. */
static void describe_texts(struct sl_manual *m)
{
	static const struct sl_manual_option texts[] = {
		{"--help", {"", SL_COMPLETE_WORDS, ""}, "print a summary of commands and options",
			"", "", SL_EVERY_COMMAND},
		{"--man", {"", SL_COMPLETE_WORDS, ""}, "print this page, for man", "", "",
			SL_NO_COMMAND},
		{"--completion", {"SHELL", SL_COMPLETE_WORDS, "bash zsh fish"},
			"print the completion of a shell: bash, zsh or fish", "", "",
			SL_NO_COMMAND}};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		m->option[m->n_options++] = texts[i];
}

/* Without initial values: they would put all bytes of m into the file of the program. */
const struct sl_manual *sl_manual_of_bench(void)
{
	static struct sl_manual m;
	static const struct sl_manual_exit exits[] = {{0, "success"}, {2, "wrong use"},
		{4, "a file cannot be written"}, {8, "no device"}, {11, "a wrong answer"}};

	if (m.program)
		return &m;
	m.program = "sluice-bench";
	m.purpose = "measure the primitives of sluice on a device";
	m.synopsis = "COMMAND [OPTION...]";
	m.details = details;
	m.script = "sluice-bench --completion";
	m.see_also = "sluice";
#define X(title, text)                                                         \
	m.command[m.n_commands++] = (struct sl_manual_command){.name = #title, \
		.help = text,                                                  \
		.details = "",                                                 \
		.operands = {"", SL_COMPLETE_WORDS, ""}};
	SL_BENCH_COMMANDS(X)
#undef X
	describe_options(&m);
	describe_texts(&m);
	m.n_exits = sizeof(exits) / sizeof(exits[0]);
	memcpy(m.exit, exits, sizeof(exits));
	return &m;
}
