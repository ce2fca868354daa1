/*
 * cavity.h - particles between diffuse walls: an integrating sphere, or a tube open at both ends.
 *
 * Between the walls is a vacuum, so each step is one flight from wall to wall. At its end the
 * particle is absorbed with probability 1 - reflectance; otherwise it leaves in a Lambertian
 * direction about the normal, independent of the direction it came from.
 *
 * The sphere is centred at the origin. Its port is the cap about +z that has the given share of the
 * area; particles start at the opposite pole. A flight from any point of a sphere in a Lambertian
 * direction ends at each point of the sphere with equal probability, so after k flights exactly the
 * fraction ((1 - port) * reflectance)^k is alive. (Jacquez, Kuppenheim, J. Opt. Soc. Am. 45 (1955)
 * 460.)
 *
 * The axis of the tube is the z axis, 0 < z < length. Particles enter through z = 0, uniformly over
 * the disk and in Lambertian directions, as a rarefied gas does. The fraction that leaves at the
 * far end is Clausing's factor. (Clausing, Ann. Physik 404 (1932) 961.)
 *
 * With a list, particles start where those of the list are. In a sphere, one starts where the line
 * of its flight enters the sphere, at the time at which it would have been there, so that its first
 * flight is as any other. One outside comes in through the port or an end, or it has escaped.
 *
 * Each step draws one Philox block: block 0 for the start, block 1 + steps for the next flight.
 */
#ifndef SL_STAGES_MODELS_CAVITY_H
#define SL_STAGES_MODELS_CAVITY_H

#include "stages/models/common/list_source.h"

#define SL_COLUMNS_cavity                                                                         \
	(SL_BIT(SL_COLUMN_id) | SL_BIT(SL_COLUMN_x) | SL_BIT(SL_COLUMN_y) | SL_BIT(SL_COLUMN_z) | \
		SL_BIT(SL_COLUMN_u) | SL_BIT(SL_COLUMN_v) | SL_BIT(SL_COLUMN_w) |                 \
		SL_BIT(SL_COLUMN_weight) | SL_BIT(SL_COLUMN_time) | SL_BIT(SL_COLUMN_steps) |     \
		SL_BIT(SL_COLUMN_collisions) | SL_BIT(SL_COLUMN_fate))

#define SL_FATES_cavity                                                          \
	(SL_FATE_BIT(SL_FATE_reflected) | SL_FATE_BIT(SL_FATE_transmitted) |     \
		SL_FATE_BIT(SL_FATE_absorbed) | SL_FATE_BIT(SL_FATE_max_steps) | \
		SL_FATE_BIT(SL_FATE_escaped))

/* A history has dozens of flights, so a survivor is stored, not computed again. */
#define SL_RECOMPUTED_cavity false
#define SL_WEIGHTED_cavity   false

enum sl_cavity_type { SL_CAVITY_SPHERE, SL_CAVITY_TUBE };

struct sl_cavity {
	int type;                /* enum sl_cavity_type */
	float radius, curvature; /* cm; 1/radius */
	float length;            /* of a tube, cm */
	float port;              /* z of the edge of a sphere's port, cm; infinite: there is none */
	float absorb;            /* 1 - reflectance */
	float slowness;          /* 1/speed, ns/cm */
	uint32_t max_steps;
	struct sl_rules_data data; /* of a list, if particles start from one */
};

/*
 * Moves p, of a list, to where its line enters the sphere. Within rounding of the wall it is
 * inside.
 */
SL_HD_PART void sl_cavity_enter_sphere(const struct sl_cavity *r, sl_lanes *p)
{
	sl_f32 along = fmaf(p->x, p->u, fmaf(p->y, p->v, p->z * p->w));
	sl_f32 inside =
		fmaf(r->radius, r->radius, -fmaf(p->x, p->x, fmaf(p->y, p->y, p->z * p->z)));
	sl_f32 root2 = fmaf(along, along, inside);
	sl_mask within = inside >= r->radius * r->radius * -0x1p-20f, enters;
	sl_lanes q = *p;

	root2 = sl_select(root2 > 0.0f, root2, 0.0f);
	sl_fly(&q, -along - sqrtf(root2), sl_all(r->slowness));
	enters = within | ((along < 0.0f) & (root2 > 0.0f) & (q.z >= r->port));
	sl_assign_if(enters, p, &q);
	p->fate = sl_select_fate(enters, SL_FATE_alive, SL_FATE_escaped);
}

/* Moves p, of a list, to an end of the tube, if it is outside. */
SL_HD_PART void sl_cavity_enter_tube(const struct sl_cavity *r, sl_lanes *p)
{
	sl_mask before = p->z<0.0f, after = p->z> r->length, inside;
	sl_mask enters = (before & (p->w > 0.0f)) | (after & (p->w < 0.0f));
	sl_lanes q = *p;

	if (sl_any(enters)) {
		sl_f32 end = sl_select(before, 0.0f, r->length);

		sl_fly(&q, (end - q.z) / q.w, sl_all(r->slowness));
		q.z = end;
		sl_assign_if(sl_not(enters), &q, p);
	}
	inside = fmaf(q.x, q.x, q.y * q.y) <= r->radius * r->radius * (1 + 0x1p-20f);
	inside = inside & (enters | sl_not(before | after));
	sl_assign_if(inside, p, &q);
	p->fate = sl_select_fate(inside, SL_FATE_alive, SL_FATE_escaped);
}

/* Starts particle id: at the pole of a sphere, or uniformly over the open end of a tube. */
SL_HD sl_lanes sl_cavity_generate(
	const struct sl_cavity *r, sl_column_set wanted, uint64_t seed, sl_u64 id)
{
	struct sl_words random = sl_draw(seed, id, sl_all_u64(0));
	sl_lanes p = {0};

	(void)wanted; /* the flights need all columns */
	p.id = id;
	p.weight = sl_all(1.0f);
	p.fate = sl_all_fate(SL_FATE_alive);
	if (r->data.list.n > 0) {
		sl_list_start(&r->data, seed, &p);
		if (r->type == SL_CAVITY_SPHERE)
			sl_cavity_enter_sphere(r, &p);
		else
			sl_cavity_enter_tube(r, &p);
		return p;
	}
	sl_lambertian(&p, sl_all(0.0f), sl_all(0.0f), sl_all(1.0f), random.at[0], random.at[1]);
	if (r->type == SL_CAVITY_SPHERE) {
		p.z = sl_all(-r->radius);
	} else {
		sl_f32 off = r->radius * sqrtf(sl_uniform(random.at[2]));

		sl_sincospi(2.0f * sl_uniform(random.at[3]), &p.y, &p.x);
		p.x *= off;
		p.y *= off;
	}
	return p;
}

/*
 * Flies p from one point of the sphere to another, which may lie in the port. The position is
 * scaled back onto the sphere, so that rounding errors do not add up.
 */
SL_HD void sl_cavity_sphere_flight(const struct sl_cavity *r, sl_lanes *p)
{
	sl_f32 along = fmaf(p->x, p->u, fmaf(p->y, p->v, p->z * p->w)), onto;

	sl_fly(p, -2.0f * along, sl_all(r->slowness));
	onto = r->radius / sqrtf(fmaf(p->x, p->x, fmaf(p->y, p->y, p->z * p->z)));
	p->x *= onto;
	p->y *= onto;
	p->z *= onto;
	p->fate = sl_select_fate(p->z >= r->port, SL_FATE_escaped, p->fate);
}

/*
 * The distance to the wall of an infinite tube, from a point on the wall or, before the first
 * flight, inside. Written without differences of nearly equal numbers. A flight along the axis
 * (sideways = 0) has a practically infinite distance.
 */
SL_HD sl_f32 sl_cavity_tube_distance(const struct sl_cavity *r, const sl_lanes *p)
{
	sl_f32 sideways = fmaf(p->u, p->u, p->v * p->v), along = fmaf(p->x, p->u, p->y * p->v);
	sl_f32 inside = fmaf(r->radius, r->radius, -fmaf(p->x, p->x, p->y * p->y)), root, distance;

	inside = sl_select((p->steps > 0) | (inside < 0.0f), 0.0f, inside);
	root = sqrtf(fmaf(along, along, sideways * inside));
	distance = sl_select(along > 0.0f, inside / (along + root), (root - along) / sideways);
	return sl_select(sideways > 0.0f, distance, 0x1p126f);
}

/* Flies p to the wall of the tube, or out of one of its ends. */
SL_HD void sl_cavity_tube_flight(const struct sl_cavity *r, sl_lanes *p)
{
	sl_f32 distance = sl_cavity_tube_distance(r, p), end = fmaf(distance, p->w, p->z), onto;
	sl_mask back = end<0.0f, out = end> r->length, stays = sl_not(back | out);

	distance =
		sl_select(back, -p->z / p->w, sl_select(out, (r->length - p->z) / p->w, distance));
	sl_fly(p, distance, sl_all(r->slowness));
	p->z = sl_select(back, 0.0f, sl_select(out, r->length, p->z));
	p->fate = sl_select_fate(
		back, SL_FATE_reflected, sl_select_fate(out, SL_FATE_transmitted, p->fate));
	if (sl_any(stays)) {
		onto = r->radius / sqrtf(fmaf(p->x, p->x, p->y * p->y));
		p->x = sl_select(stays, p->x * onto, p->x);
		p->y = sl_select(stays, p->y * onto, p->y);
	}
}

/* The end of a flight at the wall: absorption or diffuse reflection. */
SL_HD void sl_cavity_meet_wall(
	const struct sl_cavity *r, sl_lanes *p, const struct sl_words *random)
{
	const bool round = r->type == SL_CAVITY_SPHERE;
	sl_mask absorbed = sl_uniform(random->at[0]) <= r->absorb;
	sl_lanes q;

	p->collisions += 1;
	p->fate = sl_select_fate(absorbed, SL_FATE_absorbed, p->fate);
	if (sl_any(sl_not(absorbed))) {
		q = *p;
		sl_lambertian(&q, -p->x * r->curvature, -p->y * r->curvature,
			round ? -p->z * r->curvature : sl_all(0.0f), random->at[1], random->at[2]);
		sl_assign_if(sl_not(absorbed), p, &q);
	}
}

/* One step of p, which is alive: a flight, then absorption or diffuse reflection. */
SL_HD void sl_cavity_step(
	const struct sl_cavity *r, sl_column_set wanted, uint64_t seed, sl_lanes *p)
{
	struct sl_words random = sl_draw(seed, p->id, sl_sum(1, p->steps));
	sl_mask alive;
	sl_lanes q;

	(void)wanted;
	if (r->type == SL_CAVITY_SPHERE)
		sl_cavity_sphere_flight(r, p);
	else
		sl_cavity_tube_flight(r, p);
	p->steps += 1;
	alive = p->fate == SL_FATE_alive;
	if (sl_any(alive)) {
		q = *p;
		sl_cavity_meet_wall(r, &q, &random);
		sl_end_after(&q, r->max_steps);
		sl_assign_if(alive, p, &q);
	}
}

SL_ADVANCE_BY_STEPS(cavity)

#ifdef SL_MODEL_HOST

#include "stages/models/config/list_config.h"

/* The configuration of the model; a value that the user left out is NaN if it has no default. */
struct sl_cavity_config {
	double radius, length, port, reflectance, speed;
	int type;
	struct {
		struct sl_source_config list;
	} source;
};

static const char *const sl_cavity_types[] = {"sphere", "tube", NULL};

#define OPTION(...) SL_OPTION(sl_cavity_config, __VA_ARGS__)
static const struct sl_option sl_cavity_options[] = {
	OPTION(type, CHOICE, NUMBER, 0, 0, .required = true, .choices = sl_cavity_types,
		.help = "sphere (with a port opposite the start) or tube (open at both ends)"),
	OPTION(radius, REAL, LENGTH, 1e-12, 1e12, .required = true,
		.help = "radius of the sphere or of the tube"),
	OPTION(length, REAL, LENGTH, 1e-12, 1e12, .help = "length of a tube"),
	OPTION(port, REAL, NUMBER, 0, 1, .help = "share of a sphere's area that is open"),
	OPTION(reflectance, REAL, NUMBER, 0, 1, .fallback = "1",
		.help = "probability that a wall reflects a particle; else it absorbs it"),
	OPTION(speed, REAL, SPEED, 1e-15, 1e20, .fallback = "299792458 m/s",
		.help = "speed of the particles, for the time of flight"),
#define OF_LIST(key, path, ...) \
	SL_OPTION_NAMED("source.list." #key, sl_cavity_config, source.list.path, __VA_ARGS__),
#include "stages/models/config/list_source_options.def"
#undef OF_LIST
};
#undef OPTION

/*
 * Makes the rules. A sphere needs no length and a tube no port: such a key is refused, because the
 * user would expect an effect. A port of 0 while nothing absorbs would make histories endless.
 */
static void sl_cavity_make(const void *config, const struct sl_model_common *common, void *rules,
	const struct sl_model_check *check)
{
	const struct sl_cavity_config *c = (const struct sl_cavity_config *)config;
	struct sl_cavity *r = (struct sl_cavity *)rules;
	bool round = c->type == SL_CAVITY_SPHERE;

	sl_model_require_only_if(check, round, "port", "a sphere");
	sl_model_require_only_if(check, !round, "length", "a tube");
	if (round && !(c->port > 0) && !(c->reflectance < 1) && check->is_given(check->ctx, "port"))
		check->complain(check->ctx, "port",
			"is 0 while reflectance is 1: no particle could leave or be absorbed; "
			"change one of them");
	r->type = c->type;
	r->radius = (float)c->radius;
	r->curvature = (float)(1 / c->radius);
	r->length = (float)c->length;
	r->port = c->port > 0 ? (float)(c->radius * (1 - 2 * c->port)) : HUGE_VALF;
	r->absorb = (float)(1 - c->reflectance);
	r->slowness = (float)(1 / c->speed);
	r->max_steps = (uint32_t)common->max_steps;
	r->data = (struct sl_rules_data){0};
	sl_source_make(&c->source.list, "source.list", 0, &r->data, check);
}

/* The records of a list. */
static struct sl_rules_data *sl_cavity_data(void *rules)
{
	struct sl_cavity *r = (struct sl_cavity *)rules;

	return r->data.bytes > 0 ? &r->data : NULL;
}

/*
 * Positions are bounded by the walls. Time is unbounded, because the number of flights is limited
 * only by max_steps and the user chooses the speed.
 */
static bool sl_cavity_range(const void *rules, enum sl_column column, double *lo, double *hi)
{
	const struct sl_cavity *r = (const struct sl_cavity *)rules;
	bool round = r->type == SL_CAVITY_SPHERE;

	*lo = 0;
	switch (column) {
	case SL_COLUMN_x:
	case SL_COLUMN_y:
		*hi = (double)r->radius;
		*lo = -*hi;
		return true;
	case SL_COLUMN_z:
		*hi = (double)(round ? r->radius : r->length);
		*lo = round ? -*hi : 0;
		return true;
	default:
		return sl_model_common_range(column, r->max_steps, SL_FATES_cavity, lo, hi);
	}
}

/* Walls absorb whole particles, so every weight stays 1. */
static sl_column_set sl_cavity_constants(const void *rules, struct sl_particle *values)
{
	(void)rules;
	values->weight = 1.0f;
	return SL_BIT(SL_COLUMN_weight);
}

SL_MODEL(cavity,
	.help = "flights between diffuse walls: an integrating sphere with a port, or a tube",
	.species = "particles", .steps = true, .data = sl_cavity_data,
	.source = offsetof(struct sl_cavity_config, source.list), .source_key = "source.list");

#endif /* SL_MODEL_HOST */
#endif
