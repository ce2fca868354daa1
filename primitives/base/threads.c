/* threads.c - see threads.h. */
#include "primitives/base/threads.h"

#include <signal.h>

int sl_thread_start(size_t stack_bytes, void *(*body)(void *), void *ctx, pthread_t *thread)
{
	pthread_attr_t attributes;
	sigset_t blocked, old;
	int error = pthread_attr_init(&attributes);

	if (error != 0)
		return error;
	/* threads inherit the mask */
	sigfillset(&blocked);
	sigdelset(&blocked, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &blocked, &old);
	error = pthread_attr_setstacksize(&attributes, stack_bytes);
	if (error == 0)
		error = pthread_create(thread, &attributes, body, ctx);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attributes);
	return error;
}
