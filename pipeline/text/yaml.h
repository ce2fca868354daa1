/*
 * yaml.h - reads a YAML document as a tree of nodes with line and column.
 *
 * A thin layer over libyaml. It also reads JSON (the manifest and run.json), which is YAML. Aliases
 * and anchors (which can expand without limit), tags, a second document, more than 32 levels and
 * repeated keys are refused.
 */
#ifndef SL_PIPELINE_TEXT_YAML_H
#define SL_PIPELINE_TEXT_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "primitives/base/status.h"

struct sl_yaml;

enum sl_node_kind { SL_SCALAR, SL_LIST, SL_MAPPING };

/* Number of a node in its tree; 0: no node. All functions accept 0. */
typedef int sl_node;

enum { SL_YAML_BYTES = 1 << 20 }; /* the longest text that is accepted */

struct sl_yaml_problem {
	size_t line, column; /* counted from 1; 0: no place */
	char text[512];
};

/*
 * Parses text. SL_BAD_INPUT with *problem set when the text is not accepted. The caller frees
 * *tree, also after a failure. The text is not used after the call.
 */
enum sl_status sl_yaml_parse(
	const char *text, size_t bytes, struct sl_yaml **tree, struct sl_yaml_problem *problem);
void sl_yaml_free(struct sl_yaml *tree);

sl_node sl_yaml_root(const struct sl_yaml *tree);
enum sl_node_kind sl_yaml_kind(const struct sl_yaml *tree, sl_node node);
void sl_yaml_place(const struct sl_yaml *tree, sl_node node, size_t *line, size_t *column);

/*
 * The distance in columns from the place of a scalar to byte offset of its text. 0 when the scalar
 * spans lines or contains escapes, so that the distance is unknown.
 */
size_t sl_yaml_inside(const struct sl_yaml *tree, sl_node node, size_t offset);

/* The text of a scalar, "" for other nodes; *bytes (may be NULL) is its length, NULs included. */
const char *sl_yaml_text(const struct sl_yaml *tree, sl_node node, size_t *bytes);

/* Number of items of a list or mapping, and item i; *key (may be NULL) is its key in a mapping. */
size_t sl_yaml_size(const struct sl_yaml *tree, sl_node node);
sl_node sl_yaml_item(const struct sl_yaml *tree, sl_node node, size_t i, sl_node *key);

/* The value of key in a mapping; 0 if there is none. */
sl_node sl_yaml_get(const struct sl_yaml *tree, sl_node mapping, const char *key);

/* Reads a scalar of digits only; false if it is not one or exceeds 64 bits. */
bool sl_yaml_u64(const struct sl_yaml *tree, sl_node node, uint64_t *value);

/* The number that a scalar begins with; 0 if it is none. */
double sl_yaml_real(const struct sl_yaml *tree, sl_node node);

#endif
