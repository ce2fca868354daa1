/* picture.c - output.image and output.white: does the run make an image, and of what? */
#include "pipeline/resolve/output/image.h"

#include <math.h>

#include "pipeline/config/reader/diagnostics.h"
#include "stages/formats/mcpl/mcpl.h"

/* A pixel's sum has 32 bits for whole weights. */
static const double most_of_pixel = 0x1p32;

static bool is_written(const struct sl_choices *choices, enum sl_column column)
{
	for (uint32_t k = 0; k < choices->n_columns; k++)
		if (choices->column[k] == column)
			return true;
	return false;
}

/* What the files must have, as an image is summed up from them when a run is gone on with. */
static void check_columns(struct sl_reader *r, const struct sl_choices *choices)
{
	bool pixel = is_written(choices, SL_COLUMN_pixel);

	if (!pixel && sl_format_is_mcpl(choices->format))
		sl_config_complain(r, "output.mcpl.userflags",
			"is not pixel (an image is the sum of weight by pixel, of those written), "
			"try pixel");
	else if (!pixel || !is_written(choices, SL_COLUMN_weight))
		sl_config_complain(r, "output.columns",
			"lack %s (an image is the sum of weight by pixel, of those written), try "
			"adding it",
			pixel ? "weight" : "pixel");
}

static void check_picture(const struct sl_config *c, struct sl_reader *r,
	const struct sl_choices *choices, const struct sl_image *p)
{
	double pixels = (double)p->width * (double)p->height;

	if (choices->keep != SL_FATE_BIT(p->fate) && !sl_config_flawed(r, "keep"))
		sl_config_complain(r, "keep",
			"is not %s alone (an image is of particles with that fate), try keep: %s",
			sl_fate_facts[p->fate].name, sl_fate_facts[p->fate].name);
	if (!sl_config_flawed(r, "output.columns"))
		check_columns(r, choices);
	if ((double)c->run.particles / (p->in_turn ? pixels : 1) >= most_of_pixel)
		sl_config_complain(r, "output.image",
			"has pixels of 2^32 particles or more (their sums would not hold them), try "
			"fewer particles");
}

void sl_resolve_image(
	const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices, bool rules)
{
	const struct sl_model *m = choices->model;

	if (!c->output.image) {
		if (sl_config_given(r, "output.white") && !sl_config_flawed(r, "output"))
			sl_config_complain(r, "output.white",
				"does nothing here (there is no image), remove it or add image: "
				"true");
		return;
	}
	if (m->image && !rules)
		return;
	if (!m->image || !m->image(choices->rules.bytes, &choices->image))
		sl_config_complain(r, "output.image",
			"is of nothing (the particles of this model have no pixels as it is), try "
			"removing it");
	else
		check_picture(c, r, choices, &choices->image);
}
