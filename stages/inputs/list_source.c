/*
 * list_source.c - reads lists as the source of other models: turned, moved, with the weights as an
 * alias table.
 */
#define SL_MODEL_HOST
#include "stages/inputs/inputs.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "primitives/device/device.h"
#include "stages/batch/recipe.h"
#include "stages/models/config/list_config.h"

enum { GROUP = 4096 };      /* particles that are read at once */
#define FARTHEST 1e15       /* of a position, cm */
#define NONE     UINT32_MAX /* the other record of one that has no place in the table yet */

/* --- records ---------------------------------------------------------------------------------- */

/* A turn about the origin, and then a displacement. */
struct motion {
	double turn[3][3], move[3];
};

/* Rodrigues' formula. sine and cosine are those of single precision, which every machine has. */
static struct motion motion_of(const struct sl_source_config *c)
{
	const bool turns = !isnan(c->rotate.angle), moves = !isnan(c->translate.at[0]);
	const double *a = c->rotate.axis.at;
	double length = turns ? sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]) : 1;
	struct motion m;
	float sine, cosine;

	sl_sincospi(turns ? (float)(c->rotate.angle / 3.14159265358979323846) : 0, &sine, &cosine);
	for (int i = 0; i < 3; i++) {
		m.move[i] = moves ? c->translate.at[i] : 0;
		for (int k = 0; k < 3; k++) {
			const double along = turns ? a[i] / length * (a[k] / length) : 0;
			const int next = (i + 1) % 3;
			const double across = i == k ? 0 : a[3 - i - k] / length;

			m.turn[i][k] = (i == k ? (double)cosine : 0) +
			               along * (1 - (double)cosine) +
			               (turns ? (k == next ? -across : across) * (double)sine : 0);
		}
	}
	return m;
}

static void turn(const struct motion *m, const double from[3], double to[3])
{
	for (int i = 0; i < 3; i++)
		to[i] = m->turn[i][0] * from[0] + m->turn[i][1] * from[1] + m->turn[i][2] * from[2];
}

/* Makes the record of particle i; false if it is damaged. Its member keep is its weight. */
static bool make_record(
	const struct sl_columns *c, uint32_t i, const struct motion *m, struct sl_list_record *to)
{
	const double from[3] = {(double)c->x[i], (double)c->y[i], (double)c->z[i]};
	const double along[3] = {(double)c->u[i], (double)c->v[i], (double)c->w[i]};
	double at[3], d[3], length;
	bool sound = c->fate[i] != SL_FATE_damaged && isfinite(c->time[i]) &&
	             isfinite(c->weight[i]) && c->weight[i] >= 0;

	turn(m, from, at);
	turn(m, along, d);
	length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
	sound = sound && length > 0 && isfinite(length);
	if (fabs(length - 1) < 0x1p-22) /* a unit vector keeps its bits */
		length = 1;
	for (int k = 0; k < 3; k++)
		sound = sound && fabs(at[k] + m->move[k]) <= FARTHEST; /* false for NaN */
	if (!sound)
		return false;
	*to = (struct sl_list_record){.x = (float)(at[0] + m->move[0]),
		.y = (float)(at[1] + m->move[1]),
		.z = (float)(at[2] + m->move[2]),
		.u = (float)(d[0] / length),
		.v = (float)(d[1] / length),
		.w = (float)(d[2] / length),
		.time = c->time[i],
		.keep = c->weight[i]};
	return true;
}

/* --- the table -------------------------------------------------------------------------------- */

/* The state of the sweep: records without a place in the table have their weight in keep. */
struct sweep {
	struct sl_list_record *r;
	uint32_t *other;
	uint32_t n;
	double per_mean; /* 1 over the mean weight */
};

/*
 * The first record from k on that has no place yet, and whose weight is below the mean; if `below`
 * is false, at least the mean.
 */
static uint32_t next(const struct sweep *s, uint32_t k, bool below)
{
	while (k < s->n &&
		(s->other[k] != NONE || ((double)s->r[k].keep * s->per_mean < 1) != below))
		k++;
	return k;
}

/* The weight of record k over the mean; 0 after the last one. */
static double relative(const struct sweep *s, uint32_t k)
{
	return k < s->n ? (double)s->r[k].keep * s->per_mean : 0;
}

/*
 * Turns the weights into the probabilities of the alias table (list_source.h). Each record below
 * the mean gives the rest of its probability to one above; a record that has then less than the
 * mean does the same, before the next one below it.
 */
static void make_table(const struct sweep *s)
{
	uint32_t below, above, k;
	double mine, left;

	memset(s->other, 0xff, s->n * sizeof(*s->other));
	k = below = next(s, 0, true);
	above = next(s, 0, false);
	mine = relative(s, k);
	left = relative(s, above);
	while (k < s->n && above < s->n) {
		s->other[k] = above;
		s->r[k].keep = (float)mine;
		left -= 1 - mine;
		if (left < 1) {
			k = above;
			mine = left;
			above = next(s, above + 1, false);
			left = relative(s, above);
		} else {
			k = below = next(s, below + 1, true);
			mine = relative(s, k);
		}
	}
	for (k = 0; k < s->n; k++)
		if (s->other[k] == NONE) {
			s->other[k] = k;
			s->r[k].keep = 1;
		}
}

/* --- the order -------------------------------------------------------------------------------- */

/* The x with a x = 1 modulo n; 0: there is none (Euclid). */
static uint32_t inverse(uint32_t a, uint32_t n)
{
	int64_t r = n, next = a, x = 0, x_next = 1;

	while (next > 0) {
		const int64_t q = r / next, rest = r - q * next, x_rest = x - q * x_next;

		r = next, next = rest;
		x = x_next, x_next = x_rest;
	}
	return r == 1 ? (uint32_t)((x + n) % n) : 0;
}

/*
 * The places from the record of a particle to that of the next one. Neighbours in memory are as
 * many particles apart as the golden section of n, so that the records from the first to any other
 * one are spread evenly over the lists, which may be sorted.
 */
static uint32_t stride_of(uint32_t n)
{
	uint32_t apart = (uint32_t)(0.6180339887 * n), stride = 1;

	while (apart > 1 && (stride = inverse(apart, n)) == 0)
		apart--;
	return apart > 1 ? stride : 1;
}

/* --- reading ---------------------------------------------------------------------------------- */

struct source_reading {
	struct sl_inputs *inputs;
	const struct sl_source_config *c;
	const char *key;
	struct motion motion;
	struct sl_list_record *to; /* NULL: particles are counted */
	uint32_t n;                /* records that there is memory for */
	uint32_t place, stride;    /* of the next one; to the one after it */
	struct sl_source_counts *counts;
	bool equal; /* all weights are */
};

static enum sl_status refuse_damaged(const struct source_reading *s, uint64_t id)
{
	uint32_t k = 0;

	while (k + 1 < s->inputs->n && s->inputs->at[k + 1].first <= id)
		k++;
	return sl_fail(SL_BAD_INPUT,
		"%s: particle %" PRIu64
		" cannot start a history: its numbers are not finite or too large, it has no "
		"direction, or its weight is below 0; remove it from the list, or set %s: drop",
		s->inputs->at[k].path, id - s->inputs->at[k].first, s->key);
}

/* Whether particles with this code are used. */
static bool is_chosen(const struct sl_source_config *c, int32_t pdg)
{
	bool chosen = c->pdg.n == 0;

	for (uint32_t k = 0; k < c->pdg.n; k++)
		chosen |= c->pdg.at[k] == pdg;
	return chosen;
}

/* Adds the particles of a batch. */
static enum sl_status add_particles(struct source_reading *s, const struct sl_batch *b)
{
	struct sl_source_counts *n = s->counts;
	struct sl_list_record record;

	for (uint32_t i = 0; i < b->n; i++) {
		if (b->columns.fate[i] != SL_FATE_damaged && !is_chosen(s->c, b->columns.pdg[i])) {
			n->other++;
			continue;
		}
		if (!make_record(&b->columns, i, &s->motion, &record)) {
			if (s->c->list.damaged != SL_LIST_DROPS)
				return refuse_damaged(s, b->first_id + i);
			n->damaged++;
			continue;
		}
		if (s->to && n->used < s->n) {
			s->to[s->place] = record;
			s->place = (s->place + s->stride) % s->n;
			s->equal = s->equal && record.keep == s->to[0].keep;
		}
		n->used++;
		n->weight += (double)record.keep;
	}
	return SL_OK;
}

static enum sl_status read_all(struct source_reading *s, struct sl_batch *b)
{
	for (uint64_t id = 0; id < s->inputs->particles; id += GROUP) {
		const uint64_t left = s->inputs->particles - id;

		b->first_id = id;
		b->n = left < GROUP ? (uint32_t)left : GROUP;
		SL_TRY(sl_inputs_read(s->inputs, b));
		SL_TRY(add_particles(s, b));
	}
	if (s->counts->used > 0 && !(s->counts->weight > 0))
		return sl_fail(SL_BAD_INPUT,
			"%s: all weights of the particles are 0, so that none starts a history; use a list "
			"with weights",
			s->inputs->at[0].path);
	return SL_OK;
}

enum sl_status sl_source_read(struct sl_inputs *inputs, const struct sl_source_config *c,
	const char *key, struct sl_rules_data *data, struct sl_source_counts *n)
{
	struct source_reading s = {.inputs = inputs,
		.c = c,
		.key = key,
		.motion = motion_of(c),
		.to = data ? (struct sl_list_record *)(uintptr_t)sl_list_records(data) : NULL,
		.n = data ? data->list.n : 0,
		.stride = data ? stride_of(data->list.n) : 0,
		.counts = n,
		.equal = true};
	const sl_column_set columns = SL_MCPL_LIST | SL_BIT(SL_COLUMN_fate);
	struct sl_batch b = {.turn = SL_NO_TURN};
	SL_CLOSED_BY(sl_host_give) void *memory = NULL;
	struct sl_arena a = {0};

	*n = (struct sl_source_counts){0};
	sl_layout_columns(&a, columns, GROUP, &b.columns);
	SL_TRY(sl_memory_get(SL_HOST, a.used, &memory));
	a = (struct sl_arena){memory, 0, a.used};
	sl_layout_columns(&a, columns, GROUP, &b.columns);
	SL_TRY(read_all(&s, &b));
	if (!data)
		return SL_OK;
	data->list.weighted = !s.equal;
	if (!s.equal) /* else no table is needed */
		make_table(&(struct sweep){
			s.to, (uint32_t *)(void *)(s.to + s.n), s.n, s.n / s.counts->weight});
	return SL_OK;
}
