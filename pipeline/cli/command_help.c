/*
 * command_help.c - the commands about the program itself: list, help and version.
 *
 * They read no configuration and need no device.
 */
#include <stdio.h>

#include "pipeline/cli/commands.h"
#include "pipeline/help/help.h"
#include "pipeline/help/help_markdown.h"
#include "pipeline/help/list.h"
#include "pipeline/help/version.h"
#include "pipeline/manual/man_page.h"
#include "pipeline/manual/sluice_manual.h"
#include "pipeline/text/messages.h"

enum sl_status sl_command_list(struct sl_args *a)
{
	return a->devices ? sl_help_devices(a->json, stdout) : sl_help_list(a->json, stdout);
}

/* The page of the program, or of the command word. */
static enum sl_status print_page(const char *word)
{
	char shown[SL_SHOWN_BYTES];
	enum sl_command c = word ? sl_command_find(word) : SL_COMMAND_NONE;

	if (word && c == SL_COMMAND_NONE)
		return sl_fail(SL_USAGE,
			"help --man %s: only commands have a manual page; see sluice --help for "
			"commands, and sluice help without --man for other words",
			sl_show(shown, word));
	sl_man_page(sl_manual_of_sluice(), word ? (int)c : -1, stdout);
	return SL_OK;
}

enum sl_status sl_command_help(struct sl_args *a)
{
	const char *word = a->operands[0];

	if (a->markdown + a->man + (a->completion != NULL) > 1)
		return sl_fail(SL_USAGE,
			"--markdown, --man and --completion exclude each other, because each prints "
			"another text; use one of them");
	if (a->completion && word)
		return sl_fail(SL_USAGE,
			"help --completion prints all commands and options, so it takes no word; "
			"remove the word");
	if (a->completion)
		return sl_manual_completion(sl_manual_of_sluice(), a->completion, stdout);
	if (a->man)
		return print_page(word);
	return a->markdown ? sl_help_markdown(stdout) : sl_help(word, stdout);
}

enum sl_status sl_command_version(struct sl_args *a)
{
	(void)a;
	sl_version_print(stdout);
	return SL_OK;
}
