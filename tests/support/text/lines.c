/* lines.c - see lines.h. */
#include "tests/support/text/lines.h"

#include <math.h>
#include <stdlib.h>

#include "pipeline/text/text.h"
#include "tests/support/basic/check.h"

bool begins(const char *line, const char *with)
{
	return strncmp(line, with, strlen(with)) == 0;
}

void lines_add(struct lines *l, char *line)
{
	l->at = (char **)realloc(l->at, (l->n + 1) * sizeof(*l->at));
	assert_non_null(l->at);
	l->at[l->n++] = line;
}

struct lines lines_of(char *text)
{
	struct lines l = {.text = text};

	for (char *line = text; line && *line;) {
		char *end = strchr(line, '\n');

		lines_add(&l, line);
		if (end)
			*end = '\0';
		line = end ? end + 1 : NULL;
	}
	while (l.n > 0 && l.at[l.n - 1][0] == '\0')
		l.n--;
	return l;
}

void lines_free(struct lines *l)
{
	free(l->at);
	free(l->text);
}

/* --- comparison ------------------------------------------------------------------------------- */

static bool same_line(const char *want, const char *found)
{
	for (; begins(want, "<n>") || (!begins(want, "...") && *want && *want == *found); want++) {
		char *end;

		if (!begins(want, "<n>")) {
			found++;
			continue;
		}
		if (!isfinite(strtod(found, &end)) || end == found)
			return false;
		found = end;
		want += 2;
	}
	if (!begins(want, "..."))
		return *want == *found;
	for (want += 3; !same_line(want, found); found++)
		if (!*found)
			return false;
	return true;
}

/*
 * Matches the lines from i and k on. *i_most and *k_most are the furthest lines that were compared.
 */
static bool match_from(const struct lines *want, size_t i, const struct lines *found, size_t k,
	size_t *i_most, size_t *k_most)
{
	bool matches = false;

	if (i >= *i_most)
		*i_most = i, *k_most = k;
	if (i < want->n && strcmp(want->at[i], "...") == 0) {
		for (; !matches && k <= found->n; k++)
			matches = match_from(want, i + 1, found, k, i_most, k_most);
		return matches;
	}
	if (i == want->n || k == found->n)
		return i == want->n && k == found->n;
	return same_line(want->at[i], found->at[k]) &&
	       match_from(want, i + 1, found, k + 1, i_most, k_most);
}

bool lines_match(const struct lines *want, const struct lines *found, size_t *i, size_t *k)
{
	*i = *k = 0;
	return match_from(want, 0, found, 0, i, k);
}

/* The first of the lines from at to end - 1 that matches, or end. */
static size_t find_line(const struct lines *found, size_t at, const char *want)
{
	while (at < found->n && !same_line(want, found->at[at]))
		at++;
	return at;
}

void lines_update(FILE *out, const struct lines *want, const struct lines *found, const char *mark)
{
	size_t i = 0, k = 0, n;

	while (k < found->n) {
		for (n = i; n < want->n && !same_line(want->at[n], found->at[k]);)
			n++;
		if (i < want->n && strcmp(want->at[i], "...") == 0) {
			n = i + 1 < want->n ? find_line(found, k, want->at[i + 1]) : found->n;
			if (n < found->n || i + 1 == want->n)
				fprintf(out, "%s...\n", mark), k = n;
			i++;
			continue;
		}
		fprintf(out, "%s%s\n", mark, n < want->n ? want->at[n] : found->at[k++]);
		k += n < want->n;
		i = n < want->n ? n + 1 : i;
	}
}

/* --- JSON as lines ---------------------------------------------------------------------------- */

static void print_node(FILE *out, const struct sl_yaml *tree, sl_node node, const char *name)
{
	enum sl_node_kind kind = sl_yaml_kind(tree, node);
	const size_t n = sl_yaml_size(tree, node);
	char below[512];

	if (kind == SL_SCALAR || n == 0)
		fprintf(out, "%s %s\n", name,
			kind == SL_SCALAR ? sl_yaml_text(tree, node, NULL)
			: kind == SL_LIST ? "[]"
					  : "{}");
	for (size_t i = 0; kind != SL_SCALAR && i < n; i++) {
		sl_node key, value = sl_yaml_item(tree, node, i, &key);

		if (kind == SL_LIST)
			snprintf(below, sizeof(below), "%s[%zu]", name, i);
		else
			snprintf(below, sizeof(below), "%s%s%s", name, *name ? "." : "",
				sl_yaml_text(tree, key, NULL));
		print_node(out, tree, value, below);
	}
}

char *json_as_lines(char *json)
{
	struct sl_yaml_problem problem;
	struct sl_yaml *tree;
	char *text = NULL;
	size_t bytes;
	FILE *out;

	if (sl_yaml_parse(json, strlen(json), &tree, &problem) != SL_OK)
		return json;
	out = open_memstream(&text, &bytes);
	assert_non_null(out);
	print_node(out, tree, SL_YAML_ROOT, "");
	fclose(out);
	sl_yaml_free(tree);
	free(json);
	return text;
}
