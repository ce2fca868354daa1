/*
 * text_memory.c - a text collected in memory is whole. Lack of memory for any part: help in
 * faults/faults.
 */
#include "pipeline/text/text.h"

#include <stdlib.h>

#include "tests/support/basic/check.h"

TEST(texts_of_all_lengths_are_whole)
{
	static const size_t length[] = {0, 1, 4095, 4096, 4097, 8191, 8192, 8193, 100000};

	for (size_t i = 0; i < 2 * sizeof(length) / sizeof(length[0]); i++) {
		const int n = (int)length[i / 2];
		struct sl_text_memory t;
		size_t bytes;
		char *text;

		assert_ok(sl_text_memory_begin(&t));
		for (int k = 0; i % 2 == 0 && k < n; k++)
			fputc('a' + k % 26, t.out);
		if (i % 2 ==
			1) /* longer than the buffer of the stream, so it reaches the memory at once */
			fprintf(t.out, "%*s", n, "");
		assert_ok(sl_text_memory_end(&t, "letters", &text, &bytes));
		assert_int_equal(bytes, n);
		assert_int_equal(text[n], '\0');
		for (int k = 0; k < n; k++)
			assert_int_equal(text[k], i % 2 ? ' ' : 'a' + k % 26);
		free(text);
	}
}
