/*
 * status.c - tests the error message of a thread: set, prefixed with context, truncated, one per
 * thread.
 */
#include "primitives/base/status.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "tests/support/basic/check.h"

static enum sl_status pass_up(int left)
{
	SL_TRY(left ? sl_fail(SL_DISK, "write failed (%d bytes left); free space", left) : SL_OK);
	return SL_OK;
}

TEST(messages_are_formatted_and_get_context)
{
	enum sl_status s;

	assert_int_equal(sl_fail(SL_USAGE, "another"), SL_USAGE);
	assert_int_equal(sl_add_context(pass_up(0), "batch %d", 17), SL_OK);
	assert_string_equal(sl_last_error(), "another");
	s = sl_add_context(sl_add_context(pass_up(7), "stage %s", "write"), "batch %d", 17);
	assert_int_equal(s, SL_DISK);
	assert_string_equal(
		sl_last_error(), "batch 17: stage write: write failed (7 bytes left); free space");
	sl_set_last_error("%s %n from a worker"); /* a text, not a format */
	assert_string_equal(sl_last_error(), "%s %n from a worker");
}

/* The new context is kept, the end of the message is cut; the last byte stays NUL. */
TEST(long_messages_are_truncated)
{
	char text[2 * SL_MESSAGE_BYTES];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	sl_fail(SL_DISK, "a%s", text);
	assert_int_equal(strlen(sl_last_error()), SL_MESSAGE_BYTES - 1);
	assert_int_equal(sl_last_error()[0], 'a');
	for (int i = 0; i < 3; i++) {
		sl_add_context(SL_DISK, "b");
		assert_int_equal(strlen(sl_last_error()), SL_MESSAGE_BYTES - 1);
		assert_memory_equal(sl_last_error(), "b: ", 3);
	}
	assert_memory_equal(sl_last_error(), "b: b: b: axx", 12);
	sl_add_context(SL_DISK, "c%s", text);
	assert_int_equal(strlen(sl_last_error()), SL_MESSAGE_BYTES - 1);
	assert_memory_equal(sl_last_error(), "cxx", 3);
}

static void *fail_elsewhere(void *fresh)
{
	*(bool *)fresh = sl_last_error()[0] == '\0';
	sl_fail(SL_DISK, "the other thread");
	return NULL;
}

TEST(each_thread_has_its_message)
{
	pthread_t thread;
	bool fresh = false;

	sl_fail(SL_DISK, "this thread");
	assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, &fresh), 0);
	pthread_join(thread, NULL);
	assert_true(fresh);
	assert_string_equal(sl_last_error(), "this thread");
}

/* Scripts depend on the values of the codes. */
TEST(codes_have_fixed_values_and_names)
{
	char text[512] = "";

	for (int code = 0; code < 256; code++) {
		const char *name = sl_status_name((enum sl_status)code);
		const size_t used = strlen(text);

		if (strcmp(name, "UNKNOWN") != 0)
			snprintf(text + used, sizeof(text) - used, "%s %d ", name, code);
	}
	assert_string_equal(text,
		"OK 0 USAGE 2 BAD_INPUT 3 DISK 4 HOST_MEMORY 5 DEVICE_MEMORY 6 DEVICE_FAILED 7 NO_DEVICE 8 "
		"PEER_LOST 9 OUTPUT_IN_USE 10 CHECK_FAILED 11 INTERNAL 70 STOPPED 128 ");
	assert_string_equal(sl_status_meaning(SL_HOST_MEMORY), "not enough host memory");
	assert_string_equal(sl_status_meaning((enum sl_status)1), "unknown status");
}
