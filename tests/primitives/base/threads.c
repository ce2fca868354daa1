/*
 * threads.c - tests that a started thread leaves signals to the caller, has the stack that it was given, and
 * prints numbers with a decimal point.
 */
#include "primitives/base/threads.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/basic/check.h"
#include "tests/support/basic/comma_locale.h"

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

TEST(threads_leave_signals_to_the_caller)
{
	struct seen s = {.stack_bytes = 0};
	sigset_t before, after;
	struct sl_thread_handle thread;

	sigemptyset(&before);
	sigaddset(&before, SIGUSR1);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	assert_int_equal(sl_thread_start(STACK_BYTES, look, &s, &thread), 0);
	pthread_join(thread.id, NULL);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	assert_true(sigismember(&s.blocked, SIGINT) && sigismember(&s.blocked, SIGTERM));
	assert_false(sigismember(&s.blocked, SIGBUS));
	assert_false(sigismember(&after, SIGINT));
	assert_true(sigismember(&after, SIGUSR1));
	assert_int_equal(s.stack_bytes, STACK_BYTES);
}

TEST(wrong_stack_is_refused)
{
	struct seen s;
	struct sl_thread_handle thread;
	sigset_t after;

	assert_int_equal(sl_thread_start(1, look, &s, &thread), EINVAL);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	assert_false(sigismember(&after, SIGINT));
}

static void *print(void *text)
{
	snprintf((char *)text, 8, "%.1f", strtod("2.5", NULL));
	return NULL;
}

TEST(threads_have_a_decimal_point)
{
	struct sl_thread_handle thread;
	locale_t before;
	char text[8];

	set_comma_locale();
	assert_int_equal(sl_thread_start(STACK_BYTES, print, text, &thread), 0);
	pthread_join(thread.id, NULL);
	assert_string_equal(text, "2.5");
	print(text);
	assert_string_equal(text, "2,0");
	before = sl_plain_locale();
	print(text);
	assert_string_equal(text, "2.5");
	uselocale(before);
	print(text);
	assert_string_equal(text, "2,0");
	setlocale(LC_ALL, "C");
}
