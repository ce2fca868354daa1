/* completion.c - finds what the last word of a command line is, and prints what can replace it. */
#include "pipeline/help/help.h"

#include <ctype.h>
#include <string.h>

#include "pipeline/text/text.h"

enum { NONE = -1, UNKNOWN = -2 };

void sl_offer_part(const struct sl_last_word *last, const char *word, size_t n, const char *help)
{
	size_t typed = strlen(last->text + last->lead);

	if (typed <= n && strncmp(word, last->text + last->lead, typed) == 0)
		fprintf(last->out, "%.*s%.*s%s%s\n", (int)last->lead, last->text, (int)n, word,
			help ? "\t" : "", help ? help : "");
}

void sl_offer(const struct sl_last_word *last, const char *word)
{
	sl_offer_part(last, word, strlen(word), NULL);
}

/* --- values that a help text lists ------------------------------------------------------------ */

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

static void offer_list(const struct sl_last_word *last, const char *text, const char *end)
{
	for (const char *next; text < end; text = next) {
		size_t n = item_length(text, end, &next);

		if (is_word(text, n))
			sl_offer_part(last, text, n, NULL);
	}
}

void sl_offer_value(const struct sl_last_word *last, const char *name, const char *help)
{
	if (strstr(name, "FILE") || strstr(name, "PATH") || strstr(name, "CONFIG") ||
		strcmp(name, "IN...") == 0)
		fputs(":files\n", last->out);
	else if (strstr(name, "DIR"))
		fputs(":folders\n", last->out);
	for (const char *at = help; at; at = strstr(at, ": ")) {
		at += at == help ? 0 : 2;
		if (is_list(at, at + strcspn(at, ";"))) {
			offer_list(last, at, at + strcspn(at, ";"));
			break;
		}
	}
}

/* --- the command line ------------------------------------------------------------------------- */

static int find_command(const struct sl_completed_program *p, const char *word)
{
	const char *name, *help;

	for (int c = 0; p->command(c, &name, &help); c++)
		if (strcmp(word, name) == 0)
			return c;
	return UNKNOWN;
}

/* The option of the n bytes at word if it has a value, or NONE. */
static int find_option(const struct sl_completed_program *p, const char *word, size_t n)
{
	struct sl_completed_option o;

	for (int i = 0; n > 2 && p->option(i, &o); i++)
		if (o.value[0] && strlen(o.name) == n - 2 && strncmp(word + 2, o.name, n - 2) == 0)
			return i;
	return NONE;
}

static void offer_options(
	const struct sl_completed_program *p, const struct sl_last_word *last, int command)
{
	struct sl_completed_option o;

	for (int i = 0; p->option(i, &o); i++)
		if (p->takes(command, i))
			sl_offer_part(last, sl_said("--%s", o.name), strlen(o.name) + 2, o.help);
}

static void offer_commands(const struct sl_completed_program *p, const struct sl_last_word *last)
{
	const char *name, *help;

	for (int c = 0; p->command(c, &name, &help); c++)
		sl_offer_part(last, name, strlen(name), help);
}

/* The command is the first word that is no option and no value of an option. */
void sl_complete(const struct sl_completed_program *p, int n, char **words, FILE *out)
{
	struct sl_last_word last = {n > 0 ? words[n - 1] : "", 0, out};
	int command = NONE, option = NONE;

	for (int w = 0; w < n - 1; w++) {
		if (option != NONE)
			option = NONE;
		else if (words[w][0] == '-')
			option = find_option(p, words[w], strlen(words[w]));
		else if (command == NONE)
			command = find_command(p, words[w]);
	}
	if (option == NONE && last.text[0] == '-' && strchr(last.text, '=')) {
		last.lead = strcspn(last.text, "=") + 1;
		option = find_option(p, last.text, last.lead - 1);
		if (option == NONE)
			return;
	}
	if (option != NONE)
		p->values(&last, option);
	else if (last.text[0] == '-' && command != UNKNOWN)
		offer_options(p, &last, command);
	else if (command == NONE)
		offer_commands(p, &last);
	else if (command != UNKNOWN)
		p->operands(&last, command);
}
