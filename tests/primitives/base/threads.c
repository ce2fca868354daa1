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
#include "tests/support/program/fixture.h"

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

/* Compiles in 10 ms; de_DE.UTF-8 takes 2 s because of its character tables. */
static const char definition[] = "comment_char %\n"
				 "escape_char /\n"
				 "LC_CTYPE\n"
				 "copy \"POSIX\"\n"
				 "END LC_CTYPE\n"
				 "LC_NUMERIC\n"
				 "decimal_point \"<U002C>\"\n"
				 "thousands_sep \"<U002E>\"\n"
				 "grouping 3;3\n"
				 "END LC_NUMERIC\n";

/* Compiles a locale with a decimal comma with localedef, and sets it for this process. */
static void set_comma_locale(void)
{
	bool set;

	folder_write(&folder, "definition", definition, sizeof(definition) - 1);
	setenv("LOCPATH", folder.path, 1);
	/* localedef exits with 1 after a mere warning, so only setlocale() shows whether it worked */
	set = system("cd $LOCPATH && localedef -c -i ./definition -f ANSI_X3.4-1968 ./comma "
		     ">/dev/null 2>&1") >= 0 &&
	      setlocale(LC_ALL, "comma");
	if (!set)
		skip_test(
			"the test compiles a locale with a decimal comma, which fails here; install "
			"the packages libc-bin and locales");
	assert_string_equal(localeconv()->decimal_point, ",");
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
