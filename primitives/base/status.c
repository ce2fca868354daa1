/* status.c - see status.h. The message buffer is thread-local. */
#include "status.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "printable.h"

static _Thread_local char message[SL_MESSAGE_BYTES];

/* Formats to a buffer of SL_MESSAGE_BYTES, printable. */
SL_PRINTF(2, 0)
static void format_printable(char *to, const char *format, va_list args)
{
	char text[SL_MESSAGE_BYTES];

	vsnprintf(text, sizeof(text), format, args);
	sl_printable(to, SL_MESSAGE_BYTES, text);
}

enum sl_status sl_fail(enum sl_status s, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	format_printable(message, format, args);
	va_end(args);
	return s;
}

/* The message before stays as it is: it is printable, and a list of problems has several lines. */
enum sl_status sl_add_context(enum sl_status s, const char *format, ...)
{
	char before[SL_MESSAGE_BYTES];
	va_list args;
	size_t used;

	if (s == SL_OK)
		return s;
	memcpy(before, message, sizeof(before));
	va_start(args, format);
	format_printable(message, format, args);
	va_end(args);
	used = strlen(message);
	if (snprintf(message + used, sizeof(message) - used, ": %s", before) < 0)
		message[used] = '\0';
	return s;
}

const char *sl_last_error(void)
{
	return message;
}

void sl_set_last_error(const char *text)
{
	snprintf(message, sizeof(message), "%s", text);
}

/* The name of a status, or its meaning. */
static const char *text_of(enum sl_status s, bool meant)
{
	switch (s) {
#define SL_STATUS(name, code, meaning) \
	case SL_##name:                \
		return meant ? meaning : #name;
#include "status.def"
#undef SL_STATUS
	}
	return meant ? "unknown status" : "UNKNOWN";
}

const char *sl_status_name(enum sl_status s)
{
	return text_of(s, false);
}

const char *sl_status_meaning(enum sl_status s)
{
	return text_of(s, true);
}
