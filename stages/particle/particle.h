/*
 * particle.h - one particle, columns of many particles, and the fates of particles.
 *
 * All types here are made from columns.def and fates.def: a new column or fate is one line there.
 */
#ifndef SL_STAGES_PARTICLE_PARTICLE_H
#define SL_STAGES_PARTICLE_PARTICLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "primitives/base/hd.h"
#include "stages/particle/units.h"

SL_C_BEGIN

enum sl_fate {
#define FATE(name, help) SL_FATE_##name,
#include "stages/particle/fates.def"
#undef FATE
	SL_FATE_COUNT
};

enum sl_column {
#define COLUMN(name, type, unit, record, component, help) SL_COLUMN_##name,
#include "stages/particle/columns.def"
#undef COLUMN
	SL_COLUMN_COUNT
};

/*
 * Sets. Bit i of a set stands for column i or fate i. A set of columns is made with SL_BIT(), one
 * of fates with SL_FATE_BIT(). SL_HAS() works for both, and for constants of a narrower type, which
 * it widens: columns have numbers above 31.
 */
typedef uint64_t sl_column_set;
typedef uint64_t sl_fate_set;

#define SL_BIT(column)    (UINT64_C(1) << (column))
#define SL_FATE_BIT(fate) (UINT64_C(1) << (fate))
#define SL_HAS(set, i)    ((uint32_t)(((uint64_t)(set) >> (i)) & 1u))

#define SL_EVERY_COLUMN UINT64_MAX

/*
 * The derived columns: built-in ones, then named ones, whose names and units the configuration
 * gives.
 */
#define SL_DERIVED_LIST(X) \
	X(r)               \
	X(rho)             \
	X(theta)           \
	X(phi)             \
	X(wavelength)      \
	X(derived_1)       \
	X(derived_2)       \
	X(derived_3)       \
	X(derived_4)
#define SL_DERIVED_COLUMNS (SL_BIT(SL_COLUMN_derived_4 + 1) - SL_BIT(SL_COLUMN_r))
#define SL_NAMED_COLUMNS   (SL_BIT(SL_COLUMN_derived_4 + 1) - SL_BIT(SL_COLUMN_derived_1))

/* The most derived columns of a run, and the most named ones among them. */
enum { SL_DERIVED_MAX = 6, SL_NAMED_COLUMNS_MAX = 4 };
#define SL_EVERY_FATE (UINT64_MAX >> (64 - SL_FATE_COUNT))

/* The columns of a set that are stored in a batch: all but id, which follows from the position. */
#define SL_STORED(set) ((set) & ~SL_BIT(SL_COLUMN_id))

/*
 * Whether a fate, less than SL_FATE_COUNT, is in a set. Up to 32 fates, only the lower half of the
 * set is read: a GPU needs several instructions to shift 64 bits.
 */
SL_HD uint8_t sl_has_fate(sl_fate_set set, uint8_t fate)
{
	return (uint8_t)((int)SL_FATE_COUNT <= 32 ? (uint32_t)set >> fate & 1u : SL_HAS(set, fate));
}

/* One particle, as the rules of a model see it. Columns that the model does not have are 0. */
struct sl_particle {
#define COLUMN(name, type, unit, record, component, help) type name;
#include "stages/particle/columns.def"
#undef COLUMN
};

/* n particles as one array per column. A column that the model does not have is NULL. id is never
 * stored: particle i of a batch has the id first_id + i. */
struct sl_columns {
#define COLUMN(name, type, unit, record, component, help) type *name;
#include "stages/particle/columns.def"
#undef COLUMN
};

enum sl_column_type { SL_TYPE_F32, SL_TYPE_U32, SL_TYPE_U64, SL_TYPE_U8, SL_TYPE_I32 };

struct sl_column_facts {
	const char *name;
	enum sl_column_type type;
	uint32_t bytes; /* per item */
	enum sl_unit unit;
	const char *record;    /* openPMD: "position" */
	const char *component; /* openPMD: "x"; "" for a scalar record */
	const char *help;
	size_t offset;      /* offset of its pointer in struct sl_columns */
	size_t in_particle; /* offset of its value in struct sl_particle */
};

struct sl_fate_facts {
	const char *name;
	const char *help;
};

SL_FOR_MODELS extern const struct sl_column_facts sl_column_facts[SL_COLUMN_COUNT];
SL_FOR_MODELS extern const struct sl_fate_facts sl_fate_facts[SL_FATE_COUNT];

/* The smallest number that a column of whole numbers can hold. */
static inline double sl_least_whole(enum sl_column which)
{
	return sl_column_facts[which].type == SL_TYPE_I32 ? -0x1p31 : 0;
}

/* The message for a range of such a column with ends that it cannot hold. */
#define SL_NOT_WHOLE(least)                                                                                   \
	((least) < 0 ? "must have integer ends from -2147483648 to 2147483647, like the values of the column" \
		     : "must have integer ends of at least 0, like the values of the column")

/* Is the column a named one? columns.def has no name and unit for it. */
static inline bool sl_is_named_column(int column)
{
	return SL_HAS(SL_NAMED_COLUMNS, column) != 0;
}

/* The name and the unit of a named column. */
enum { SL_COLUMN_NAME_BYTES = 32 };
struct sl_column_label {
	char name[SL_COLUMN_NAME_BYTES];
	enum sl_unit unit; /* one in which columns are stored: its factor is 1 */
};

/* The name and the unit of any column; label has SL_NAMED_COLUMNS_MAX items. */
static inline const char *sl_label_name(const struct sl_column_label *label, enum sl_column which)
{
	return sl_is_named_column((int)which) ? label[which - SL_COLUMN_derived_1].name
	                                      : sl_column_facts[which].name;
}

static inline enum sl_unit sl_label_unit(const struct sl_column_label *label, enum sl_column which)
{
	return sl_is_named_column((int)which) ? label[which - SL_COLUMN_derived_1].unit
	                                      : sl_column_facts[which].unit;
}

/*
 * Stores a name of length bytes that a file has. False if it cannot be that of a named column: not
 * letters, digits and '_', too long, or the name of another column.
 */
bool sl_label_set_name(struct sl_column_label *label, const char *name, size_t length);

/* The column or fate with the given name; SL_COLUMN_COUNT or SL_FATE_COUNT if there is none. */
enum sl_column sl_column_find(const char *name);
enum sl_fate sl_fate_find(const char *name);

/* The value at `at` of a column as a double: exact, except whole numbers of 64 bits above 2^53. */
double sl_column_value(enum sl_column which, const void *at);

/* Columns of length 1 whose arrays are the members of *p. */
SL_HD struct sl_columns sl_columns_of(struct sl_particle *p)
{
	struct sl_columns c;
#define COLUMN(name, type, unit, record, component, help) c.name = &p->name;
#include "stages/particle/columns.def"
#undef COLUMN
	return c;
}

/* The array of a column, untyped; NULL if c does not have the column. */
static inline void *sl_column_at(const struct sl_columns *c, enum sl_column which)
{
	return *(void *const *)(const void *)((const char *)c + sl_column_facts[which].offset);
}

/* Loads particle i. set are the columns that c has, a constant at each call; others become 0. */
SL_HD struct sl_particle sl_load(const struct sl_columns *c, sl_column_set set, uint64_t i)
{
	struct sl_particle p;
#define COLUMN(name, type, unit, record, component, help) \
	p.name = SL_HAS(set, SL_COLUMN_##name) ? c->name[i] : (type)0;
#include "stages/particle/columns.def"
#undef COLUMN
	return p;
}

/* Stores particle i; set as for sl_load(). */
SL_HD void sl_store(
	const struct sl_columns *c, sl_column_set set, uint64_t i, const struct sl_particle *p)
{
#define COLUMN(name, type, unit, record, component, help) \
	if (SL_HAS(set, SL_COLUMN_##name))                \
		c->name[i] = p->name;
#include "stages/particle/columns.def"
#undef COLUMN
}

SL_C_END

#endif
