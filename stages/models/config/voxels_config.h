/*
 * voxels_config.h - the configuration of the model voxels: option table, checks, the rules made
 * from it, and their data. Host only; voxels.h includes it.
 */
#ifndef SL_STAGES_MODELS_CONFIG_VOXELS_CONFIG_H
#define SL_STAGES_MODELS_CONFIG_VOXELS_CONFIG_H

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "stages/models/config/absorption_config.h"
#include "stages/models/config/checksum_config.h"
#include "stages/models/config/list_config.h"

struct sl_voxels_medium_config {
	double mu_a, mu_s, g, n;
	uint64_t region; /* of voxels_paths; voxels: 0 */
};

struct sl_voxels_detector_config {
	struct sl_vector position;
	double radius;
};

struct sl_voxels_config {
	char file[SL_TEXT_BYTES], type[SL_TEXT_BYTES];
	struct sl_counts size, checksum;
	struct sl_reals voxel;
	uint64_t n_media;
	struct sl_voxels_medium_config media[SL_VOXELS_MEDIA - 1];
	double n_outside, max_time;
	int absorption;
	struct sl_roulette_config roulette;
	struct {
		int type;
		struct sl_vector position, direction, side, side_2;
		double radius, sigma, na, angle;
		char image[SL_TEXT_BYTES];
		struct sl_source_config list;
	} source;
	uint64_t n_detectors;
	struct sl_voxels_detector_config detectors[SL_VOXELS_DETECTORS_MAX];
	bool separate;     /* labels of equal media; set by sl_voxels_paths_load() */
	uint32_t image[2]; /* its pixels; set by sl_voxels_load() */
	uint32_t largest;  /* label of the volume; set by sl_voxels_load(); 0: no file was read */
	double n_source;   /* the index at the position of the source; set by sl_voxels_load() */
};

static const char *const sl_voxels_sources[] = {"pencil", "gaussian", "disk", "fibre", "isotropic",
	"cone", "planar", "line", "slit", "pattern", NULL};

#define OPTION(...) SL_OPTION(sl_voxels_config, __VA_ARGS__),
#define OF_MEDIUM(path, ...)                                                            \
	SL_OPTION_NAMED("media[]." #path, sl_voxels_config, media[0].path, __VA_ARGS__, \
		.stride = sizeof(struct sl_voxels_medium_config)),
#define OF_DETECTOR(path, ...)                                                                  \
	SL_OPTION_NAMED("detectors[]." #path, sl_voxels_config, detectors[0].path, __VA_ARGS__, \
		.stride = sizeof(struct sl_voxels_detector_config)),
#define OF_REGION(...)
static const struct sl_option sl_voxels_options[] = {
#include "stages/models/config/voxels_options.def"
};
#undef OF_REGION
#undef OPTION

/* --- the data --------------------------------------------------------------------------------- */

/* The medium of a label; label 0 is clear. */
static struct sl_voxels_medium sl_voxels_make_medium(
	const struct sl_voxels_config *c, uint64_t label)
{
	const struct sl_voxels_medium_config outside = {0, 0, 0, c->n_outside, 0},
					     *m = label > 0 ? &c->media[label - 1] : &outside;
	double mu_t = m->mu_a + m->mu_s, absorb = mu_t > 0 ? m->mu_a / mu_t : 0;
	double g = mu_t > 0 ? m->g : 1;
	bool implicit = c->absorption != SL_ANALOGUE;

	return (struct sl_voxels_medium){
		.mean_free_path = mu_t > 0 ? (float)(1 / mu_t) : SL_VOXELS_CLEAR_PATH,
		.mu_t = mu_t > 0 ? (float)mu_t : 1 / SL_VOXELS_CLEAR_PATH,
		.absorb = implicit ? 0 : (float)absorb,
		.keep = implicit ? (float)(1 - absorb) : 1,
		.g = (float)g,
		.g_plus_1_squared_2 = (float)(2 * (1 + g) * (1 + g)),
		.n = (float)m->n,
		.slowness = (float)(m->n / 29.9792458) /* speed of light in cm/ns */};
}

/* The least label with the same medium. */
static uint8_t sl_voxels_same_label(const struct sl_voxels_config *c, uint64_t label)
{
	uint64_t k = 1;

	while (k < label && memcmp(&c->media[k - 1], &c->media[label - 1],
				    offsetof(struct sl_voxels_medium_config, region)) != 0)
		k++;
	return (uint8_t)(label > 0 ? k : 0);
}

/* The bytes of media and labels; the records of a list follow. */
static size_t sl_voxels_label_bytes(const struct sl_voxels *r)
{
	return SL_VOXELS_MEDIA * sizeof(struct sl_voxels_medium) +
	       (size_t)r->plane * ((size_t)r->nz + 2);
}

/* Writes the data of the rules; v has no labels if all of them are 1. */
static void sl_voxels_fill(
	const struct sl_voxels_config *c, const struct sl_volume *v, const struct sl_voxels *r)
{
	struct sl_voxels_medium *media = (struct sl_voxels_medium *)(uintptr_t)r->data.at;
	uint8_t *label = (uint8_t *)(media + SL_VOXELS_MEDIA), same[SL_VOXELS_MEDIA];
	const uint16_t *from = v->labels;
	const size_t row = (size_t)c->size.at[0];

	memset(media, 0, sl_voxels_label_bytes(r));
	for (uint64_t k = 0; k <= c->n_media; k++) {
		media[k] = sl_voxels_make_medium(c, k);
		same[k] = c->separate ? (uint8_t)k : sl_voxels_same_label(c, k);
	}
	for (uint64_t k = 0; k < c->size.at[2]; k++)
		for (uint64_t j = 0; j < c->size.at[1]; j++) {
			uint8_t *to = label + (k + 1) * r->plane + (j + 1) * r->row + 1;

			for (size_t i = 0; i < row; i++)
				to[i] = same[from ? from[i] : 1];
			from += from ? row : 0;
		}
}

/* sum/total in 2^-31, rounded down: a division bit by bit, as sums are up to 2^56. */
static uint32_t sl_voxels_part(uint64_t sum, uint64_t total)
{
	uint64_t part = 0;

	for (int bit = 0; bit <= 31; bit++) {
		part = 2 * part + (sum >= total);
		sum = 2 * (sum >= total ? sum - total : sum);
	}
	return (uint32_t)part;
}

/* The whole number of a weight, of which the largest is most. */
static uint64_t sl_voxels_whole(double weight, double most)
{
	return (uint64_t)(weight / most * 0x1p32);
}

/*
 * Writes the chances of a pattern (struct sl_voxels). All sums and divisions are of whole numbers,
 * at most 2^24 pixels of at most 2^32, so they are the same everywhere.
 */
static void sl_voxels_fill_pattern(const struct sl_volume *image, const struct sl_voxels *r)
{
	char *to = (char *)(uintptr_t)r->data.at + r->pattern;
	const uint32_t columns = r->columns;
	double most = 0;

	for (size_t k = 0; k < (size_t)r->rows * columns; k++)
		most = fmax(most, image->pixels[k]);
	for (uint32_t list = 0; list <= r->rows; list++) { /* of rows, then the pixels of each */
		const uint32_t n = list == 0 ? r->rows : columns, per = list == 0 ? columns : 1;
		const double *pixel =
			image->pixels + (list == 0 ? 0 : (size_t)(list - 1) * columns);
		uint64_t total = 0, sum = 0;

		for (size_t k = 0; k < (size_t)n * per; k++)
			total += sl_voxels_whole(pixel[k], most);
		for (uint32_t k = 0; k < n; k++, to += sizeof(uint32_t)) {
			uint32_t chance;

			for (uint32_t i = 0; i < per; i++)
				sum += sl_voxels_whole(pixel[(size_t)k * per + i], most);
			chance = total > 0 ? sl_voxels_part(sum, total) : 0;
			memcpy(to, &chance, sizeof(chance));
		}
	}
}

/* Sets the keys that the file states and the configuration does not. */
static void sl_voxels_store(struct sl_voxels_config *c, const struct sl_volume *v)
{
	c->largest = v->largest > 0 ? v->largest : 1;
	for (int a = 0; a < 3 && c->size.n == 0; a++)
		c->size.at[a] = v->size[a];
	c->size.n = c->size.n == 0 ? 3 : c->size.n;
	if (c->voxel.n == 0 && v->edge_mm[0] > 0) {
		c->voxel.n = 3;
		for (int a = 0; a < 3; a++)
			c->voxel.at[a] = v->edge_mm[a] / 10;
	}
}

/*
 * The refractive index at the position of the source: on a face of a voxel, that of the voxel into
 * which it points, as sl_voxels_find() has it.
 */
static double sl_voxels_source_index(const struct sl_voxels_config *c, const struct sl_volume *v)
{
	size_t place = 0, stride = 1;
	uint32_t label;

	for (int a = 0; a < 3; stride *= (size_t)c->size.at[a++]) {
		const float edge = (float)c->voxel.at[c->voxel.n == 3 ? a : 0];
		const float at = (float)c->source.position.at[a];
		const bool down = c->source.direction.at[a] < 0;
		uint64_t i = 0;

		while (i < c->size.at[a] &&
			(down ? (float)(i + 1) * edge < at : (float)(i + 1) * edge <= at))
			i++;
		if (i == c->size.at[a] || !(down ? at > 0 : at >= 0))
			return c->n_outside;
		place += i * stride;
	}
	label = v->labels ? v->labels[place] : 1;
	return label > 0 && label <= c->n_media ? c->media[label - 1].n : c->n_outside;
}

/*
 * Reads a file of the configuration, of which item k of the checksums is. A wrong name is a problem
 * of the configuration.
 */
static enum sl_status sl_voxels_read(struct sl_voxels_config *c, const char *file, uint32_t k,
	const struct sl_volume_request *request, const struct sl_volume_reader *reader,
	struct sl_volume *v)
{
	enum sl_status s = reader->read(file, request, v);
	size_t n = (size_t)v->size[0] * v->size[1] * v->size[2];
	const void *items = request->image ? (const void *)v->pixels : v->labels;

	if (s == SL_OK)
		return sl_check_crc(&c->checksum, k, items,
			n * (request->image ? sizeof(*v->pixels) : sizeof(*v->labels)), file,
			request->image ? "pixels" : "labels", "voxels");
	return s == SL_DISK && sl_path_is_missing(file, R_OK) ? SL_USAGE : s;
}

/* See struct sl_model. */
static enum sl_status sl_voxels_load(
	void *config, const void *rules, const struct sl_volume_reader *reader, const char **key)
{
	struct sl_voxels_config *c = (struct sl_voxels_config *)config;
	const struct sl_voxels *r = (const struct sl_voxels *)rules;
	struct sl_volume_request request = {.type = c->type[0] ? c->type : NULL};
	const struct sl_volume_request of_image = {.image = true};
	struct sl_volume v = {.largest = 1}, image = {.size = {0}};
	enum sl_status s = SL_OK;

	for (uint32_t a = 0; a < 3 && c->size.n == 3; a++)
		request.size[a] = (uint32_t)c->size.at[a];
	c->largest = c->file[0] ? 0 : 1;
	*key = "file";
	if (c->file[0])
		s = sl_voxels_read(c, c->file, 0, &request, reader, &v);
	if (s == SL_OK && c->file[0])
		sl_voxels_store(c, &v);
	if (s == SL_OK)
		c->n_source = sl_voxels_source_index(c, &v);
	if (s == SL_OK && c->source.image[0]) {
		*key = "source.image";
		s = sl_voxels_read(
			c, c->source.image, c->file[0] ? 1 : 0, &of_image, reader, &image);
		c->image[0] = image.size[0], c->image[1] = image.size[1];
	}
	if (s == SL_OK && rules) /* make() has accepted the size */
		sl_voxels_fill(c, &v, r);
	if (s == SL_OK && rules && r->rows > 0)
		sl_voxels_fill_pattern(&image, r);
	if (v.labels)
		reader->give(&v);
	if (image.pixels)
		reader->give(&image);
	return s;
}

/* --- the rules -------------------------------------------------------------------------------- */

#include "stages/models/config/voxels_parts.h"

/* Sets the size of the volume and of its voxels. */
static void sl_voxels_make_grid(
	const struct sl_voxels_config *c, struct sl_voxels *r, const struct sl_model_check *check)
{
	float edge[3] = {1, 1, 1};
	uint64_t n[3] = {1, 1, 1};
	bool known = c->largest > 0; /* else the file is reported */

	if (c->size.n != 3 && known)
		check->complain(check->ctx, "size",
			c->size.n > 0
				? "is not a list of three numbers of voxels; write [60, 60, 60]"
				: "is missing: without a file it sets the voxels along x, y and z; write "
				  "[60, 60, 60]");
	if (c->voxel.n != 1 && c->voxel.n != 3 && known)
		check->complain(check->ctx, "voxel",
			c->voxel.n > 0
				? "is not one length or three; write 1 mm or [1 mm, 1 mm, 2 mm]"
				: "is missing, and no file states it; give the edge of a voxel, such as 1 mm");
	for (uint32_t a = 0; a < 3; a++) {
		n[a] = c->size.n == 3 ? c->size.at[a] : 1;
		if (n[a] > SL_VOXELS_SIZE_MAX)
			check->complain(check->ctx, "size",
				"has %" PRIu64
				" voxels along an axis, and at most %d are possible; join voxels",
				n[a], SL_VOXELS_SIZE_MAX);
		if (c->voxel.n > 0)
			edge[a] = (float)c->voxel.at[c->voxel.n == 3 ? a : 0];
	}
	r->nx = (float)n[0], r->ny = (float)n[1], r->nz = (float)n[2];
	r->dx = edge[0], r->dy = edge[1], r->dz = edge[2];
	r->per_dx = 1 / edge[0], r->per_dy = 1 / edge[1], r->per_dz = 1 / edge[2];
	r->row = (uint32_t)n[0] + 2;
	r->plane = r->row * ((uint32_t)n[1] + 2);
	r->data.at = NULL;
	r->data.bytes = sl_voxels_label_bytes(r);
}

/* Reports media in which flights would leave the range of float, and labels without a medium. */
static void sl_voxels_check_media(
	const struct sl_voxels_config *c, struct sl_voxels *r, const struct sl_model_check *check)
{
	char key[32];

	for (uint32_t i = 0; i < c->n_media; i++) {
		double mu_t = c->media[i].mu_a + c->media[i].mu_s;

		snprintf(key, sizeof(key), "media[%u].mu_a", i);
		if (mu_t > 0 && mu_t < 1e-30)
			check->complain(check->ctx, key,
				"mu_a + mu_s is %g /cm: flights would leave single precision; make "
				"it at least 1e-30 /cm",
				mu_t);
		if (mu_t > 0 && 1 / mu_t > (double)r->longest)
			r->longest = (float)(1 / mu_t);
	}
	if (c->largest > c->n_media)
		check->complain(check->ctx, "media",
			"has %" PRIu64
			" items, and the volume has label %u: item k is the medium of label k; add the others",
			c->n_media, c->largest);
}

static void sl_voxels_make(const void *config, const struct sl_model_common *common, void *rules,
	const struct sl_model_check *check)
{
	const struct sl_voxels_config *c = (const struct sl_voxels_config *)config;
	struct sl_voxels *r = (struct sl_voxels *)rules;

	memset(r, 0, sizeof(*r));
	sl_voxels_make_grid(c, r, check);
	sl_voxels_check_media(c, r, check);
	r->roulette = sl_make_roulette(c->absorption, &c->roulette, check);
	sl_source_make(&c->source.list, "source.list", r->data.bytes, &r->data, check);
	sl_voxels_make_source(c, r, check);
	r->detectors = (uint32_t)c->n_detectors;
	for (uint32_t k = 0; k < r->detectors; k++) {
		const struct sl_voxels_detector_config *d = &c->detectors[k];

		r->detector[k] = (struct sl_voxels_detector){(float)d->position.at[0],
			(float)d->position.at[1], (float)d->position.at[2],
			(float)(d->radius * d->radius)};
	}
	r->max_time = (float)c->max_time;
	r->max_steps = (uint32_t)common->max_steps;
}

static void sl_voxels_sizes(const void *rules, uint32_t n[3], double edge[3])
{
	const struct sl_voxels *r = (const struct sl_voxels *)rules;

	n[0] = (uint32_t)r->nx, n[1] = (uint32_t)r->ny, n[2] = (uint32_t)r->nz;
	edge[0] = (double)r->dx, edge[1] = (double)r->dy, edge[2] = (double)r->dz;
}

static struct sl_rules_data *sl_voxels_data(void *rules)
{
	return &((struct sl_voxels *)rules)->data;
}

/* Fates that no particle gets with these rules, although the model has them. */
static sl_fate_set sl_voxels_unused_fates(const void *rules)
{
	const struct sl_voxels *r = (const struct sl_voxels *)rules;

	return (r->detectors > 0 ? 0 : SL_FATE_BIT(SL_FATE_hit)) |
	       (r->max_time < HUGE_VALF ? 0 : SL_FATE_BIT(SL_FATE_max_time));
}

/* Particles that fly past the volume stay at their source, which may be outside of the range. */
static bool sl_voxels_range(const void *rules, enum sl_column column, double *lo, double *hi)
{
	const struct sl_voxels *r = (const struct sl_voxels *)rules;

	*lo = 0;
	*hi = column == SL_COLUMN_x   ? (double)(r->nx * r->dx)
	      : column == SL_COLUMN_y ? (double)(r->ny * r->dy)
	                              : (double)(r->nz * r->dz);
	if (column == SL_COLUMN_x || column == SL_COLUMN_y || column == SL_COLUMN_z)
		return true;
	return sl_model_common_range(
		column, r->max_steps, SL_FATES_voxels & ~sl_voxels_unused_fates(r), lo, hi);
}

/* With analogue absorption every weight stays 1, so files need not store it. */
static sl_column_set sl_voxels_constants(const void *rules, struct sl_particle *values)
{
	values->weight = 1.0f;
	return sl_is_analogue(&((const struct sl_voxels *)rules)->roulette)
	               ? SL_BIT(SL_COLUMN_weight)
	               : 0;
}

/* Implicit capture takes weight from living particles; no particle ends as absorbed. */
static sl_fate_set sl_voxels_weight_fates(const void *rules)
{
	return sl_is_analogue(&((const struct sl_voxels *)rules)->roulette)
	               ? 0
	               : SL_FATE_BIT(SL_FATE_absorbed);
}

SL_MODEL(voxels, .help = "flights through a volume of voxels that absorb, scatter and refract",
	.species = "photons", .steps = true, .weight_fates = sl_voxels_weight_fates,
	.unused_fates = sl_voxels_unused_fates, .score_shift = sl_voxels_score_shift,
	.track_shift = sl_voxels_track_shift, .data = sl_voxels_data, .load = sl_voxels_load,
	.voxels = sl_voxels_sizes, .source = offsetof(struct sl_voxels_config, source.list),
	.source_key = "source.list");

#endif
