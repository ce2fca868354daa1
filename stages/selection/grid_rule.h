/*
 * grid_rule.h - what a tally is (see grid.h), without the functions that find the cell of a
 * particle: loops that compute several particles at once include only this.
 */
#ifndef SL_STAGES_SELECTION_GRID_RULE_H
#define SL_STAGES_SELECTION_GRID_RULE_H

#include <stdbool.h>

#include "stages/particle/particle.h"

enum {
	SL_GRIDS_MAX = 16,
	SL_GRID_AXES_MAX = 4,           /* place and time */
	SL_GRID_EDGES_MAX = 1024,       /* given edges, of all axes together */
	SL_GRID_COUNTERS_MAX = 1 << 30, /* counts of all tallies */
	SL_GRID_LISTED_MAX = 4096,      /* cells of a row that run.json lists */
	SL_GRID_OUTSIDE = 2 /* counters of a row in addition to the cells: below, above */
};
#define SL_NO_GRID_COUNTER UINT32_MAX

/*
 * What a tally counts: particles at their ends, by fate; or the collisions of all histories with
 * what each of them scores: the weight that it absorbs, or its weight times the mean free path
 * (cm), which estimates the fluence; or their flights: weight times the length of the path in each
 * cell (cm), which estimates the fluence too, or the weight that crosses a plane. A score has one
 * row for all particles; its axes bin the place and the time of the collision, of the path or of
 * the crossing. Of a filter: all particles after each step, before they are resampled; these are
 * counts without a sum, and axes are columns.
 */
enum sl_score {
	SL_SCORE_ENDS,
	SL_SCORE_DEPOSIT,
	SL_SCORE_FLUENCE,
	SL_SCORE_TRACK,
	SL_SCORE_CROSSING,
	SL_SCORE_EACH_STEP,
	SL_SCORE_COUNT
};

/* The row of a score: that of a fate which no particle has at its end. */
#define SL_SCORE_ROW SL_FATE_alive

/* The columns before a flight that its scores depend on. */
#define SL_FLIGHT_COLUMNS(X) X(x) X(y) X(z) X(time) X(u) X(v) X(w) X(weight)

enum sl_spacing { SL_SPACING_EVEN, SL_SPACING_RATIO, SL_SPACING_EDGES };

/* An axis as the configuration states it. */
struct sl_grid_axis {
	enum sl_column column;
	enum sl_spacing spacing;
	uint32_t bins;
	double lo, hi;       /* in the unit of the column; whole numbers: bins divides hi - lo */
	uint32_t first_edge; /* EDGES: the place of its bins + 1 edges */
};

struct sl_grid_field {
	uint32_t n_axes;
	struct sl_grid_axis axis[SL_GRID_AXES_MAX];
	sl_fate_set fates; /* of a score: SL_SCORE_ROW */
	enum sl_score score;
	int score_shift; /* a collision scores at most 2^score_shift; for paths see flight_score.h */
	double plane;    /* CROSSING: its depth, cm */
	bool bracketed;  /* is a list of axes, "[z:40]", not "z:40": its results have other names */
};

/* Bins of equal width. */
struct sl_even_rule {
	enum sl_column column;
	uint32_t bins;
	float lo, hi, scale;  /* real numbers: the range; bins per unit */
	uint32_t base, width; /* whole numbers: the first one; numbers per bin. Signed columns are
	                         counted from -2^31 */
};

/* An axis as the rule uses it. even has the range of every axis, and the rule of an EVEN one. */
struct sl_grid_axis_rule {
	struct sl_even_rule even;
	enum sl_spacing spacing;
	uint32_t first_edge;
	float log_lo, scale; /* RATIO: bins per unit of the logarithm */
	float width;         /* EVEN: of a bin */
};

/*
 * The counters of a batch are in two parts, each with its counts, then its sums of weights or
 * scores, then its sums of squares: those of the tallies without brackets, then those with.
 */
struct sl_grid_part {
	uint32_t counters, words;
};

struct sl_grid_rule {
	uint32_t n_axes;
	struct sl_grid_axis_rule axis[SL_GRID_AXES_MAX];
	enum sl_score score;
	float score_scale; /* 2^-score_shift */
	int score_shift;
	float plane;
	bool in_block;           /* a device counts it in sl_block_grids */
	uint32_t base, counters; /* its first counter in its part; their number */
	uint32_t stride;         /* from a count to its sum: the counters of the part */
	uint32_t skip, words;    /* counters and words of the part before it */
	uint32_t cells;          /* of a row */
	uint32_t first
		[SL_FATE_COUNT]; /* first counter of the row of a fate, or SL_NO_GRID_COUNTER */
};

/* --- counters of a thread block --------------------------------------------------------------- */

enum {
	SL_BLOCK_GRIDS_MAX = 8,
	/*
	 * Bytes of all counts and sums of weights in the shared memory of a thread block, next to
	 * the largest records of survivors (select.cu). There a count has 32 bits, enough for the
	 * 2^31 particles of the largest batch, and a sum 64. Sums of squares come on top, or are in
	 * global memory if there are many.
	 */
	SL_BLOCK_GRIDS_BYTES = 8192,
	SL_BLOCK_SQUARES = 512, /* the most counters whose squares are in shared memory */
	SL_BLOCK_GRIDS_MOST = SL_BLOCK_SQUARES * 20,
	SL_NO_BLOCK_COUNTER = 0xffff
};

/* A tally of particles at their ends with one EVEN axis. */
struct sl_block_grid {
	struct sl_even_rule axis;
	uint32_t in_block, counters; /* its first counter in the block; their number */
	uint32_t first_word, stride; /* its first count in a batch; from a count to its sum */
	uint16_t first
		[SL_FATE_COUNT]; /* first counter of the row of a fate, or SL_NO_BLOCK_COUNTER */
};

/* Those whose counters fit. Kernels have them as a parameter, from which a read costs no load. */
struct sl_block_grids {
	uint32_t n, n_counters;
	bool weighted;
	struct sl_block_grid grid[SL_BLOCK_GRIDS_MAX];
};

/* --- all tallies of a run --------------------------------------------------------------------- */

/* At most as many copies of the counters of a batch, and words of all copies: 8 MiB. */
enum { SL_GRID_COPIES_MAX = 32, SL_GRID_COPY_WORDS_MAX = 1 << 20 };

/* About 10 KB: kernels read it from memory. */
struct sl_grid_set {
	uint32_t n;                  /* tallies; 0: nothing is counted */
	struct sl_grid_part part[2]; /* of tallies without brackets, and with */
	sl_column_set columns;       /* set of their columns */
	bool weighted; /* weights differ: their sums and those of their squares follow the counts */
	bool scored;   /* some score has sums, which are in the place of the weights */
	bool each_step;  /* some tally counts each step of a filter */
	bool flights;    /* some score is one of flights */
	bool ends;       /* some tally of particles at their ends is not in block */
	uint32_t copies; /* of all counters, on a device: a power of 2, see counting/grid.cuh; 0:
	                    all are in block */
	struct sl_block_grids block;
	struct sl_grid_rule grid[SL_GRIDS_MAX];
	float edge[SL_GRID_EDGES_MAX];
};

/* Whether a tally scores collisions. */
SL_HD bool sl_scores_collisions(const struct sl_grid_rule *g)
{
	return g->score == SL_SCORE_DEPOSIT || g->score == SL_SCORE_FLUENCE;
}

/* Whether a tally scores flights. */
SL_HD bool sl_scores_flights(enum sl_score score)
{
	return score == SL_SCORE_TRACK || score == SL_SCORE_CROSSING;
}

#endif
