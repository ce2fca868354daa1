/* threads.c - tests that a started thread leaves signals to the caller and has the stack that it was given. */
#include "primitives/base/threads.h"

#include <errno.h>
#include <signal.h>

#include "tests/support/basic/check.h"

enum { STACK_BYTES = 1 << 20 };

struct seen {
	sigset_t blocked;
	size_t stack_bytes;
};

static void *look(void *ctx)
{
	struct seen *s = (struct seen *)ctx;
	pthread_attr_t attributes;

	pthread_sigmask(SIG_SETMASK, NULL, &s->blocked);
	if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
		pthread_attr_getstacksize(&attributes, &s->stack_bytes);
		pthread_attr_destroy(&attributes);
	}
	return NULL;
}

static void threads_leave_signals_to_the_caller(void **state)
{
	struct seen s = {.stack_bytes = 0};
	sigset_t before, after;
	pthread_t thread;

	(void)state;
	sigemptyset(&before);
	sigaddset(&before, SIGUSR1);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	assert_int_equal(sl_thread_start(STACK_BYTES, look, &s, &thread), 0);
	pthread_join(thread, NULL);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	assert_true(sigismember(&s.blocked, SIGINT) && sigismember(&s.blocked, SIGTERM));
	assert_false(sigismember(&s.blocked, SIGBUS));
	assert_false(sigismember(&after, SIGINT));
	assert_true(sigismember(&after, SIGUSR1));
	assert_int_equal(s.stack_bytes, STACK_BYTES);
}

static void wrong_stack_is_refused(void **state)
{
	struct seen s;
	pthread_t thread;
	sigset_t after;

	(void)state;
	assert_int_equal(sl_thread_start(1, look, &s, &thread), EINVAL);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	assert_false(sigismember(&after, SIGINT));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_leave_signals_to_the_caller),
		cmocka_unit_test(wrong_stack_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
