/* signals.c - signal handlers; they only set flags, write a fixed text and exit. */
#include "pipeline/cli/signals.h"

#include <signal.h>
#include <unistd.h>

struct sl_control sl_cli_control;
static volatile sig_atomic_t caught;  /* the first signal */
static volatile sig_atomic_t running; /* work is in flight that is worth ending in order */

/* Seconds from the first signal to the end of the program, whatever is in flight. */
enum { SECONDS_TO_END = 8 };

static void on_signal(int number)
{
	/* The second signal, or the alarm that the first one set. */
	if (caught)
		_exit(128 + (number == SIGALRM ? caught : number));
	if (!running)
		_exit(128 + number);
	caught = number;
	alarm(SECONDS_TO_END);
	atomic_store(&sl_cli_control.stop, 1);
}

/* SIGBUS: a mapped input file (files/map.h) became shorter, or its disk fails. */
static void on_lost_page(int number)
{
	static const char text[] =
		"sluice: an input file became shorter while it was read, or its disk fails; "
		"committed batches stay: restore the file and use --resume\n";

	(void)number;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(SL_DISK);
	_exit(SL_DISK);
}

void sl_signals_catch(void)
{
	static const int stopping[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGALRM};
	struct sigaction handle = {.sa_handler = on_signal}, lost = {.sa_handler = on_lost_page};
	struct sigaction ignore = {.sa_handler = SIG_IGN}, was;

	/* A signal that nohup or the shell ignores stays ignored. */
	for (size_t i = 0; i < sizeof(stopping) / sizeof(stopping[0]); i++)
		if (sigaction(stopping[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN)
			sigaction(stopping[i], &handle, NULL);
	/* With these ignored, a full file and a closed pipe are errors of write(). */
	sigaction(SIGBUS, &lost, NULL);
	sigaction(SIGXFSZ, &ignore, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
}

void sl_signals_begin_work(void)
{
	running = 1;
}

int sl_signals_exit_code(void)
{
	return 128 + caught;
}
