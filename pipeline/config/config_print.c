/*
 * config_print.c - prints the tables of options in order, opening sections where the path changes.
 *
 * The text is also stored in run.json and compared on resume, so its order and format must not
 * change: a run of an earlier build would then not be accepted.
 */
#include "pipeline/config/config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The output buffer; used counts on when the buffer is full, as snprintf does. */
struct yaml_output {
	char *text;
	size_t size, used;
	char section[SL_KEY_BYTES]; /* the section of the last line */
};

/* Appends formatted text. */
SL_PRINTF(2, 3)
static void put(struct yaml_output *p, const char *format, ...)
{
	bool fits = p->used < p->size;
	va_list args;

	va_start(args, format);
	p->used += (size_t)vsnprintf(
		fits ? p->text + p->used : NULL, fits ? p->size - p->used : 0, format, args);
	va_end(args);
}

/* Prints the sections of path that are not open yet; returns the depth of its key. */
static int open_sections(struct yaml_output *p, const char *path)
{
	const char *dot, *from = path;
	int depth = 0;
	bool same = true;

	for (; (dot = strchr(from, '.')); from = dot + 1, depth++) {
		size_t n = (size_t)(dot - path);

		/* a section is open if it is a whole-component prefix of the last one */
		same = same && strncmp(p->section, path, n) == 0 &&
		       (p->section[n] == '.' || p->section[n] == '\0');
		if (same)
			continue;
		put(p, "%*s%.*s:\n", 2 * depth, "", (int)(dot - from), from);
	}
	snprintf(p->section, sizeof(p->section), "%.*s", (int)(from > path ? from - path - 1 : 0),
		path);
	return depth;
}

/* Prints "key: value". A list of one number is printed without brackets, as people write it. */
static void put_value(
	struct yaml_output *p, const struct sl_option *o, const char *path, void *value)
{
	size_t n = sl_value_items(o, value);
	bool listed = sl_value_listed(o) && !(o->kind == SL_KIND_REALS && n == 1);
	bool named = o->kind == SL_KIND_NAMED;
	char text[SL_VALUE_BYTES];

	put(p, "%s: %s", sl_key_leaf(path), named ? "{" : listed ? "[" : "");
	for (size_t i = 0; i < n; i++) {
		const void *item = sl_value_item(o, value, i);

		sl_value_print(o, item, text);
		put(p, "%s", i ? ", " : "");
		if (named)
			put(p, "%s: ", ((const struct sl_named_text *)item)->name);
		put(p, "%s", text);
	}
	put(p, "%s", named ? "}" : listed ? "]" : "");
}

/* Is the value not given and without default, so that omitting it reads back the same? */
static bool is_left_out(const struct sl_option *o, const void *value)
{
	return !o->fallback && sl_value_absent(o, value);
}

/* Is the key in the open section of its item? "objects[].sphere.radius" is in section "sphere". */
static bool is_in(const char *key, const char *section, size_t bytes)
{
	const char *from = strchr(key, '.') + 1, *dot = strchr(from, '.');

	return (dot ? (size_t)(dot - from) : 0) == bytes && strncmp(from, section, bytes) == 0;
}

/* Prints item i as {section: {key: value, ...}, key: value, ...}; o: the first key of items. */
static void put_item(struct yaml_output *p, const struct sl_option *o, const struct sl_option *end,
	size_t i, char *base)
{
	const char *section = "", *comma = "";
	size_t bytes = 0;

	put(p, "{");
	for (; o < end && sl_option_of_items(o); o++) {
		void *value = base + o->offset + i * o->stride;

		if (is_left_out(o, value))
			continue;
		if (!is_in(o->key, section, bytes)) {
			put(p, "%s", bytes ? "}" : "");
			section = strchr(o->key, '.') + 1;
			bytes = strchr(section, '.') ? strcspn(section, ".") : 0;
			if (bytes)
				put(p, "%s%.*s: {", comma, (int)bytes, section);
			comma = bytes ? "" : comma;
		}
		put(p, "%s", comma);
		put_value(p, o, o->key, value);
		comma = ", ";
	}
	put(p, "%s}\n", bytes ? "}" : "");
}

/* Prints a list of items, one per line; o is the list, and its keys follow in the table. */
static void put_items(struct yaml_output *p, const struct sl_option *o, const struct sl_option *end,
	const char *path, char *base)
{
	uint64_t n;
	int depth;

	memcpy(&n, base + o->offset, sizeof(n));
	if (n == 0)
		return;
	depth = open_sections(p, path);
	put(p, "%*s%s:\n", 2 * depth, "", sl_key_leaf(path));
	for (uint64_t i = 0; i < n; i++) {
		put(p, "%*s- ", 2 * (depth + 1), "");
		put_item(p, o + 1, end, i, base);
	}
}

/* Prints the options of one table. Keys of items are printed with their list. */
static void put_table(struct yaml_output *p, const struct sl_model *model,
	const struct sl_option *table, size_t n, bool free, void *base)
{
	char path[SL_KEY_BYTES];

	for (const struct sl_option *o = table; o < table + n; o++) {
		void *value = (char *)base + o->offset;

		if ((o->free && !free) || sl_option_of_items(o))
			continue;
		sl_option_path(model, o, path);
		if (o->kind == SL_KIND_ITEMS) {
			put_items(p, o, table + n, path, (char *)base);
		} else if (!is_left_out(o, value)) {
			put(p, "%*s", 2 * open_sections(p, path), "");
			put_value(p, o, path, value);
			put(p, "\n");
		}
	}
}

/* Prints the options of the model; at least its name, so that the output has a model. */
static void put_model(struct yaml_output *p, const struct sl_model *model, bool free, void *base)
{
	size_t before = p->used;

	put_table(p, model, model->options, model->n_options, free, base);
	if (p->used == before) /* no line with the name was printed */
		put(p, "model:\n  %s: {}\n", model->name);
}

size_t sl_config_print(const struct sl_config *c, bool free, char *text, size_t size)
{
	struct yaml_output p = {text, size, 0, ""};
	struct sl_config copy = *c; /* sl_value_item() takes a pointer to non-const */
	size_t run = 0;

	if (size > 0)
		*text = '\0';
	/* the model is printed after section run, where people write it */
	while (run < sl_n_options && strncmp(sl_options[run].key, "run.", 4) == 0)
		run++;
	put_table(&p, NULL, sl_options, run, free, &copy);
	if (c->model)
		put_model(&p, c->model, free, copy.model_config.bytes);
	put_table(&p, NULL, sl_options + run, sl_n_options - run, free, &copy);
	return p.used;
}

/* Only section run, which is the first, has this key at this depth. */
const char *sl_config_particles_line(const char *text, size_t *bytes)
{
	static const char start[] = "\n  particles: ";
	const char *line = strstr(text, start);

	*bytes = 0;
	if (!line)
		return NULL;
	line++;
	*bytes = strcspn(line, "\n") + 1;
	return line;
}
