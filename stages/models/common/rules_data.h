/* rules_data.h - data of rules that are too large for their struct, and what they are made of. */
#ifndef SL_STAGES_MODELS_COMMON_RULES_DATA_H
#define SL_STAGES_MODELS_COMMON_RULES_DATA_H

#include <stdbool.h>
#include <stdint.h>

#include "primitives/base/status.h"

/* The list that particles start from (list_source.h). */
struct sl_list_source {
	uint64_t offset;           /* of its records in the data, bytes */
	uint32_t n;                /* records; 0: the source is another one */
	uint32_t weighted;         /* not 0: weights differ */
	float position, direction; /* standard deviations of the smear, cm, half turns */
};

/* What became of the particles of the list. */
struct sl_source_counts {
	uint64_t used, other, damaged; /* other: of a kind that is not chosen */
	double weight;                 /* of those that are used */
};

/* A member of the rules. A device has its own copy of the data, and of the rules. */
struct sl_rules_data {
	const void *at; /* NULL until the plan has allocated it */
	uint64_t bytes; /* 0: there are none */
	struct sl_list_source list;
};

/* A regular grid of labels (stages/inputs/volume.h). */
struct sl_volume {
	uint16_t
		*labels; /* of voxel (i, j, k): labels[i + nx*(j + ny*k)], in one sl_memory_get() */
	double *pixels;  /* of an image: pixels[j + ny*i], in one sl_memory_get(), and no labels */
	uint32_t size[3];  /* nx, ny, nz; of an image nx, ny, 1 */
	double edge_mm[3]; /* of a voxel; 0 if the file does not state it */
	uint32_t largest;  /* label */
	uint64_t stamp;    /* of the file, and of the type that was stated (volume.c) */
};

/* What the user states of the file. */
struct sl_volume_request {
	uint32_t
		size[3]; /* 0: not stated; a raw file needs them, that of any other must be equal */
	const char *type; /* of the items of a raw file: "u1", ">u2", ...; NULL: not stated */
	bool image;       /* an array of numpy of two dimensions: weights, finite and at least 0 */
};

struct sl_texts;

/* Reads a volume from a file, as sl_volume_read() does, and takes it back after use. */
struct sl_volume_reader {
	enum sl_status (*read)(
		const char *path, const struct sl_volume_request *request, struct sl_volume *v);
	void (*give)(struct sl_volume *v);
	/*
	 * Reads numbers from a csv file, as sl_observations_read() does, into v->pixels: size[0]
	 * columns, row by row.
	 */
	enum sl_status (*table)(
		const char *path, const struct sl_texts *columns, uint32_t n, struct sl_volume *v);
};

#endif
