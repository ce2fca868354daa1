/* shell_text.c - parts that the scripts of several shells share. */
#include "pipeline/manual/shell_text.h"

#include <string.h>

void sl_shell_template(const struct sl_manual *m, const char *text, FILE *out)
{
	for (; *text; text++) {
		if (*text == '~')
			fputs(m->program, out);
		else
			fputc(*text, out);
	}
}

void sl_shell_value_options(const struct sl_manual *m, const char *separator, FILE *out)
{
	const char *before = "";

	for (int i = 0; i < m->n_options; i++) {
		if (!m->option[i].value.name[0])
			continue;
		fprintf(out, "%s%s", before, m->option[i].name);
		before = separator;
	}
}

void sl_shell_options_of(const struct sl_manual *m, int c, FILE *out)
{
	for (int i = 0; i < m->n_options; i++)
		if (sl_manual_takes(&m->option[i], c))
			fprintf(out, " %s", m->option[i].name);
}

void sl_shell_keys(const struct sl_manual *m, FILE *out)
{
	for (int i = 0; i < m->n_settings; i++)
		fprintf(out, " %s=", m->setting[i].key);
}

void sl_shell_escaped(const char *text, const char *characters, FILE *out)
{
	for (; *text; text++) {
		if (strchr(characters, *text))
			fputc('\\', out);
		fputc(*text, out);
	}
}
