/* xdmf.c - see openpmd.h. */
#include "stages/formats/openpmd/openpmd.h"

#include <inttypes.h>
#include <string.h>

/* Prints a name as XML text. Control characters, which XML cannot contain, become '?'. */
static void print_escaped(const char *name, FILE *out)
{
	static const char special[] = "&<>\"", *const words[] = {"amp", "lt", "gt", "quot"};

	for (; *name; name++) {
		const char *at = strchr(special, *name);

		if (at)
			fprintf(out, "&%s;", words[at - special]);
		else
			fprintf(out, "%c", (unsigned char)*name < ' ' ? '?' : *name);
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

void sl_xdmf_begin(const char *run_name, FILE *out)
{
	fprintf(out, "<?xml version=\"1.0\" ?>\n<!DOCTYPE Xdmf SYSTEM \"Xdmf.dtd\" []>\n"
		     "<Xdmf Version=\"2.0\">\n<Domain>\n<Grid Name=\"");
	print_escaped(run_name, out);
	fprintf(out, "\" GridType=\"Collection\" CollectionType=\"Temporal\">\n");
}

void sl_xdmf_end(FILE *out)
{
	fprintf(out, "</Grid>\n</Domain>\n</Xdmf>\n");
}

/* XDMF 2 has no unsigned 8-byte integers; ids are below 2^63, so a signed type is right. */
static const char *const number_types[] = {[SL_TYPE_F32] = "Float",
	[SL_TYPE_U32] = "UInt",
	[SL_TYPE_U64] = "Int",
	[SL_TYPE_I32] = "Int",
	[SL_TYPE_U8] = "UChar"};

static void print_item(const char *file, const char *species, uint64_t number,
	const struct sl_table *t, uint32_t k, FILE *out)
{
	const struct sl_column_facts *f = sl_facts_of(&t->column[k]);
	char path[512];

	sl_openpmd_path(path, sizeof(path), number, species, t, k);
	fprintf(out,
		"<DataItem Dimensions=\"%" PRIu32 "\" NumberType=\"%s\" Precision=\"%" PRIu32
		"\" Format=\"HDF\">",
		t->n, number_types[f->type], f->bytes);
	print_escaped(file, out);
	fprintf(out, ":");
	print_escaped(path, out);
	fprintf(out, "</DataItem>\n");
}

void sl_xdmf_grid(const char *file, const char *species, uint64_t number,
	const struct sl_table *table, FILE *out)
{
	if (table->n == 0)
		return;
	fprintf(out,
		"<Grid Name=\"batch %" PRIu64 "\" GridType=\"Uniform\">\n<Time Value=\"%" PRIu64
		"\"/>\n<Topology TopologyType=\"Polyvertex\" NumberOfElements=\"%" PRIu32
		"\" NodesPerElement=\"1\"/>\n<Geometry GeometryType=\"X_Y_Z\">\n",
		number, number, table->n);
	for (int axis = SL_COLUMN_x; axis <= SL_COLUMN_z; axis++)
		print_item(file, species, number, table,
			(uint32_t)(sl_table_find(table, (enum sl_column)axis) - table->column),
			out);
	fprintf(out, "</Geometry>\n");
	for (uint32_t i = 0; i < table->n_columns; i++) {
		const struct sl_table_column *c = &table->column[i];

		if (c->constant || (c->column >= SL_COLUMN_x && c->column <= SL_COLUMN_z))
			continue;
		fprintf(out, "<Attribute Name=\"%s\" AttributeType=\"Scalar\" Center=\"Node\">\n",
			sl_table_name(table, i));
		print_item(file, species, number, table, i, out);
		fprintf(out, "</Attribute>\n");
	}
	fprintf(out, "</Grid>\n");
}
