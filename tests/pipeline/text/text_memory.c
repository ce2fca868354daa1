/* text_memory.c - a text collected in memory is whole, and lack of memory for any part is reported. */
#include "pipeline/text/text_memory.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/basic/check.h"

/* The call of realloc() that fails, from 1; 0: none. */
static int growths, fail_at;

void *__real_realloc(void *p, size_t bytes);
void *__wrap_realloc(void *p, size_t bytes);
void *__wrap_realloc(void *p, size_t bytes)
{
	growths++;
	return growths == fail_at ? NULL : __real_realloc(p, bytes);
}

TEST(texts_of_all_lengths_are_whole)
{
	static const size_t length[] = {0, 1, 4095, 4096, 4097, 8191, 8192, 8193, 100000};

	for (size_t i = 0; i < sizeof(length) / sizeof(length[0]); i++) {
		struct sl_text_memory t;
		size_t bytes;
		char *text;

		assert_ok(sl_text_memory_begin(&t));
		for (size_t k = 0; k < length[i]; k++)
			fputc('a' + (int)(k % 26), t.out);
		assert_ok(sl_text_memory_end(&t, "letters", &text, &bytes));
		assert_int_equal(bytes, length[i]);
		assert_int_equal(text[bytes], '\0');
		for (size_t k = 0; k < bytes; k++)
			assert_int_equal(text[k], 'a' + (int)(k % 26));
		free(text);
	}
}

/* A line longer than the buffer of the stream reaches the memory at once. */
TEST(a_long_line_is_whole)
{
	struct sl_text_memory t;
	size_t bytes;
	char *text;

	assert_ok(sl_text_memory_begin(&t));
	fprintf(t.out, "%*d\n%20000d", 10000, 1, 2);
	assert_ok(sl_text_memory_end(&t, "numbers", &text, &bytes));
	assert_int_equal(bytes, 30001);
	assert_int_equal(text[9999], '1');
	assert_int_equal(text[30000], '2');
	free(text);
}

/* Each growth of the memory fails once, and the text after it would fit again. */
TEST(a_lost_part_is_reported)
{
	for (fail_at = 1; fail_at <= 3; fail_at++) {
		struct sl_text_memory t;
		size_t bytes;
		char *text;

		growths = 0;
		assert_ok(sl_text_memory_begin(&t));
		fprintf(t.out, "%20000d\n", 1);
		fprintf(t.out, "%60000d\n", 2);
		fprintf(t.out, "%90000d\n", 3);
		fputs("last\n", t.out);
		assert_fails(sl_text_memory_end(&t, "lines", &text, &bytes), SL_HOST_MEMORY,
			"lines: host memory: ");
		assert_null(text);
		assert_int_equal(bytes, 0);
		assert_int_equal(growths, fail_at);
	}
	fail_at = 0;
}
