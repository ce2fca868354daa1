/* status.c - see status.h. The message buffer is thread-local. */
#include "status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char message[SL_MESSAGE_BYTES];

enum sl_status sl_fail(enum sl_status s, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	return s;
}

enum sl_status sl_add_context(enum sl_status s, const char *format, ...)
{
	char before[SL_MESSAGE_BYTES];
	va_list args;
	size_t used;

	if (s == SL_OK)
		return s;
	memcpy(before, message, sizeof(before));
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
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

const char *sl_status_name(enum sl_status s)
{
	switch (s) {
#define SL_STATUS(name, code, meaning) \
	case SL_##name:                \
		return #name;
#include "status.def"
#undef SL_STATUS
	}
	return "UNKNOWN";
}

const char *sl_status_meaning(enum sl_status s)
{
	switch (s) {
#define SL_STATUS(name, code, meaning) \
	case SL_##name:                \
		return meaning;
#include "status.def"
#undef SL_STATUS
	}
	return "unknown status";
}
