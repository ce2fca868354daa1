/*
 * image_sum.c - sums weights per pixel and converts the sums to values and grey codes.
 *
 * The integer sums are exact, so they are compared with the weight that the manifest has counted
 * for the fate: a difference means that a file was changed.
 */
#include "pipeline/results/results.h"

#include <math.h>

#include "pipeline/text/text.h"
#include "stages/formats/images/images.h"
#include "stages/particle/weight.h"

/* Number of pixels; 0 for a run without an image. */
static uint64_t pixels_of(const struct sl_image *p)
{
	return (uint64_t)p->width * p->height;
}

void sl_image_sum_lay_out(struct sl_arena *a, const struct sl_file_facts *facts, uint64_t n_batches,
	struct sl_image_sum *c)
{
	const struct sl_image *p = &c->image;
	uint64_t n = pixels_of(p);
	size_t png = sl_png_bytes(p->width, p->height), hdf5 = sl_image_bytes(p, facts);

	if (n == 0)
		return;
	c->sum = (uint64_t *)sl_cut_items(a, n, sizeof(*c->sum));
	c->added = (uint8_t *)sl_cut_items(a, n_batches, sizeof(*c->added));
	c->value = (double *)sl_cut_items(a, n, sizeof(*c->value));
	c->rays = (uint64_t *)sl_cut_items(a, n, sizeof(*c->rays));
	c->grey = (uint8_t *)sl_cut_items(a, n, sizeof(*c->grey));
	c->file_bytes = png > hdf5 ? png : hdf5;
	c->file = sl_cut(a, c->file_bytes);
	(void)sl_cut(a, sl_png_memory(p->width)); /* so that plans count what libpng allocates */
}

size_t sl_image_sum_disk(const struct sl_image *p, const struct sl_file_facts *facts)
{
	return pixels_of(p) == 0
	               ? 0
	               : sl_size_add(sl_png_bytes(p->width, p->height), sl_image_bytes(p, facts));
}

/* --- sums ------------------------------------------------------------------------------------- */

enum sl_status sl_image_sum_add(struct sl_image_sum *c, uint64_t batch, const struct sl_table *t)
{
	const struct sl_table_column *pixels = sl_table_find(t, SL_COLUMN_pixel);
	const struct sl_table_column *weights = sl_table_find(t, SL_COLUMN_weight);
	uint64_t n = pixels_of(&c->image);

	if (n == 0 || c->added[batch])
		return SL_OK;
	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t pixel = ((const uint32_t *)pixels->data)[pixels->constant ? 0 : i];
		float weight = ((const float *)weights->data)[weights->constant ? 0 : i];

		/*
		 * a file that is read back could have been changed: never index with an unchecked
		 * pixel
		 */
		if (pixel >= n || !(weight >= 0.0f && weight <= 1.0f))
			return sl_fail(SL_CHECK_FAILED,
				"row %u has pixel %u of %lu and weight %g, which no survivor can "
				"have: memory or the disk is failing; use --resume",
				i, pixel, n, (double)weight);
		c->sum[pixel] += sl_fixed_weight(weight);
	}
	c->added[batch] = 1;
	return SL_OK;
}

enum sl_status sl_image_sum_read_back(
	struct sl_image_sum *c, const struct sl_dir *dir, const struct sl_manifest *m)
{
	for (size_t i = 0; i < m->n; i++) {
		const struct sl_manifest_line *l = &m->line[i];
		SL_CLOSED_BY(sl_survivors_free) struct sl_survivors survivors = {.block = NULL};

		if (c->added[l->batch])
			continue;
		SL_TRY(sl_survivors_read(dir, l->file.name, NULL, &survivors));
		SL_TRY(sl_add_context(
			sl_image_sum_add(c, l->batch, &survivors.table), "%s", l->file.name));
	}
	return SL_OK;
}

/* Every survivor is in exactly one pixel, so the pixels add up to the weight of the fate. */
static enum sl_status check_sum(const struct sl_image_sum *c, const struct sl_manifest *m)
{
	uint64_t counted = 0, seen = 0;

	for (size_t i = 0; i < m->n; i++)
		counted += m->line[i].tally.weight[c->image.fate];
	for (uint64_t i = 0; i < pixels_of(&c->image); i++)
		seen += c->sum[i];
	return counted == seen
	               ? SL_OK
	               : sl_fail(SL_CHECK_FAILED,
				 "the image does not add up to the weight of %s (%lu / 2^32 "
				 "instead of %lu): a file was changed, or the disk is failing; "
				 "run sluice verify",
				 sl_fate_facts[c->image.fate].name, seen, counted);
}

/* --- values ----------------------------------------------------------------------------------- */

/*
 * With in_turn, particle i starts at pixel i mod n, so the first pixels can have one more than the
 * others, and a value is the mean over the rays of its pixel.
 */
static void compute_values(const struct sl_image_sum *c)
{
	const struct sl_image *p = &c->image;
	uint64_t n = pixels_of(p), particles = c->particles;

	for (uint64_t i = 0; i < n; i++) {
		double sum = (double)c->sum[i] * 0x1p-32;

		c->rays[i] = particles / n + (i < particles % n);
		c->value[i] = !p->in_turn      ? sum * p->scale
		              : c->rays[i] > 0 ? sum / (double)c->rays[i] * p->scale
		                               : 0;
	}
}

/* The transfer function of sRGB (IEC 61966-2-1): linear light to code, both 0 to 1. */
static double srgb(double light)
{
	return light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055;
}

double sl_image_sum_white(const struct sl_image_sum *c)
{
	double white = c->white;

	/* with NaN, the largest value */
	for (uint64_t i = 0; isnan(c->white) && i < pixels_of(&c->image); i++)
		white = c->value[i] > white || isnan(white) ? c->value[i] : white;
	return white;
}

/* Converts values to greys, rows from top to bottom. Values above white are clipped. */
static void compute_greys(const struct sl_image_sum *c)
{
	const struct sl_image *p = &c->image;
	double white = sl_image_sum_white(c);

	for (uint32_t row = 0; row < p->height; row++)
		for (uint32_t column = 0; column < p->width; column++) {
			uint32_t from = p->upward ? p->height - 1 - row : row;
			double light =
				white > 0 ? c->value[(uint64_t)from * p->width + column] / white
					  : 0;

			c->grey[(uint64_t)row * p->width + column] =
				(uint8_t)(255 * srgb(light < 1 ? light : 1) + 0.5);
		}
}

enum sl_status sl_image_sum_finish(struct sl_image_sum *c, const struct sl_manifest *m)
{
	c->particles = 0;
	for (size_t i = 0; i < m->n; i++)
		c->particles += m->line[i].generated;
	SL_TRY(check_sum(c, m));
	compute_values(c);
	compute_greys(c);
	return SL_OK;
}

enum sl_status sl_image_sum_numbers(
	const struct sl_image_sum *c, const struct sl_file_facts *facts, size_t *bytes)
{
	const struct sl_image_values values = {.image = &c->image,
		.particles = c->particles,
		.value = c->value,
		.sum = c->sum,
		.rays = c->image.in_turn ? c->rays : NULL};

	return sl_image_make(facts, &values, c->file, c->file_bytes, bytes);
}

enum sl_status sl_image_sum_png(const struct sl_image_sum *c, size_t *bytes)
{
	return sl_png_make(c->image.width, c->image.height, c->grey, c->file, c->file_bytes, bytes);
}
