/*
 * grid_rule.h - what a grid is (see grid.h), without the functions that find the cell of a
 * particle: loops that compute several particles at once include only this.
 */
#ifndef SL_STAGES_SELECTION_GRID_RULE_H
#define SL_STAGES_SELECTION_GRID_RULE_H

#include "stages/selection/histogram.h"

enum {
	SL_GRIDS_MAX = 8,
	SL_GRID_AXES_MAX = 3,
	SL_GRID_EDGES_MAX = 1024,       /* given edges, of all axes together */
	SL_GRID_COUNTERS_MAX = 1 << 24, /* counts of all grids */
	SL_GRID_LISTED_MAX = 4096,      /* cells of a row that run.json lists */
	SL_GRID_OUTSIDE = SL_HISTOGRAM_OUTSIDE
};
#define SL_NO_GRID_COUNTER UINT32_MAX

/*
 * What a grid counts: particles at their ends, by fate; or the collisions of all histories with
 * what each of them scores: the weight that it absorbs, or its weight times the mean free path
 * (cm), which estimates the fluence; or their flights: weight times the length of the path in each
 * cell (cm), which estimates the fluence too, or the weight that crosses a plane. A score has one
 * row for all particles; its axes bin the place and the time of the collision, of the path or of
 * the crossing.
 */
enum sl_score {
	SL_SCORE_ENDS,
	SL_SCORE_DEPOSIT,
	SL_SCORE_FLUENCE,
	SL_SCORE_TRACK,
	SL_SCORE_CROSSING,
	SL_SCORE_COUNT
};

/* The row of a score: that of a fate which no particle has at its end. */
#define SL_SCORE_ROW SL_FATE_alive

enum sl_spacing { SL_SPACING_EVEN, SL_SPACING_RATIO, SL_SPACING_EDGES };

/* An axis as the configuration states it. */
struct sl_grid_axis {
	enum sl_column column;
	enum sl_spacing spacing;
	uint32_t bins;
	double lo, hi;       /* in the unit of the column */
	uint32_t first_edge; /* EDGES: the place of its bins + 1 edges */
};

struct sl_grid_field {
	uint32_t n_axes;
	struct sl_grid_axis axis[SL_GRID_AXES_MAX];
	sl_fate_set fates; /* of a score: SL_SCORE_ROW */
	enum sl_score score;
	int score_shift; /* a collision scores at most 2^score_shift; for paths see flight_score.h */
	double plane;    /* CROSSING: its depth, cm */
};

/* An axis as the rule uses it. even has the range of every axis, and the rule of an EVEN one. */
struct sl_grid_axis_rule {
	struct sl_histogram_rule even;
	enum sl_spacing spacing;
	uint32_t first_edge;
	float log_lo, scale; /* RATIO: bins per unit of the logarithm */
	float width;         /* EVEN: of a bin */
};

struct sl_grid_rule {
	uint32_t n_axes;
	struct sl_grid_axis_rule axis[SL_GRID_AXES_MAX];
	enum sl_score score;
	float score_scale; /* 2^-score_shift */
	int score_shift;
	float plane;
	uint32_t base, counters; /* the first counter of the grid; their number */
	uint32_t cells;          /* of a row */
	uint32_t first
		[SL_FATE_COUNT]; /* first counter of the row of a fate, or SL_NO_GRID_COUNTER */
};

/* At most as many copies of the counters of a batch, and words of all copies: 8 MiB. */
enum { SL_GRID_COPIES_MAX = 32, SL_GRID_COPY_WORDS_MAX = 1 << 20 };

/* About 8 KB: kernels read it from memory. */
struct sl_grid_set {
	uint32_t n; /* grids; 0: nothing is counted */
	uint32_t n_counters;
	sl_column_set columns; /* set of their columns */
	bool weighted; /* weights differ: their sums and those of their squares follow the counts */
	bool scored;   /* some grid is a score, whose sums are in the place of the weights */
	bool ends;     /* some grid counts particles at their ends */
	bool flights;  /* some score is one of flights */
	float square_scale; /* see sl_square_scale() */
	uint32_t copies;    /* of all counters, on a device: a power of 2, see counting/grid.cuh */
	struct sl_grid_rule grid[SL_GRIDS_MAX];
	float edge[SL_GRID_EDGES_MAX];
};

/* Whether a grid scores collisions. */
SL_HD bool sl_scores_collisions(const struct sl_grid_rule *g)
{
	return g->score == SL_SCORE_DEPOSIT || g->score == SL_SCORE_FLUENCE;
}

/* Whether a grid scores flights. */
SL_HD bool sl_scores_flights(enum sl_score score)
{
	return score == SL_SCORE_TRACK || score == SL_SCORE_CROSSING;
}

#endif
