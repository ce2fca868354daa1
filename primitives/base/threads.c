/* threads.c - see threads.h. */
#include "primitives/base/threads.h"

#include <signal.h>

/* The C library owns this locale: making it allocates nothing, and it is never freed. */
locale_t sl_plain_locale(void)
{
	return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

static void *start(void *started)
{
	const struct sl_thread_handle *thread = (const struct sl_thread_handle *)started;

	(void)sl_plain_locale();
	return thread->body(thread->ctx);
}

int sl_thread_start(
	size_t stack_bytes, void *(*body)(void *), void *ctx, struct sl_thread_handle *thread)
{
	pthread_attr_t attributes;
	sigset_t blocked, old;
	int error = pthread_attr_init(&attributes);

	if (error != 0)
		return error;
	thread->body = body;
	thread->ctx = ctx;
	/* threads inherit the mask */
	sigfillset(&blocked);
	sigdelset(&blocked, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &blocked, &old);
	error = pthread_attr_setstacksize(&attributes, stack_bytes);
	if (error == 0)
		error = pthread_create(&thread->id, &attributes, start, thread);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attributes);
	return error;
}
