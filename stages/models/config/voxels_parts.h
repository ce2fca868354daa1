/*
 * voxels_parts.h - the source of the model voxels and the units of its scores, made from its
 * configuration. Host only; voxels_config.h includes it.
 */
#ifndef SL_STAGES_MODELS_CONFIG_VOXELS_PARTS_H
#define SL_STAGES_MODELS_CONFIG_VOXELS_PARTS_H

/* Scales v to length 1; returns false if it is 0. */
static bool sl_voxels_normalise(struct sl_vector *v)
{
	double most = fmax(fabs(v->at[0]), fmax(fabs(v->at[1]), fabs(v->at[2]))), square = 0;

	for (int a = 0; a < 3 && most > 0; a++) {
		v->at[a] /= most; /* so that the square neither overflows nor vanishes */
		square += v->at[a] * v->at[a];
	}
	for (int a = 0; a < 3 && most > 0; a++)
		v->at[a] /= sqrt(square);
	return most > 0;
}

/* Reports keys of the source that are missing, or that its type does not use. */
static void sl_voxels_check_source(
	const struct sl_voxels_config *c, const struct sl_model_check *check)
{
	const int type = c->source.type;
	bool round = type == SL_VOXELS_DISK || type == SL_VOXELS_FIBRE;
	bool listed = c->source.list.list.files.n > 0;

	sl_model_refuse_unused(check, !listed, "source.type", "a source without list");
	sl_model_refuse_unused(check, !listed, "source.position", "a source without list");
	sl_model_require_only_if(check, round, "source.radius", "source.type: disk or fibre");
	sl_model_require_only_if(
		check, type == SL_VOXELS_GAUSSIAN, "source.sigma", "source.type: gaussian");
	sl_model_require_only_if(check, type == SL_VOXELS_FIBRE, "source.na", "source.type: fibre");
	sl_model_require_only_if(
		check, type == SL_VOXELS_CONE, "source.angle", "source.type: cone");
	sl_model_require_only_if(check, type >= SL_VOXELS_PLANAR, "source.side",
		"source.type: planar, line, slit or pattern");
	sl_model_require_only_if(check, type == SL_VOXELS_PLANAR || type == SL_VOXELS_PATTERN,
		"source.side_2", "source.type: planar or pattern");
	sl_model_require_only_if(
		check, type == SL_VOXELS_PATTERN, "source.image", "source.type: pattern");
	sl_model_refuse_unused(check,
		type != SL_VOXELS_ISOTROPIC && type != SL_VOXELS_LINE && !listed,
		"source.direction", "a source.type other than isotropic and line");
}

/* The spread of directions of each type (struct sl_voxels). */
static float sl_voxels_spread(const struct sl_voxels_config *c, const struct sl_model_check *check)
{
	double half = sin(c->source.angle / 2), n = c->n_source > 0 ? c->n_source : c->n_outside;

	switch (c->source.type) {
	case SL_VOXELS_FIBRE:
		if (c->source.na > n)
			check->complain(check->ctx, "source.na",
				"is above the refractive index at the source, which is %g: no angle has a "
				"sine above 1; make it at most %.15g",
				n, n);
		return (float)pow(c->source.na / n, 2);
	case SL_VOXELS_CONE:
		return (float)(2 * half * half);
	case SL_VOXELS_ISOTROPIC:
		return 2;
	default:
		return c->source.type == SL_VOXELS_LINE ? 1 : 0;
	}
}

static void sl_voxels_make_source(
	const struct sl_voxels_config *c, struct sl_voxels *r, const struct sl_model_check *check)
{
	const int type = c->source.type;
	const bool sides = type >= SL_VOXELS_PLANAR,
		   area = type == SL_VOXELS_PLANAR || type == SL_VOXELS_PATTERN;
	struct sl_vector along = type == SL_VOXELS_LINE ? c->source.side : c->source.direction;
	const double *position = c->source.position.at, *side = c->source.side.at,
		     *side_2 = c->source.side_2.at;

	sl_voxels_check_source(c, check);
	if (!sl_voxels_normalise(&along))
		check->complain(check->ctx,
			type == SL_VOXELS_LINE ? "source.side" : "source.direction",
			"is 0 and so no direction; write [0, 0, 1]");
	r->source = type;
	r->position_x = (float)position[0];
	r->position_y = (float)position[1];
	r->position_z = (float)position[2];
	r->direction_x = (float)along.at[0];
	r->direction_y = (float)along.at[1];
	r->direction_z = (float)along.at[2];
	r->spread = sl_voxels_spread(c, check);
	r->size = type == SL_VOXELS_GAUSSIAN                          ? (float)c->source.sigma
	          : type == SL_VOXELS_DISK || type == SL_VOXELS_FIBRE ? (float)c->source.radius
	                                                              : 0;
	for (int k = 0; k < 2; k++) {
		const double *s = k == 0 ? side : side_2;

		r->side_x[k] = sides && (k == 0 || area) ? (float)s[0] : 0;
		r->side_y[k] = sides && (k == 0 || area) ? (float)s[1] : 0;
		r->side_z[k] = sides && (k == 0 || area) ? (float)s[2] : 0;
	}
	if (sides)
		r->size = 1; /* there is a place to draw */
	if (type == SL_VOXELS_PATTERN && c->image[0] == 0) {
		r->source = SL_VOXELS_PLANAR; /* there are no chances; the file is reported */
	} else if (type == SL_VOXELS_PATTERN) {
		r->rows = c->image[0], r->columns = c->image[1];
		r->pattern = (r->data.bytes + 3) / 4 * 4;
		r->data.bytes = r->pattern + 4 * (uint64_t)r->rows * (r->columns + 1);
	}
}

/* --- units of scores -------------------------------------------------------------------------- */

/* The fluence that one collision scores is at most the longest mean free path. */
static int sl_voxels_score_shift(const void *rules)
{
	return sl_length_exponent(((const struct sl_voxels *)rules)->longest);
}

/* Few flights are longer than eight mean free paths, none is longer than the volume. */
static int sl_voxels_track_shift(const void *rules)
{
	const struct sl_voxels *r = (const struct sl_voxels *)rules;
	float across = r->nx * r->dx + r->ny * r->dy + r->nz * r->dz;
	float path = 8 * r->longest;

	return sl_length_exponent(path > 0 && path < across ? path : across);
}

#endif
