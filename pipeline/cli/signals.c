/*
 * signals.c - signal handlers; they only set flags, write a fixed text and exit.
 *
 * The first signal sets the stop flag of the run, and an alarm limits the time until the end. The
 * second signal or the alarm ends the program at once. Both are safe: a file appears under its name
 * only when it is complete, and a batch counts only after its line of the manifest is written.
 */
#include "pipeline/cli/cli.h"

#include <signal.h>
#include <unistd.h>

struct sl_control sl_cli_control;
static volatile sig_atomic_t caught;  /* number of the first signal; 0: none */
static volatile sig_atomic_t running; /* sl_signals_begin_work() was called */

/*
 * Seconds from the first signal to the end of the program, whatever is in flight. Longer than the
 * time after which a run cancels its batches in flight (cancel_after in run.h, 6 s), so that a run
 * normally ends in order.
 */
enum { SECONDS_TO_END = 8 };

static void end_at_once(const char *text, size_t bytes, int code)
{
	if (write(STDERR_FILENO, text, bytes) < 0)
		_exit(code);
	_exit(code);
}

/* Only async-signal-safe calls: _exit, write, alarm, and a store to a lock-free atomic. */
static void on_signal(int number)
{
	static const char late[] =
		"sluice: stopped: the work in flight did not end within 8 s and is lost; "
		"committed batches are kept: sluice run --resume continues\n";

	/* the alarm that the first signal set */
	if (caught && number == SIGALRM)
		end_at_once(late, sizeof(late) - 1, 128 + caught);
	/* the second signal */
	if (caught)
		_exit(128 + number);
	if (!running)
		_exit(128 + number);
	caught = number;
	alarm(SECONDS_TO_END);
	atomic_store(&sl_cli_control.stop, SL_STOP_IN_ORDER);
}

/* SIGBUS: a mapped input file (struct sl_map) became shorter, or its disk fails. */
static void on_lost_page(int number)
{
	static const char text[] =
		"sluice: an input file became shorter while it was read, or its disk fails; "
		"committed batches are kept: restore the file and use --resume\n";

	(void)number;
	end_at_once(text, sizeof(text) - 1, SL_DISK);
}

void sl_signals_catch(void)
{
	/* SIGUSR1: batch queues can send it before the time limit of a job. */
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
