/*
 * command_help.c - the commands about the program itself: list, help and version.
 *
 * They read no configuration and need no device.
 */
#include <stdio.h>

#include "pipeline/cli/cli.h"
#include "pipeline/help/help.h"

enum sl_status sl_command_list(struct sl_args *a)
{
	return a->devices ? sl_help_devices(a->json, stdout) : sl_help_list(a->json, stdout);
}

enum sl_status sl_command_help(struct sl_args *a)
{
	return a->markdown ? sl_help_markdown(stdout) : sl_help(a->operands[0], stdout);
}

enum sl_status sl_command_version(struct sl_args *a)
{
	(void)a;
	sl_version_print(stdout);
	return SL_OK;
}
