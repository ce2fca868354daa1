/*
 * yaml.c - checks YAML text with libyaml's event API, then loads it with the document API.
 *
 * The document API resolves aliases and drops anchors, so it cannot refuse them. The first pass
 * looks at the events and refuses aliases, anchors, tags, further documents and deep nesting; the
 * second pass loads the tree; the last step refuses repeated keys and keys that are not text.
 */
#include "pipeline/text/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "primitives/device/device.h"

enum { LEVELS_MAX = 32 };

struct sl_yaml {
	yaml_document_t document;
};

/* --- problems --------------------------------------------------------------------------------- */

/* Sets *problem and fails with SL_BAD_INPUT. */
SL_PRINTF(3, 4)
static enum sl_status refuse(
	struct sl_yaml_problem *problem, yaml_mark_t at, const char *format, ...)
{
	va_list args;

	problem->line = at.line + 1;
	problem->column = at.column + 1;
	va_start(args, format);
	vsnprintf(problem->text, sizeof(problem->text), format, args);
	va_end(args);
	return sl_fail(SL_BAD_INPUT, "%s", problem->text);
}

/* Line and column of a byte offset: libyaml gives only the offset of an encoding error. */
static yaml_mark_t mark_of(const char *text, size_t offset)
{
	yaml_mark_t at = {0, 0, 0};

	for (size_t i = 0; i < offset; i++) {
		if (text[i] == '\n') {
			at.line++;
			at.column = 0;
		} else if (((unsigned char)text[i] & 0xc0) != 0x80) {
			at.column++;
		}
	}
	return at;
}

/*
 * Is the character at that place a tab? YAML forbids tabs as indentation, and they are invisible.
 */
static bool is_tab(const char *text, size_t bytes, yaml_mark_t at)
{
	return at.index < bytes && text[at.index] == '\t';
}

/* Reports the error of the parser, with its place. */
static enum sl_status refuse_syntax(
	const yaml_parser_t *p, const char *text, size_t bytes, struct sl_yaml_problem *problem)
{
	yaml_mark_t at = p->problem_mark;

	/* libyaml sets no problem text for some failed allocations */
	if (p->error == YAML_MEMORY_ERROR || !p->problem)
		return sl_fail(SL_HOST_MEMORY,
			"no memory to read %zu bytes of YAML; close other programs", bytes);
	if (p->error == YAML_READER_ERROR)
		return refuse(problem, mark_of(text, p->problem_offset),
			"this is not valid YAML (%s); save the file as UTF-8", p->problem);
	if (is_tab(text, bytes, at))
		return refuse(problem, at,
			"a tab is not allowed here: YAML is indented with spaces; use spaces");
	if (!p->context)
		return refuse(problem, at,
			"this is not valid YAML (%s); correct it here or in the lines above",
			p->problem);
	return refuse(problem, at,
		"this is not valid YAML (%s, %s that starts at %zu:%zu); correct it here or in the lines above",
		p->problem, p->context, p->context_mark.line + 1, p->context_mark.column + 1);
}

/* --- the events ------------------------------------------------------------------------------- */

/* Counters over the events so far. */
struct event_check {
	int depth, documents;
};

/* The message for an event that is refused, or NULL. */
static const char *refusal(struct event_check *g, const yaml_event_t *e)
{
	/* the same members of three kinds of events, of which they are the first */
	const bool scalar = e->type == YAML_SCALAR_EVENT,
		   node = scalar || e->type == YAML_SEQUENCE_START_EVENT ||
	                  e->type == YAML_MAPPING_START_EVENT;

	if (e->type == YAML_DOCUMENT_START_EVENT && g->documents++ > 0)
		return "a second document starts here, but only one is read; remove the line ---";
	if (e->type == YAML_ALIAS_EVENT)
		return "aliases are not allowed, because they can expand without limit; write the "
		       "value out";
	if (node && !scalar)
		g->depth++;
	if (e->type == YAML_SEQUENCE_END_EVENT || e->type == YAML_MAPPING_END_EVENT)
		g->depth--;
	if (node && e->data.scalar.anchor)
		return "anchors are not allowed, because only aliases use them; remove the word with &";
	if (node && e->data.scalar.tag)
		return "tags are not allowed, because the key determines the type; remove the word with !";
	return g->depth > LEVELS_MAX ? "this is nested more than 32 levels deep; use fewer levels"
	                             : NULL;
}

/* Makes a parser of text, which must outlive it. The caller deletes it in any case. */
static enum sl_status start_parser(const char *text, size_t bytes, yaml_parser_t *p)
{
	if (!yaml_parser_initialize(p))
		return sl_fail(SL_HOST_MEMORY, "no memory for a YAML parser; close other programs");
	yaml_parser_set_input_string(p, (const unsigned char *)text, bytes);
	return SL_OK;
}

/* First pass: reads all events and stops at the first that is refused. */
static enum sl_status check_events(const char *text, size_t bytes, struct sl_yaml_problem *problem)
{
	struct event_check g = {0, 0};
	SL_CLOSED_BY(yaml_parser_delete) yaml_parser_t p;
	bool more = true;

	SL_TRY(start_parser(text, bytes, &p));
	/* this pass also finds all syntax errors, so the second pass finds none */
	while (more) {
		SL_CLOSED_BY(yaml_event_delete) yaml_event_t e = {.type = YAML_NO_EVENT};
		const char *why;

		if (!yaml_parser_parse(&p, &e))
			return refuse_syntax(&p, text, bytes, problem);
		why = refusal(&g, &e);
		if (why)
			return refuse(problem, e.start_mark, "%s", why);
		more = e.type != YAML_STREAM_END_EVENT;
	}
	return g.documents > 0
	               ? SL_OK
	               : refuse(problem, mark_of(text, 0),
				 "the configuration is empty; write for example run: {particles: 1e6}");
}

/* --- keys ------------------------------------------------------------------------------------- */

/* The libyaml node of that number, or NULL. Numbers start at 1. */
static yaml_node_t *node_at(const struct sl_yaml *tree, sl_node node)
{
	/* libyaml's getters take a non-const document, but do not change it */
	return yaml_document_get_node((yaml_document_t *)&tree->document, node);
}

/* Orders keys by text, equal ones by address, which is their order in the document. */
static int by_text(const void *a, const void *b)
{
	const yaml_node_t *x = *(yaml_node_t *const *)a, *y = *(yaml_node_t *const *)b;
	int order = strcmp((char *)x->data.scalar.value, (char *)y->data.scalar.value);

	return order ? order : (x > y) - (x < y);
}

/*
 * Does a key close a bracket that it does not open? Then it is the end of a text that YAML cut at a
 * comma, as in {r: hypot(x, y)}. The reader of configurations puts such texts together or refuses
 * the key.
 */
static bool is_cut(const char *text)
{
	const char *close = strchr(text, ')');

	return close && !memchr(text, '(', (size_t)(close - text));
}

/* Refuses keys that are not text or are repeated; key has space for all keys of the mapping. */
static enum sl_status check_keys(const struct sl_yaml *tree, sl_node mapping, yaml_node_t **key,
	struct sl_yaml_problem *problem)
{
	size_t n = sl_yaml_size(tree, mapping);

	for (size_t i = 0; i < n; i++) {
		sl_node at;

		sl_yaml_item(tree, mapping, i, &at);
		key[i] = node_at(tree, at);
		if (key[i]->type != YAML_SCALAR_NODE ||
			strlen((char *)key[i]->data.scalar.value) != key[i]->data.scalar.length)
			return refuse(problem, key[i]->start_mark,
				"a key must be a plain word; write for example seed: 1");
	}
	/* sorting finds repeated keys in n log n: a text can have 10^5 keys */
	qsort(key, n, sizeof(*key), by_text);
	for (size_t i = 1; i < n; i++) {
		const char *text = (char *)key[i]->data.scalar.value;

		if (strcmp((char *)key[i - 1]->data.scalar.value, text) == 0 && !is_cut(text))
			return refuse(problem, key[i]->start_mark,
				"the key %s is repeated, and is first at %zu:%zu%s", sl_shown(text),
				key[i - 1]->start_mark.line + 1, key[i - 1]->start_mark.column + 1,
				sl_is_after_comma(text)
					? ": YAML reads a comma as a separator; write " SL_COMMA_ADVICE
					: "; remove one of them");
	}
	return SL_OK;
}

/* Checks the keys of all mappings. */
static enum sl_status check_mappings(const struct sl_yaml *tree, struct sl_yaml_problem *problem)
{
	SL_CLOSED_BY(sl_host_give) yaml_node_t **keys = NULL;
	size_t most = 0;

	for (sl_node i = 1; node_at(tree, i); i++)
		if (sl_yaml_size(tree, i) > most)
			most = sl_yaml_size(tree, i);
	/* one buffer for all mappings; lists are counted too, which only makes it larger */
	SL_TRY(sl_host_get(most, sizeof(*keys), &keys));
	for (sl_node i = 1; node_at(tree, i); i++)
		if (sl_yaml_kind(tree, i) == SL_MAPPING)
			SL_TRY(check_keys(tree, i, keys, problem));
	return SL_OK;
}

/* --- the tree --------------------------------------------------------------------------------- */

/* Second pass: loads the document. */
static enum sl_status load(
	const char *text, size_t bytes, struct sl_yaml *tree, struct sl_yaml_problem *problem)
{
	SL_CLOSED_BY(yaml_parser_delete) yaml_parser_t p;

	SL_TRY(start_parser(text, bytes, &p));
	return yaml_parser_load(&p, &tree->document) ? SL_OK
	                                             : refuse_syntax(&p, text, bytes, problem);
}

enum sl_status sl_yaml_parse(
	const char *text, size_t bytes, struct sl_yaml **tree, struct sl_yaml_problem *problem)
{
	*tree = NULL;
	*problem = (struct sl_yaml_problem){0, 0, ""};
	if (bytes > SL_YAML_BYTES)
		return refuse(problem, mark_of(text, 0),
			"the text has %zu bytes, at most %d are allowed", bytes, SL_YAML_BYTES);
	SL_TRY(check_events(text, bytes, problem));
	SL_TRY(sl_host_get_zeroed(1, sizeof(**tree), tree));
	SL_TRY(load(text, bytes, *tree, problem));
	return check_mappings(*tree, problem);
}

/* A tree that could not be loaded has an empty document, which libyaml can delete too. */
void sl_yaml_free(struct sl_yaml *tree)
{
	if (!tree)
		return;
	yaml_document_delete(&tree->document);
	sl_memory_give(SL_HOST, tree);
}

enum sl_node_kind sl_yaml_kind(const struct sl_yaml *tree, sl_node node)
{
	const yaml_node_t *n = node_at(tree, node);

	if (n && n->type == YAML_MAPPING_NODE)
		return SL_MAPPING;
	return n && n->type == YAML_SEQUENCE_NODE ? SL_LIST : SL_SCALAR;
}

void sl_yaml_place(const struct sl_yaml *tree, sl_node node, size_t *line, size_t *column)
{
	const yaml_node_t *n = node_at(tree, node);

	*line = n ? n->start_mark.line + 1 : 0;
	*column = n ? n->start_mark.column + 1 : 0;
}

size_t sl_yaml_inside(const struct sl_yaml *tree, sl_node node, size_t offset)
{
	const yaml_node_t *n = node_at(tree, node);
	size_t columns, quotes;

	if (!n || n->type != YAML_SCALAR_NODE || n->start_mark.line != n->end_mark.line)
		return 0;
	/* a plain scalar is as wide as its text, a quoted one has 2 more; other widths mean escapes
	   or characters of several bytes */
	columns = n->end_mark.column - n->start_mark.column;
	quotes = n->data.scalar.style == YAML_PLAIN_SCALAR_STYLE ? 0 : 2;
	return columns == n->data.scalar.length + quotes ? offset + quotes / 2 : 0;
}

const char *sl_yaml_text(const struct sl_yaml *tree, sl_node node, size_t *bytes)
{
	const yaml_node_t *n = node_at(tree, node);
	bool scalar = n && n->type == YAML_SCALAR_NODE;

	if (bytes)
		*bytes = scalar ? n->data.scalar.length : 0;
	return scalar ? (const char *)n->data.scalar.value : "";
}

size_t sl_yaml_size(const struct sl_yaml *tree, sl_node node)
{
	const yaml_node_t *n = node_at(tree, node);

	if (n && n->type == YAML_MAPPING_NODE)
		return (size_t)(n->data.mapping.pairs.top - n->data.mapping.pairs.start);
	if (n && n->type == YAML_SEQUENCE_NODE)
		return (size_t)(n->data.sequence.items.top - n->data.sequence.items.start);
	return 0;
}

sl_node sl_yaml_item(const struct sl_yaml *tree, sl_node node, size_t i, sl_node *key)
{
	const yaml_node_t *n = node_at(tree, node);
	bool mapping = n && n->type == YAML_MAPPING_NODE;

	if (key)
		*key = 0;
	if (i >= sl_yaml_size(tree, node))
		return 0;
	if (!mapping)
		return n->data.sequence.items.start[i];
	if (key)
		*key = n->data.mapping.pairs.start[i].key;
	return n->data.mapping.pairs.start[i].value;
}

/* A linear search; keys are unique, since sl_yaml_parse() refuses repeated ones. */
sl_node sl_yaml_get(const struct sl_yaml *tree, sl_node mapping, const char *path)
{
	size_t n = sl_yaml_kind(tree, mapping) == SL_MAPPING ? sl_yaml_size(tree, mapping) : 0;
	size_t bytes = strcspn(path, ".");

	for (size_t i = 0; i < n; i++) {
		sl_node at, value = sl_yaml_item(tree, mapping, i, &at);
		const char *key = sl_yaml_text(tree, at, NULL);

		if (strncmp(key, path, bytes) == 0 && key[bytes] == '\0')
			return path[bytes] ? sl_yaml_get(tree, value, path + bytes + 1) : value;
	}
	return 0;
}

/* Signs, blanks and leading letters are refused: the files of a run contain digits only. */
bool sl_yaml_u64(const struct sl_yaml *tree, sl_node node, uint64_t *value)
{
	size_t bytes;
	const char *text = sl_yaml_text(tree, node, &bytes);

	*value = 0;
	if (bytes == 0 || strspn(text, "0123456789") != bytes)
		return false;
	errno = 0;
	*value = strtoull(text, NULL, 10);
	return errno == 0; /* ERANGE: more than 64 bits */
}

uint64_t sl_yaml_number(const struct sl_yaml *tree, sl_node mapping, const char *path)
{
	uint64_t value;

	return sl_yaml_u64(tree, sl_yaml_get(tree, mapping, path), &value) ? value : 0;
}

double sl_yaml_real(const struct sl_yaml *tree, sl_node mapping, const char *path)
{
	const char *text = sl_yaml_text(tree, sl_yaml_get(tree, mapping, path), NULL);
	struct sl_decimal decimal;
	double value;

	return sl_decimal_scan(text, &decimal) && sl_decimal_to_double(&decimal, 0, &value) ? value
	                                                                                    : 0;
}
