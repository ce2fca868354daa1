/*
 * shipped_configs.c - every key of every configuration in data/configs is removed, renamed and
 * duplicated; the result is read or refused.
 */
#include "pipeline/config/reader/diagnostics.h"
#include "pipeline/config/reader/read_config.h"
#include "tests/support/configs/config_check.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "pipeline/text/yaml.h"
#include "primitives/files/read.h"

enum { TEXT_BYTES = 1 << 16 };

enum edit { KEEP, DROP, RENAME, REPEAT, N_EDITS };

/* Writes a tree as YAML, with one edit at the key with the number target. */
struct emitter {
	const struct sl_yaml *tree;
	char text[TEXT_BYTES];
	size_t used;
	int key, target;
	enum edit edit;
};

static void append_text(struct emitter *e, const char *text)
{
	e->used += (size_t)snprintf(e->text + e->used, sizeof(e->text) - e->used, "%s", text);
	assert_true(e->used < sizeof(e->text));
}

static void append_scalar(struct emitter *e, sl_node node)
{
	append_text(e, "'");
	append_text(e, sl_yaml_text(e->tree, node, NULL));
	append_text(e, "'");
}

static void emit(struct emitter *e, sl_node node);

static void emit_pair(struct emitter *e, sl_node key, sl_node value, const char *suffix)
{
	append_text(e, "'");
	append_text(e, sl_yaml_text(e->tree, key, NULL));
	append_text(e, suffix);
	append_text(e, "': ");
	emit(e, value);
	append_text(e, ", ");
}

static void emit(struct emitter *e, sl_node node)
{
	enum sl_node_kind kind = sl_yaml_kind(e->tree, node);

	if (kind == SL_SCALAR) {
		append_scalar(e, node);
		return;
	}
	append_text(e, kind == SL_LIST ? "[" : "{");
	for (size_t i = 0; i < sl_yaml_size(e->tree, node); i++) {
		sl_node key, value = sl_yaml_item(e->tree, node, i, &key);
		bool at_target = kind == SL_MAPPING && e->key++ == e->target;

		if (kind == SL_LIST) {
			emit(e, value);
			append_text(e, ", ");
			continue;
		}
		if (at_target && e->edit == DROP)
			continue;
		emit_pair(e, key, value, at_target && e->edit == RENAME ? "_qqqqqqqqqqqq" : "");
		if (at_target && e->edit == REPEAT)
			emit_pair(e, key, value, "");
	}
	append_text(e, kind == SL_LIST ? "]" : "}");
}

static void edit_every_key(const char *name, const char *text, size_t bytes)
{
	static struct emitter e;
	struct sl_yaml_problem problem;
	struct sl_yaml *tree;
	int n = 1;

	assert_ok(sl_yaml_parse(text, bytes, &tree, &problem));
	for (int target = -1; target < n; target++) {
		for (int edit = target < 0 ? KEEP : DROP; edit < (target < 0 ? DROP : N_EDITS);
			edit++) {
			struct sl_reader *r;
			enum sl_status s;

			memset(&e, 0, sizeof(e));
			e.tree = tree;
			e.target = target;
			e.edit = (enum edit)edit;
			emit(&e, sl_yaml_root(tree));
			n = edit == KEEP ? e.key : n;
			s = resolve_text(e.text, NULL, 0, &r);
			if (edit == KEEP && s != SL_OK)
				fail_msg("%s is refused:\n%s", name, sl_config_report(r));
			if ((edit == RENAME || edit == REPEAT) && s != SL_USAGE)
				fail_msg("%s, key %d, edit %d is not refused:\n%s", name, target,
					edit, e.text);
			assert_true(s == SL_OK || sl_config_problems(r) > 0);
			sl_config_close(r);
		}
	}
	sl_yaml_free(tree);
}

TEST(edited_shipped_configs_are_read_or_refused)
{
	char folder[4096], path[8192];
	struct dirent *entry;
	int n = 0;
	DIR *d;

	snprintf(folder, sizeof(folder), "%s/data/configs", getenv("SLUICE_SOURCE"));
	d = opendir(folder);
	assert_non_null(d);
	while ((entry = readdir(d))) {
		char *text;
		size_t bytes;

		if (!strstr(entry->d_name, ".yaml"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		assert_ok(sl_path_read(path, SL_YAML_BYTES, &text, &bytes));
		edit_every_key(entry->d_name, text, bytes);
		sl_memory_give(SL_HOST, text);
		n++;
	}
	closedir(d);
	assert_true(n > 0);
}
