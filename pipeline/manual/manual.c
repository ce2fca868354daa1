/*
 * manual.c - what a help text says about values, and the choice of the writer for a shell.
 */
#include "pipeline/manual/manual.h"

#include <assert.h>
#include <ctype.h>
#include <stdarg.h>
#include <string.h>

#include "pipeline/manual/completion_bash.h"
#include "pipeline/manual/completion_fish.h"
#include "pipeline/manual/completion_zsh.h"
#include "pipeline/text/messages.h"

/* The tables of a program are constants, so a text that does not fit is found by the first test. */
void sl_manual_add(struct sl_manual *m, const char *format, ...)
{
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vsnprintf(m->text + m->used, sizeof(m->text) - m->used, format, arguments);
	va_end(arguments);
	assert(n >= 0 && (size_t)n < sizeof(m->text) - m->used);
	m->used += (size_t)n;
}

/* The last space is dropped, so that each word can be added with a space after it. */
const char *sl_manual_end(struct sl_manual *m)
{
	size_t begin = m->used;

	while (begin > 0 && m->text[begin - 1] != '\0')
		begin--;
	if (m->used > begin && m->text[m->used - 1] == ' ')
		m->used--;
	m->text[m->used++] = '\0';
	assert(m->used < sizeof(m->text));
	return m->text + begin;
}

/* The length of the item at text, which ", " or " or " ends. *next: where the next item begins. */
static size_t item_length(const char *text, const char *end, const char **next)
{
	for (const char *at = text; at < end; at++) {
		if (strncmp(at, ", ", 2) == 0 || strncmp(at, " or ", 4) == 0) {
			*next = at + (*at == ',' ? 2 : 4);
			return (size_t)(at - text);
		}
	}
	*next = end;
	return (size_t)(end - text);
}

/* Is the text up to end a list of two or more words? */
static bool is_list(const char *text, const char *end)
{
	int n = 0;

	for (const char *next; text < end; text = next, n++) {
		size_t length = item_length(text, end, &next);

		if (length == 0 || memchr(text, ' ', length))
			return false;
	}
	return n >= 2;
}

/* Is the item a word to type, not a placeholder such as cuda:N? */
static bool is_word(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (isupper((unsigned char)text[i]) || strchr("[]|", text[i]))
			return false;
	return true;
}

const char *sl_manual_words_of_help(struct sl_manual *m, const char *help)
{
	for (const char *at = help; at; at = strstr(at, ": ")) {
		const char *end, *next;

		at += at == help ? 0 : 2;
		end = at + strcspn(at, ";");
		if (!is_list(at, end))
			continue;
		for (; at < end; at = next) {
			size_t n = item_length(at, end, &next);

			if (is_word(at, n))
				sl_manual_add(m, "%.*s ", (int)n, at);
		}
		break;
	}
	return sl_manual_end(m);
}

enum sl_complete sl_manual_complete_by(const char *name)
{
	if (strstr(name, "FILE") || strstr(name, "PATH") || strstr(name, "CONFIG") ||
		strcmp(name, "IN...") == 0)
		return SL_COMPLETE_FILES;
	return strstr(name, "DIR") ? SL_COMPLETE_FOLDERS : SL_COMPLETE_WORDS;
}

bool sl_manual_takes(const struct sl_manual_option *option, int c)
{
	if (c < 0)
		return option->commands == SL_EVERY_COMMAND || option->commands == SL_NO_COMMAND;
	return (option->commands >> c & 1) != 0;
}

enum sl_status sl_manual_completion(const struct sl_manual *m, const char *shell, FILE *out)
{
	static const struct {
		const char *shell;
		void (*print)(const struct sl_manual *m, FILE *out);
	} writers[] = {{"bash", sl_completion_bash}, {"zsh", sl_completion_zsh},
		{"fish", sl_completion_fish}};
	char shown[SL_SHOWN_BYTES];

	for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); i++)
		if (strcmp(shell, writers[i].shell) == 0) {
			writers[i].print(m, out);
			return SL_OK;
		}
	return sl_fail(SL_USAGE,
		"--completion %s: there is no completion for this shell; use bash, "
		"zsh or fish",
		sl_show(shown, shell));
}
