/* xdmf.c - see xdmf.h. */
#include "stages/formats/hdf5/xdmf.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "stages/formats/hdf5/openpmd.h"

/* A text in a block of fixed size, and the length of the text without that limit. */
struct xml_text {
	char *at;
	size_t size, length;
};

SL_PRINTF(2, 3) static void print(struct xml_text *t, const char *format, ...)
{
	bool fits = t->length < t->size;
	va_list args;

	va_start(args, format);
	t->length += (size_t)vsnprintf(
		fits ? t->at + t->length : NULL, fits ? t->size - t->length : 0, format, args);
	va_end(args);
}

/* Prints a name as XML text. Control characters, which XML cannot contain, become '?'. */
static void print_escaped(struct xml_text *t, const char *name)
{
	for (; *name; name++)
		switch (*name) {
		case '&':
			print(t, "&amp;");
			break;
		case '<':
			print(t, "&lt;");
			break;
		case '>':
			print(t, "&gt;");
			break;
		case '"':
			print(t, "&quot;");
			break;
		default:
			print(t, "%c", (unsigned char)*name < ' ' ? '?' : *name);
		}
}

/* The column of the table if it has a value per row, else NULL. */
static const struct sl_table_column *find(const struct sl_table *t, enum sl_column column)
{
	const struct sl_table_column *c = sl_table_find(t, column);

	return c && !c->constant ? c : NULL;
}

bool sl_xdmf_possible(const struct sl_table *t)
{
	return find(t, SL_COLUMN_x) && find(t, SL_COLUMN_y) && find(t, SL_COLUMN_z);
}

size_t sl_xdmf_begin(char *text, size_t size, const char *run_name)
{
	struct xml_text t = {text, size, 0};

	print(&t, "<?xml version=\"1.0\" ?>\n<!DOCTYPE Xdmf SYSTEM \"Xdmf.dtd\" []>\n"
		  "<Xdmf Version=\"2.0\">\n<Domain>\n<Grid Name=\"");
	print_escaped(&t, run_name);
	print(&t, "\" GridType=\"Collection\" CollectionType=\"Temporal\">\n");
	return t.length;
}

size_t sl_xdmf_end(char *text, size_t size)
{
	struct xml_text t = {text, size, 0};

	print(&t, "</Grid>\n</Domain>\n</Xdmf>\n");
	return t.length;
}

/* XDMF 2 has no unsigned 8-byte integers; ids are below 2^63, so a signed type is right. */
static const char *number_type(enum sl_column_type type)
{
	switch (type) {
	case SL_TYPE_F32:
		return "Float";
	case SL_TYPE_U32:
		return "UInt";
	case SL_TYPE_U64:
	case SL_TYPE_I32:
		return "Int";
	case SL_TYPE_U8:
		return "UChar";
	}
	return "";
}

/* The file, species and rows that the grid of one batch refers to. */
struct target {
	const char *file, *species;
	uint64_t number;
	uint32_t n;
};

static void print_item(struct xml_text *t, const struct target *target, enum sl_column column)
{
	const struct sl_column_facts *f = &sl_column_facts[column];
	char path[512];

	sl_openpmd_path(path, sizeof(path), target->number, target->species, column);
	print(t,
		"<DataItem Dimensions=\"%" PRIu32 "\" NumberType=\"%s\" Precision=\"%" PRIu32
		"\" Format=\"HDF\">",
		target->n, number_type(f->type), f->bytes);
	print_escaped(t, target->file);
	print(t, ":");
	print_escaped(t, path);
	print(t, "</DataItem>\n");
}

static void print_attribute(struct xml_text *t, const struct target *target, enum sl_column column)
{
	print(t, "<Attribute Name=\"%s\" AttributeType=\"Scalar\" Center=\"Node\">\n",
		sl_column_facts[column].name);
	print_item(t, target, column);
	print(t, "</Attribute>\n");
}

size_t sl_xdmf_grid(char *text, size_t size, const char *file, const char *species, uint64_t number,
	const struct sl_table *table)
{
	struct xml_text t = {text, size, 0};
	struct target target = {file, species, number, table->n};

	if (size)
		*text = '\0';
	if (table->n == 0)
		return 0;
	print(&t,
		"<Grid Name=\"batch %" PRIu64 "\" GridType=\"Uniform\">\n<Time Value=\"%" PRIu64
		"\"/>\n<Topology TopologyType=\"Polyvertex\" NumberOfElements=\"%" PRIu32
		"\" NodesPerElement=\"1\"/>\n<Geometry GeometryType=\"X_Y_Z\">\n",
		number, number, table->n);
	for (int axis = SL_COLUMN_x; axis <= SL_COLUMN_z; axis++)
		print_item(&t, &target, (enum sl_column)axis);
	print(&t, "</Geometry>\n");
	for (uint32_t i = 0; i < table->n_columns; i++) {
		const struct sl_table_column *c = &table->column[i];

		if (!c->constant && (c->column < SL_COLUMN_x || c->column > SL_COLUMN_z))
			print_attribute(&t, &target, c->column);
	}
	print(&t, "</Grid>\n");
	return t.length;
}
