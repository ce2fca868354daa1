/*
 * image.c - checks that the files of the run contain what the image is summed from.
 *
 * A resumed run sums the image from the files of earlier batches, so these must contain the columns
 * pixel and weight, and only the fate of the image.
 */
#include "pipeline/resolve/output/output.h"

#include "stages/formats/formats.h"

/* The sum of a pixel has 32 bits before the binary point. */
static const double pixel_limit = 0x1p32;

/* Are pixel and weight among the columns written? */
static void check_columns(struct sl_resolver *v)
{
	const sl_column_set written = v->to->columns & ~v->to->internal;
	bool pixel = SL_HAS(written, SL_COLUMN_pixel);

	if (!pixel && v->to->format && v->to->format->packing.records)
		sl_config_add_problem(v->r, "output.mcpl.userflags",
			"must be pixel, because the image is summed from that column; use pixel");
	else if (!pixel || !SL_HAS(written, SL_COLUMN_weight))
		sl_config_add_problem(v->r, "output.columns",
			"lacks %s, from which the image is summed; add %s",
			pixel ? "weight" : "pixel", pixel ? "weight" : "pixel");
}

void sl_resolve_image(struct sl_resolver *v)
{
	const struct sl_model *m = v->to->model;
	struct sl_image *p = &v->to->image;

	if (!v->c->output.image) {
		sl_config_refuse_unused(v->r, "output.white", "the run makes no image",
			"remove it or add output.image: true");
		return;
	}
	if (m->image && !v->ranges)
		return;
	if (v->to->format == &sl_format_none) {
		sl_config_add_problem(v->r, "output.image",
			"needs files of survivors, from which a resumed run sums the image, and "
			"output.format: none writes none; remove it or use output.format: openpmd");
		return;
	}
	if (!m->image || !m->image(v->to->rules.bytes, p)) {
		sl_config_add_problem(v->r, "output.image",
			"needs pixels, but this model configuration defines none; remove it");
		return;
	}
	if (v->to->keep != SL_FATE_BIT(p->fate) && !sl_config_has_problem(v->r, "keep"))
		sl_config_add_problem(v->r, "keep",
			"must be %s alone, because the image shows particles of that fate; use keep: %s",
			sl_fate_facts[p->fate].name, sl_fate_facts[p->fate].name);
	if (!sl_config_has_problem(v->r, "output.columns"))
		check_columns(v);
	if ((double)v->c->run.particles / (p->in_turn ? (double)p->width * p->height : 1) >=
		pixel_limit)
		sl_config_add_problem(v->r, "output.image",
			"can count 2^32 or more particles in one pixel, which overflows its sum; use fewer particles");
}
