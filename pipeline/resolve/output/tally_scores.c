/* tally_scores.c - the scores along histories of the items of tallies; see output.h. */
#include "pipeline/resolve/output/output.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "stages/models/models.h"

const char *const sl_score_names[SL_SCORE_COUNT] = {[SL_SCORE_ENDS] = "",
	[SL_SCORE_DEPOSIT] = "deposit",
	[SL_SCORE_FLUENCE] = "fluence_collision",
	[SL_SCORE_TRACK] = "fluence_track",
	[SL_SCORE_CROSSING] = "crossing",
	[SL_SCORE_EACH_STEP] = "each_step"};

const char *sl_grid_row_name(const struct sl_grid_field *f, int fate)
{
	return f->score != SL_SCORE_ENDS ? "all" : sl_fate_facts[fate].name;
}

enum sl_score sl_score_named(const char *element)
{
	int score = SL_SCORE_COUNT - 1;
	size_t n = strcspn(element, ":");

	if (n == strlen(sl_score_names[SL_SCORE_CROSSING]) &&
		strncmp(element, sl_score_names[SL_SCORE_CROSSING], n) == 0)
		return SL_SCORE_CROSSING;
	while (score > SL_SCORE_ENDS && strcmp(element, sl_score_names[score]) != 0)
		score--;
	return (enum sl_score)score;
}

bool sl_score_read_plane(
	struct sl_resolver *v, const char *key, const char *element, struct sl_grid_field *f)
{
	const char *colon = strchr(element, ':');
	double top, bottom;

	if (!colon)
		return sl_config_add_problem(v->r, key,
			"'%s' lacks the depth of its plane; write [%s:1 mm, w:20]", element,
			element);
	if (!sl_real_parse(colon + 1, SL_DIM_LENGTH, &f->plane))
		return sl_config_add_problem(v->r, key, "depth of the plane: %s", sl_last_error());
	if (!v->ranges || !v->to->model->score_shift)
		return true;
	if (!v->to->model->range(v->to->rules.bytes, SL_COLUMN_z, &top, &bottom))
		bottom = HUGE_VAL;
	return ((float)f->plane > 0 && (float)f->plane <= (float)bottom) ||
	       sl_config_add_problem(v->r, key,
		       "the plane at %g cm is outside of the model; use a depth above 0, of at most %g cm",
		       f->plane, bottom);
}

/* Sets the unit of a score. */
static void set_shift(const struct sl_choices *choices, struct sl_grid_field *f)
{
	if (f->score == SL_SCORE_FLUENCE)
		f->score_shift = choices->model->score_shift(choices->rules.bytes);
	if (f->score == SL_SCORE_TRACK)
		f->score_shift = choices->model->track_shift(choices->rules.bytes);
	if (f->score == SL_SCORE_EACH_STEP)
		f->score_shift = 32; /* it scores 1 */
}

/* The names of the models with scores. */
static const char *scored_models(void)
{
	const char *text = "";

	for (int m = 0; m < sl_n_models; m++)
		if (sl_models[m]->score_shift)
			text = sl_said("%s%s%s", text, *text ? " or " : "", sl_models[m]->name);
	return text;
}

bool sl_score_check(struct sl_resolver *v, const char *key, struct sl_grid_field *f)
{
	f->fates = SL_FATE_BIT(SL_SCORE_ROW);
	if (f->score == SL_SCORE_EACH_STEP && !v->to->model->resampling)
		return sl_config_add_problem(v->r, key,
			"'%s' counts particles of a filter, which model %s is not; use model smc, or "
			"remove it",
			sl_score_names[f->score], v->to->model->name);
	if (f->score != SL_SCORE_EACH_STEP && !v->to->model->score_shift)
		return sl_config_add_problem(v->r, key,
			"'%s' is a score along the histories, which model %s does not have; use model "
			"%s, or remove it",
			sl_score_names[f->score], v->to->model->name, scored_models());
	if (f->n_axes == 0)
		return sl_config_add_problem(v->r, key, "'%s' lacks axes; write [%s%s]",
			sl_score_names[f->score], sl_score_names[f->score],
			f->score == SL_SCORE_CROSSING    ? ":1 mm, w:20"
			: f->score == SL_SCORE_EACH_STEP ? ", steps:100"
							 : ", time:50:0 ns..1 ns");
	for (uint32_t k = 0; k < f->n_axes && f->score == SL_SCORE_TRACK; k++)
		if (f->axis[k].spacing == SL_SPACING_RATIO)
			return sl_config_add_problem(v->r, key,
				"paths are not cut into bins of equal ratio; use bins of equal width, or "
				"edges such as %s:1 mm..2 mm..4 mm",
				sl_label_name(v->to->named.label, f->axis[k].column));
	if (v->ranges)
		set_shift(v->to, f);
	return true;
}

bool sl_score_is_wrong(struct sl_resolver *v, const char *element)
{
	bool column = sl_column_named(element) < SL_COLUMN_COUNT;

	for (uint32_t i = 0; i < v->n_names; i++)
		column |= strcmp(element, v->name[i]) == 0;
	return !column && element[0] && element[strcspn(element, ":.")] == '\0';
}
