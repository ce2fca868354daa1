/* printable.c - see printable.h. */
#include "printable.h"

#include <string.h>

size_t sl_utf8_decode(const unsigned char *text, uint32_t *point)
{
	/* the smallest code point that needs n bytes; smaller ones are overlong forms */
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t n = text[0] < 0x80   ? 1
	           : text[0] < 0xc0 ? 0
	           : text[0] < 0xe0 ? 2
	           : text[0] < 0xf0 ? 3
	           : text[0] < 0xf8 ? 4
	                            : 0;

	*point = n < 2 ? text[0] : text[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		*point = *point << 6 | (text[i] & 0x3fu);
	}
	if (n > 1 && (*point < least[n] || *point > 0x10ffff || *point >> 11 == 0xd800 >> 11))
		return 0;
	return n;
}

size_t sl_printable_next(const char *text, char to[SL_PRINTABLE_BYTES], size_t *used)
{
	static const char digits[] = "0123456789abcdef";
	uint32_t point;
	size_t n = sl_utf8_decode((const unsigned char *)text, &point);

	*used = n > 0 ? n : 1;
	if (n > 0 && point >= 0x20 && (point < 0x7f || point >= 0xa0)) {
		memcpy(to, text, n);
		return n;
	}
	for (size_t i = 0; i < *used; i++) {
		unsigned char byte = (unsigned char)text[i];
		const char escape[] = {'\\', 'x', digits[byte >> 4], digits[byte & 15]};

		memcpy(to + i * sizeof(escape), escape, sizeof(escape));
	}
	return *used * 4;
}

void sl_printable(char *to, size_t size, const char *text)
{
	char next[SL_PRINTABLE_BYTES];
	size_t at = 0, used, n;

	for (; *text; text += used, at += n) {
		n = sl_printable_next(text, next, &used);
		if (at + n >= size)
			break;
		memcpy(to + at, next, n);
	}
	to[at] = '\0';
}
