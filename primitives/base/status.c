/* status.c - names of the codes, and the story of the last failure (one per thread). */
#include "status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char story[SL_STORY_BYTES];

enum sl_status sl_fail(enum sl_status s, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(story, sizeof(story), format, args);
	va_end(args);
	return s;
}

enum sl_status sl_while(enum sl_status s, const char *format, ...)
{
	char told[SL_STORY_BYTES];
	va_list args;
	size_t used;

	if (s == SL_OK)
		return s;
	memcpy(told, story, sizeof(told));
	va_start(args, format);
	vsnprintf(story, sizeof(story), format, args);
	va_end(args);
	used = strlen(story);
	if (snprintf(story + used, sizeof(story) - used, ": %s", told) < 0)
		story[used] = '\0';
	return s;
}

const char *sl_story(void)
{
	return story;
}

void sl_retell(const char *told)
{
	snprintf(story, sizeof(story), "%s", told);
}

const char *sl_status_name(enum sl_status s)
{
	switch (s) {
#define STATUS(name, code, meaning) \
	case SL_##name:             \
		return #name;
#include "status.def"
#undef STATUS
	}
	return "UNKNOWN";
}

const char *sl_status_meaning(enum sl_status s)
{
	switch (s) {
#define STATUS(name, code, meaning) \
	case SL_##name:             \
		return meaning;
#include "status.def"
#undef STATUS
	}
	return "unknown status";
}
