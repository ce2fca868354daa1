/*
 * command_compare.c - sluice compare: runs the comparison and prints it as text, JSON or CSV.
 *
 * Results are printed only if every case was tried, also if some of them differ or failed.
 */
#include <stdio.h>
#include <unistd.h>

#include "pipeline/cli/cli.h"
#include "pipeline/compare/compare.h"

/* --json and --csv print also with --quiet, because they were asked for. */
static enum sl_status print_comparison(const struct sl_args *a, const struct sl_comparison *c)
{
	if (a->quiet && !a->json && !a->csv)
		return SL_OK;
	return sl_compare_print(c,
		a->json  ? NULL
		: a->csv ? sl_compare_csv
			 : sl_compare_text,
		stdout);
}

/* Progress: rewrites one line of the terminal, padded with spaces to erase a longer name. */
static void show_case(const struct sl_comparison *c, size_t number)
{
	char text[SL_CASE_BYTES];

	fprintf(stderr, "\r%-*s\r%zu of %zu: %s", SL_CASE_BYTES / 2, "", number + 1, c->n,
		sl_case_text(&c->cases[number], text));
	fflush(stderr);
}

enum sl_status sl_command_compare(struct sl_args *a)
{
	static struct sl_comparison c;
	static struct sl_config config;
	static struct sl_choices choices;
	bool shown = !a->quiet && isatty(STDERR_FILENO);
	enum sl_status s = sl_read_config(a, &config, &choices), printed = SL_OK;

	if (s != SL_OK)
		return s;
	s = sl_compare_plan(&config, &choices, a->full, &c);
	c.argv = a->argv;
	/* A stopped comparison keeps no results, so its batches are cancelled after one second. */
	sl_cli_control.cancel_after = 1;
	sl_signals_begin_work();
	if (s == SL_OK)
		s = sl_compare(&c, &sl_cli_control, shown ? show_case : NULL);
	if (shown)
		fprintf(stderr, "\r%-*s\r", SL_CASE_BYTES / 2, "");
	if (c.ended)
		printed = print_comparison(a, &c);
	sl_plan_free(c.plan);
	return s == SL_OK ? printed : s;
}
