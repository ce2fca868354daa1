/*
 * yaml.h - a YAML document as a tree of nodes that know their place.
 *
 * A thin reading layer over libyaml's document API. JSON is YAML, so the manifest and run.json are
 * read with it too. Aliases and anchors are refused (a short text could stand for an endless
 * one), as are tags, a second document, nesting beyond 32 levels and repeated keys.
 */
#ifndef SL_PIPELINE_TEXT_YAML_H
#define SL_PIPELINE_TEXT_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "primitives/base/status.h"

struct sl_yaml;

enum sl_node_kind { SL_SCALAR, SL_LIST, SL_MAPPING };

/* A node is a number within its tree; 0 is no node. */
typedef int sl_node;

enum { SL_YAML_BYTES = 1 << 20 }; /* the longest text that is read */

struct sl_problem {
	size_t line, column; /* from 1; 0 when there is no place */
	char text[512];
};

/*
 * Parses text. On a syntax error or a thing refused: SL_BAD_INPUT, with *problem saying what and
 * where. *tree is the caller's to free; the text need not outlive the call.
 */
enum sl_status sl_yaml_parse(
	const char *text, size_t bytes, struct sl_yaml **tree, struct sl_problem *problem);
void sl_yaml_free(struct sl_yaml *tree);

sl_node sl_yaml_root(const struct sl_yaml *tree);
enum sl_node_kind sl_yaml_kind(const struct sl_yaml *tree, sl_node node);
void sl_yaml_place(const struct sl_yaml *tree, sl_node node, size_t *line, size_t *column);

/* The columns from the place of a scalar to what is offset bytes into its text; 0 where the text is
 * not as it stands there, in one line. */
size_t sl_yaml_inside(const struct sl_yaml *tree, sl_node node, size_t offset);

/* The text of a scalar ("" for other nodes); may hold NUL bytes only if *bytes is looked at. */
const char *sl_yaml_text(const struct sl_yaml *tree, sl_node node, size_t *bytes);

/* Items of a list or mapping; of a mapping item the key node too (key may be NULL). */
size_t sl_yaml_size(const struct sl_yaml *tree, sl_node node);
sl_node sl_yaml_item(const struct sl_yaml *tree, sl_node node, size_t i, sl_node *key);

/* The value of key in a mapping, or 0. */
sl_node sl_yaml_get(const struct sl_yaml *tree, sl_node mapping, const char *key);

/* A scalar as a whole unsigned number; false if it is not one. */
bool sl_yaml_u64(const struct sl_yaml *tree, sl_node node, uint64_t *value);

#endif
