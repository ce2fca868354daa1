/* particle.c - the tables of columns and fates, made from columns.def and fates.def. */
#include "stages/particle/particle.h"

#include <string.h>

#define TYPE_OF(type)                    \
	_Generic((type)0, float          \
		 : SL_TYPE_F32, uint32_t \
		 : SL_TYPE_U32, uint64_t \
		 : SL_TYPE_U64, uint8_t  \
		 : SL_TYPE_U8, int32_t   \
		 : SL_TYPE_I32)

const struct sl_column_facts sl_column_facts[SL_COLUMN_COUNT] = {
#define COLUMN(name, type, unit, record, component, help)                             \
	{#name, TYPE_OF(type), sizeof(type), SL_UNIT_##unit, record, component, help, \
		offsetof(struct sl_columns, name), offsetof(struct sl_particle, name)},
#include "stages/particle/columns.def"
#undef COLUMN
};

const struct sl_fate_facts sl_fate_facts[SL_FATE_COUNT] = {
#define FATE(name, help) {#name, help},
#include "stages/particle/fates.def"
#undef FATE
};

_Static_assert(SL_COLUMN_COUNT <= 64, "a set of columns is a uint64_t (sl_column_set)");
_Static_assert(SL_FATE_COUNT <= 64, "a set of fates is a uint64_t (sl_fate_set)");

enum sl_column sl_column_find(const char *name)
{
	int i = 0;

	while (i < SL_COLUMN_COUNT &&
		(sl_is_named_column(i) || strcmp(sl_column_facts[i].name, name) != 0))
		i++;
	return (enum sl_column)i;
}

bool sl_label_set_name(struct sl_column_label *label, const char *name, size_t length)
{
	static const char letters[] =
		"_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

	if (length == 0 || length >= SL_COLUMN_NAME_BYTES || (name[0] >= '0' && name[0] <= '9'))
		return false;
	memcpy(label->name, name, length);
	label->name[length] = '\0';
	return strspn(label->name, letters) == length &&
	       sl_column_find(label->name) == SL_COLUMN_COUNT;
}

double sl_column_value(enum sl_column which, const void *at)
{
	switch (sl_column_facts[which].type) {
	case SL_TYPE_F32:
		return (double)*(const float *)at;
	case SL_TYPE_U32:
		return *(const uint32_t *)at;
	case SL_TYPE_U64:
		return (double)*(const uint64_t *)at;
	case SL_TYPE_U8:
		return *(const uint8_t *)at;
	case SL_TYPE_I32:
		return *(const int32_t *)at;
	}
	return 0;
}

enum sl_fate sl_fate_find(const char *name)
{
	int i = 0;

	while (i < SL_FATE_COUNT && strcmp(sl_fate_facts[i].name, name) != 0)
		i++;
	return (enum sl_fate)i;
}
