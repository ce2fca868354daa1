/*
 * list_config.h - the configuration of particle lists: of the model list, and of the source of other
 * models, whose particles start where those of lists are. Host only; includers include model.h.
 */
#ifndef SL_STAGES_MODELS_CONFIG_LIST_CONFIG_H
#define SL_STAGES_MODELS_CONFIG_LIST_CONFIG_H

#include <stdio.h>

#include "stages/models/common/list_source.h"

/* What happens to particles with numbers that a run cannot have. */
enum { SL_LIST_REFUSES, SL_LIST_DROPS };
static const char *const sl_list_damaged[] = {"refuse", "drop", NULL};

/* Three keys of the user, and below them what the plan read from the files. */
struct sl_list_config {
	struct sl_lines files;
	struct sl_counts checksums;
	int damaged;
	sl_column_set constants; /* as in struct sl_list, from the headers of the files */
	struct sl_particle constant;
	double weight;  /* the constant weight, with all digits of the headers; 0: none */
	bool doubles;   /* some file has numbers of 8 bytes */
	uint64_t stamp; /* identifies the files for which these values hold (input_reader.h) */
};

/* The source of another model: no files, or particles of the files, turned and then moved. */
struct sl_source_config {
	struct sl_list_config list;
	uint64_t repeat; /* 0: once */
	struct sl_reals pdg;
	struct {
		double position, direction, time;
	} smear;
	struct sl_vector translate;
	struct {
		struct sl_vector axis;
		double angle;
	} rotate;
	uint64_t records; /* that start histories; set when the files are opened */
};

/* The most records, so that 8 times their number fits in an index of vector instructions. */
#define SL_SOURCE_RECORDS_MAX (UINT64_C(1) << 28)

/* The source of a configuration of a model; NULL: it has no list. */
static inline struct sl_source_config *sl_source_of(const struct sl_model *model, void *config)
{
	struct sl_source_config *c =
		(struct sl_source_config *)(void *)((char *)config + model->source);

	return model->source > 0 && c->list.files.n > 0 ? c : NULL;
}

/* Reports keys of a list that is not given, or that do not fit. */
static inline void sl_source_check(
	const struct sl_source_config *c, const char *section, const struct sl_model_check *check)
{
	static const char *const leaves[] = {"checksums", "damaged", "repeat", "pdg",
		"smear.position", "smear.direction", "smear.time", "translate", "rotate.axis",
		"rotate.angle"};
	const double *axis = c->rotate.axis.at;
	char key[SL_WORD_BYTES], files[SL_WORD_BYTES], angle[SL_WORD_BYTES];

	snprintf(files, sizeof(files), "%s.files", section);
	for (size_t k = 0; k < sizeof(leaves) / sizeof(leaves[0]); k++) {
		snprintf(key, sizeof(key), "%s.%s", section, leaves[k]);
		sl_model_refuse_unused(check, c->list.files.n > 0, key, files);
	}
	if (c->list.files.n == 0)
		return;
	snprintf(key, sizeof(key), "%s.rotate.axis", section);
	snprintf(angle, sizeof(angle), "%s.rotate.angle", section);
	sl_model_require(check, isnan(axis[0]) && !isnan(c->rotate.angle), key, "an angle");
	sl_model_require(check, !isnan(axis[0]) && isnan(c->rotate.angle), angle, "an axis");
	if (fabs(axis[0]) + fabs(axis[1]) + fabs(axis[2]) <= 0)
		check->complain(
			check->ctx, key, "is 0 and so no direction; write for example [0, 0, 1]");
	snprintf(key, sizeof(key), "%s.pdg", section);
	for (uint32_t k = 0; k < c->pdg.n; k++)
		if (c->pdg.at[k] != floor(c->pdg.at[k]))
			check->complain(check->ctx, key,
				"has the code %g, which is not a whole number; write for example 22",
				c->pdg.at[k]);
}

/*
 * Makes the source of a list; its records are in the data of the rules from offset on. Without a
 * list, n is 0.
 */
static inline void sl_source_make(const struct sl_source_config *c, const char *section,
	uint64_t offset, struct sl_rules_data *data, const struct sl_model_check *check)
{
	sl_source_check(c, section, check);
	data->list = (struct sl_list_source){0};
	if (c->list.files.n == 0)
		return;
	data->list.offset = (offset + 31) / 32 * 32; /* so that a record is not in two lines */
	data->list.n = (uint32_t)c->records;
	data->list.position = isnan(c->smear.position) ? 0 : (float)c->smear.position;
	data->list.direction = isnan(c->smear.direction)
	                               ? 0
	                               : (float)(c->smear.direction / 3.14159265358979323846);
	data->list.time = isnan(c->smear.time) ? 0 : (float)c->smear.time;
	data->bytes =
		data->list.offset + c->records * (sizeof(struct sl_list_record) + sizeof(uint32_t));
}

#endif
