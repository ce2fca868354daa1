/*
 * signals.h - how signals stop the program: the first signal stops a run in order, the second ends
 * the program at once.
 */
#ifndef SL_PIPELINE_CLI_SIGNALS_H
#define SL_PIPELINE_CLI_SIGNALS_H

#include "pipeline/run/run.h"

/* The control of the running command; handlers set its member stop, commands the others. */
extern struct sl_control sl_cli_control;

/* Installs the handlers. A signal that was ignored at the start stays ignored (nohup). */
void sl_signals_catch(void);

/* From now on the first signal stops the work in order; before, it ends the program at once. */
void sl_signals_begin_work(void);

/* The exit code of a run that was stopped: 128 + the signal. */
int sl_signals_exit_code(void);

#endif
