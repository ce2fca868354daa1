/*
 * slab_parts.h - the source and the detector of the model slab, made from its configuration. Host
 * only; slab_config.h includes it.
 */
#ifndef SL_STAGES_MODELS_CONFIG_SLAB_PARTS_H
#define SL_STAGES_MODELS_CONFIG_SLAB_PARTS_H

/* Makes an isotropic source. The layers are made before: it must lie inside them. */
static void sl_slab_make_depth(
	const struct sl_slab_config *c, struct sl_slab *r, const struct sl_model_check *check)
{
	const float bottom = r->layers > 0 ? r->layer[r->layers - 1].bottom : HUGE_VALF;
	bool inside = c->source.type == SL_SLAB_ISOTROPIC;

	sl_model_require_only_if(check, inside, "source.depth", "source.type: isotropic");
	sl_model_refuse_unused(check, !inside && c->source.list.list.files.n == 0,
		"separate_specular", "a source on the surface");
	r->depth = inside ? (float)c->source.depth : 0.0f;
	if (inside && r->depth >= bottom)
		check->complain(check->ctx, "source.depth",
			"is not inside the slab, which is %g cm thick; make it smaller",
			(double)bottom);
}

static void sl_slab_make_fibre(
	const struct sl_slab_config *c, struct sl_slab *r, const struct sl_model_check *check)
{
	bool fibre = c->source.type == SL_SLAB_FIBRE;
	double sine = fibre ? c->source.na / c->n_above : 0;

	sl_model_require_only_if(check, fibre, "source.na", "source.type: fibre");
	if (sine > 1)
		check->complain(check->ctx, "source.na",
			"is above n_above, which is %g: no angle has a sine above 1; make it at most %.15g",
			c->n_above, c->n_above);
	r->sine2 = (float)(sine * sine);
}

static void sl_slab_make_source(
	const struct sl_slab_config *c, struct sl_slab *r, const struct sl_model_check *check)
{
	int type = c->source.type;
	bool round = type == SL_SLAB_DISK || type == SL_SLAB_FIBRE;
	bool gaussian = type == SL_SLAB_GAUSSIAN, listed = c->source.list.list.files.n > 0;

	sl_model_refuse_unused(check, !listed, "source.type", "a source without list");
	sl_model_require_only_if(check, round, "source.radius", "source.type: disk or fibre");
	sl_model_require_only_if(check, gaussian, "source.sigma", "source.type: gaussian");
	sl_model_refuse_unused(check, type != SL_SLAB_FIBRE && type != SL_SLAB_ISOTROPIC && !listed,
		"incidence", "source.type: pencil, gaussian or disk");
	sl_slab_make_fibre(c, r, check);
	sl_slab_make_depth(c, r, check);
	r->source = type;
	r->size = (float)(round ? c->source.radius : gaussian ? c->source.sigma : 0);
	r->bounced = c->separate_specular ? SL_FATE_specular : SL_FATE_reflected;
}

/* Reports keys of the detector that are missing, or that its type does not use. */
static void sl_slab_check_detector(
	const struct sl_slab_config *c, const struct sl_model_check *check)
{
	const char *const places[] = {
		"detector.face", "detector.center_x", "detector.center_y", "detector.na"};
	bool any = c->detector.type != 0, annulus = c->detector.type == 2;
	bool rectangle = c->detector.type == 3;

	for (size_t k = 0; k < sizeof(places) / sizeof(places[0]); k++)
		sl_model_refuse_unused(check, any, places[k], "a detector.type other than none");
	sl_model_require_only_if(
		check, any && !rectangle, "detector.radius", "detector.type: disk or annulus");
	sl_model_require_only_if(check, annulus, "detector.inner_radius", "detector.type: annulus");
	sl_model_require_only_if(check, rectangle, "detector.width", "detector.type: rectangle");
	sl_model_require_only_if(check, rectangle, "detector.height", "detector.type: rectangle");
	if (annulus && c->detector.inner_radius >= c->detector.radius)
		check->complain(check->ctx, "detector.inner_radius",
			"is not below detector.radius, which is %g cm: the annulus would be empty; make it smaller",
			c->detector.radius);
}

/* Makes the detector. The layers are made before: one without end has no far face. */
static void sl_slab_make_detector(
	const struct sl_slab_config *c, struct sl_slab *r, const struct sl_model_check *check)
{
	bool any = c->detector.type != 0, annulus = c->detector.type == 2;
	bool rectangle = c->detector.type == 3, entrance = c->detector.face == 0;
	bool limited = check->is_given(check->ctx, "detector.na");
	double sine = limited ? c->detector.na / (entrance ? c->n_above : c->n_below) : 2;

	sl_slab_check_detector(c, check);
	if (any && !entrance && r->layers > 0 && isinf(r->layer[r->layers - 1].bottom))
		check->complain(check->ctx, "detector.face",
			"is the far side, and the slab has none: its thickness is inf; use "
			"entrance, or a finite thickness");
	r->detector = (struct sl_slab_detector){.outline = !any        ? SL_SLAB_NO_DETECTOR
	                                                   : rectangle ? SL_SLAB_RECTANGLE
	                                                               : SL_SLAB_ANNULUS,
		.entrance = entrance,
		.x = (float)c->detector.center_x,
		.y = (float)c->detector.center_y,
		.inner2 =
			annulus ? (float)(c->detector.inner_radius * c->detector.inner_radius) : 0,
		.outer2 = (float)(c->detector.radius * c->detector.radius),
		.half_width = (float)(c->detector.width / 2),
		.half_height = (float)(c->detector.height / 2),
		.sine2 = (float)(sine * sine)};
}

#endif
