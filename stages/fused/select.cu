/*
 * select.cu - generate, advance, mark and compact in one kernel; only survivors are written to
 * memory.
 *
 * A block processes tiles of particles, a warp 32 particles at a time. A thread computes a particle
 * in registers to its end and counts it. A survivor goes into a list in shared memory, at a
 * position determined by a warp vote. The position of the list in the batch is the number of
 * survivors of the earlier warps of the tile and, by decoupled look-back, of the earlier tiles
 * (look_back.cuh; Merrill and Garland, 2016). The lists are then written in id order with coalesced
 * accesses: key and index, and a record (packed_record.h) if the model is not recomputed. Keys are
 * packed at that point, where all lanes of a warp have one to pack.
 *
 * A block looks back for a tile while it computes its next one, and then writes the first: by then
 * the sums of the earlier tiles are known, and a tile costs one barrier (two for models that are
 * not recomputed). Blocks process several tiles, so that tallies are added once per block and not
 * per tile.
 *
 * The counters of tallies follow the lists in shared memory (block_grids.cuh). The kernel is
 * compiled with and without tallies and conditions, and with derived columns, so that runs
 * without them have no extra cost. The file is compiled for each model.
 *
 * Memory traffic: reads nothing; writes per survivor 8 bytes (12 with 64-bit keys) and its record.
 */
#include "stages/counting/sums.cuh"
#include "stages/fused/model_rules.cuh"
#include "stages/fused/select_lists.cuh"

/* --- a tile ----------------------------------------------------------------------------------- */

/* The fates that a kernel counts: those of the model, and dropped if there may be a condition. */
template <class Model, enum features features>
static constexpr sl_fate_set fates_of = Model::fates |
                                        (features != PLAIN ? SL_FATE_BIT(SL_FATE_dropped) : 0);

/*
 * Computes the warp's particles of a tile, counts them, and lists the survivors. Returns how many.
 */
template <class Model, class Key, enum features features>
static __device__ __forceinline__ uint32_t select(const typename Model::rules *rules,
	const struct select_job<Key> *job, uint32_t tile, uint32_t *list, struct sl_tally *tally,
	struct sl_block_squares *squares, struct sl_block_sums bins)
{
	uint32_t lane = threadIdx.x % LANES, below = (1u << lane) - 1, n = 0;
	uint32_t i = (tile * WARPS + threadIdx.x / LANES) * LANES * job->items + lane;
	uint64_t first_id = *job->first_id;
	struct sl_fate_counts<fates_of<Model, features>, Model::weighted> fates = {
	};

	for (uint32_t k = 0; k < job->items; k++, i += LANES) {
		struct sl_particle p;
		uint64_t square = 0;
		bool alive = false;

		p.fate = SL_FATE_COUNT;
		if (i < job->n) {
			p = Model::make(rules, job->wanted, job->seed, first_id + i);
			if (features == DERIVES)
				sl_derive_particle(&job->derivation, &p);
			if (features != PLAIN && job->condition.n > 0) {
				struct sl_columns columns = sl_columns_of(&p);

				p.fate = sl_condition_fate(
					&job->condition, &columns, 0, p.id, p.fate);
			}
			alive = p.fate < SL_FATE_COUNT && sl_has_fate(job->keep, p.fate);
			fates.count(p.fate);
			if (Model::weighted) {
				sl_tally_add(tally->weight, fates_of<Model, features>, p.fate,
					sl_fixed_weight(p.weight * job->weight_scale));
				square = sl_fixed_square(p.weight * job->square_scale);
			}
			tally->steps += p.steps;
			tally->collisions += p.collisions;
			if (features != PLAIN && p.fate < SL_FATE_COUNT) {
				struct sl_columns columns = sl_columns_of(&p);

				sl_block_sums_count(&job->bins, bins, &columns, 0, p.fate, p.weight,
					job->weight_scale, job->square_scale);
				if (job->grids)
					sl_grids_count_one(job->grids, SL_SCORE_ENDS, &columns, 0,
						p.fate, p.weight, job->weight_scale,
						job->square_scale,
						sl_grids_copy(job->grids, job->grid_copies));
			}
		}
		if (Model::weighted && job->square_scale > 0)
			sl_block_squares_add(squares, fates_of<Model, features>, p.fate, square);
		uint32_t survivors = __ballot_sync(SL_LANES, alive);
		if (alive)
			list_survivor<Model, features>(job,
				list + (n + (uint32_t)__popc(survivors & below)) * job->stride, i,
				&p);
		n += (uint32_t)__popc(survivors);
	}
	fates.add_to(tally);
	return n;
}

/* A tile that is in the lists and not yet written. */
struct listed {
	uint32_t tile, n;     /* number of the tile; survivors of the calling warp */
	uint32_t before_warp; /* survivors of the earlier warps of the tile */
	uint32_t in_tile;
};

/*
 * Data that the warps of a block exchange. Two of them are used alternately: a slow warp may still
 * read that of the previous tile.
 */
struct exchange {
	uint32_t in_warp[WARPS]; /* survivors of each warp */
	uint32_t before;         /* of the previous tile: survivors in all tiles before it */
	uint32_t next;           /* the next tile of the block */
};

/* Sums the survivors of the warps of a tile, and publishes the sum for the look-back of others. */
template <class Key>
static __device__ __forceinline__ struct listed sum_tile(const struct select_job<Key> *job,
	const struct exchange *exchange, uint32_t tile, uint32_t n)
{
	uint32_t warp = threadIdx.x / LANES;
	struct listed l = {tile, n, 0, 0};

	SL_UNROLL
	for (uint32_t w = 0; w < WARPS; w++) {
		l.before_warp += w < warp ? exchange->in_warp[w] : 0;
		l.in_tile += exchange->in_warp[w];
	}
	if (threadIdx.x == 0)
		sl_look_back_publish_sum(job->before, tile, l.in_tile);
	return l;
}

/*
 * By the first warp: counts the survivors before a tile. All warps read the count after a barrier.
 */
template <class Key>
static __device__ __forceinline__ void look_back(
	const struct select_job<Key> *job, const struct listed *l, struct exchange *exchange)
{
	uint32_t before = sl_look_back_finish(job->before, l->tile, l->in_tile);

	if (threadIdx.x == 0)
		exchange->before = before;
	if (threadIdx.x == 0 && l->tile == job->before.tiles - 1)
		*job->n_survivors = before + l->in_tile;
}

/*
 * In each iteration a block computes a tile, looks back for the previous one, and writes the
 * previous one after the barrier. Each warp uses only its own lists.
 *
 * If the model is not recomputed, the lengths of histories differ. The first warp then looks back
 * after the barrier, when the sum of the tile just computed is published. If it looked back before,
 * the block would withhold that sum from others while it waits itself, and the longest histories
 * would delay all blocks.
 */
template <class Model, class Key, enum features features>
static __global__ void __launch_bounds__(BLOCK, BLOCKS_PER_MULTIPROCESSOR)
	select_kernel(typename Model::rules rules, struct select_job<Key> job)
{
	SL_SHARED_DYNAMIC(unsigned char, lists);
	struct exchanges {
		struct exchange at[2];
	};
	SL_SHARED(struct exchanges, both);
	struct sl_block_sums bins = bins_of_block(&job, lists);
	SL_SHARED(struct sl_block_squares, squares);
	union sl_tally_words tally = {};
	struct listed previous = {};
	uint32_t tile, buffer = 0;

	if (features != PLAIN)
		sl_block_sums_clear(&job.bins, bins);
	if (Model::weighted && threadIdx.x < SL_FATE_COUNT)
		squares.of_fate[threadIdx.x] = 0;
	tile = sl_look_back_ticket(job.before);
	for (bool any = false; any || tile < job.before.tiles; buffer ^= 1) {
		struct exchange *exchange = &both.at[buffer];
		bool more = tile < job.before.tiles;
		uint32_t n = 0;

		if (Model::recomputed && any && threadIdx.x < LANES)
			look_back(&job, &previous, exchange);
		if (more)
			n = select<Model, Key, features>(&rules, &job, tile,
				list_of_warp(&job, lists, buffer), &tally.t, &squares, bins);
		if (threadIdx.x % LANES == 0)
			exchange->in_warp[threadIdx.x / LANES] = n;
		if (threadIdx.x == 0 && more)
			exchange->next = sl_look_back_next(job.before);
		__syncthreads();
		struct listed current = {};
		if (more)
			current = sum_tile(&job, exchange, tile, n);
		if (!Model::recomputed && any && threadIdx.x < LANES)
			look_back(&job, &previous, exchange);
		if (!Model::recomputed)
			__syncthreads();
		if (any)
			write_list<Model>(&job, list_of_warp(&job, lists, buffer ^ 1), previous.n,
				exchange->before + previous.before_warp);
		__syncwarp(); /* before the list just written is filled again */
		any = more;
		previous = current;
		if (more)
			tile = exchange->next;
	}
	if (features != PLAIN)
		sl_block_sums_add(&job.bins, bins);
	if (Model::weighted && threadIdx.x < SL_FATE_COUNT && squares.of_fate[threadIdx.x] != 0)
		atomicAdd(&((struct sl_tally *)job.tally)->square[threadIdx.x],
			squares.of_fate[threadIdx.x]);
	sl_block_add<sl_tally_used<fates_of<Model, features>, Model::columns, false>>(
		tally.word, job.tally);
}

/* --- host ------------------------------------------------------------------------------------- */

/* The layout of the lists, and how many particles per thread and tile fit. */
struct layout {
	uint32_t words, stride, items;
	sl_column_set extra;
	size_t bins_bytes;
	uint32_t blocks; /* that run at the same time on the device */
};

static uint32_t words_of(sl_column_set set)
{
	return (uint32_t)__builtin_popcountll(set);
}

/* The columns of the key fields. */
static sl_column_set key_columns(const struct sl_fused *f)
{
	sl_column_set set = 0;

	for (uint32_t k = 0; k < f->n_fields; k++)
		set |= SL_BIT(f->field[k].column);
	return set;
}

template <class Model> static struct layout lay_out(const struct sl_fused *f)
{
	struct layout l = {};
	struct sl_limits limits;
	size_t available = 0;

	l.words = Model::recomputed ? 0 : sl_record_words(f->record_columns);
	l.extra = key_columns(f) & ~f->record_columns;
	if (Model::recomputed)
		l.extra |= SL_BIT(SL_COLUMN_id);
	l.stride = (l.words + words_of(l.extra)) | 1;
	l.bins_bytes = sl_block_grids_bytes(&f->grids->block);
	l.items = Model::recomputed ? ITEMS_RECOMPUTED : ITEMS_WITH_RECORDS;
	l.blocks = 1;
	if (sl_device_limits(&limits) == SL_OK) {
		l.blocks = BLOCKS_PER_MULTIPROCESSOR * limits.multiprocessors;
		available = limits.shared_bytes / BLOCKS_PER_MULTIPROCESSOR;
	}
	while (l.items > 1 && lists_bytes(l.items, l.stride) + l.bins_bytes > available)
		l.items /= 2;
	return l;
}

/* The particles per thread and tile: as many as fit, but so few that each block gets a tile. */
static uint32_t items_for(const struct layout *l, uint32_t n)
{
	uint32_t items = l->items;

	while (items > 1 && n < (uint64_t)BLOCK * items * l->blocks)
		items /= 2;
	return items;
}

/*
 * Upper bound of the tiles of a batch of at most n particles. A small batch may have smaller tiles,
 * but then it has fewer than two per block.
 */
template <class Model> static uint32_t tiles_max(const struct sl_fused *f, uint32_t n)
{
	struct layout l = lay_out<Model>(f);
	uint32_t tiles = sl_grid(n, BLOCK * items_for(&l, n)), small = sl_grid(n, BLOCK);

	small = small < 2 * l.blocks ? small : 2 * l.blocks;
	return tiles > small ? tiles : small;
}

/* The word of a column in a list entry: in the record, or after it. */
static uint32_t word_of(const struct layout *l, sl_column_set record_columns, enum sl_column column)
{
	sl_column_set below = SL_BIT(column) - 1;

	return SL_HAS(record_columns, column) ? words_of(record_columns & below)
	                                      : l->words + words_of(l->extra & below);
}

template <class Model, class Key, enum features features>
static enum sl_status queue_select(const struct sl_fused *f, const struct sl_batch *b,
	struct sl_batch_counters *counters, struct sl_arena scratch, sl_stream s)
{
	struct layout l = lay_out<Model>(f);
	uint32_t items = items_for(&l, b->n), tiles = sl_grid(b->n, BLOCK * items);
	struct sl_look_back<uint32_t> before = sl_look_back_cut<uint32_t>(&scratch, tiles);
	struct select_job<Key> job = {
		.seed = f->seed, .first_id = b->first_id_on_device, .keep = f->keep, .n = b->n,
		.n_fields = f->n_fields, .items = items, .record_columns = f->record_columns,
		.words = l.words, .extra = l.extra, .stride = l.stride,
		.wanted = f->record_columns | f->grids->columns | f->condition->reads |
		          f->derivation->reads | key_columns(f),
		.weight_scale = f->weight_scale, .square_scale = f->square_scale, .before = before,
		.index = b->index, .record = b->record, .n_survivors = &counters->n_survivors,
		.tally = (uint64_t *)&counters->tally, .bin = sl_batch_counters_tallies(counters),
		.key = (Key *)b->key, .bins = f->grids->block, .grids = f->device_grids,
		.grid_copies = f->grid_copies, .condition = *f->condition,
		.derivation = *f->derivation
	};

	for (uint32_t k = 0; k < job.n_fields; k++) {
		job.field[k] = f->field[k];
		job.field_at[k] = word_of(&l, f->record_columns, f->field[k].column);
	}
	return SL_LAUNCH((select_kernel<Model, Key, features>), tiles < l.blocks ? tiles : l.blocks,
		BLOCK, lists_bytes(items, l.stride) + l.bins_bytes, s,
		*(const typename Model::rules *)f->rules, job);
}

/* Launches the variant of the kernel for what the run needs. */
template <class Model, class Key>
static enum sl_status queue_with(const struct sl_fused *f, const struct sl_batch *b,
	struct sl_batch_counters *counters, struct sl_arena scratch, sl_stream s)
{
	if (f->derivation->n > 0)
		return queue_select<Model, Key, DERIVES>(f, b, counters, scratch, s);
	if (f->grids->n > 0 || f->condition->n > 0)
		return queue_select<Model, Key, CHECKS>(f, b, counters, scratch, s);
	return queue_select<Model, Key, PLAIN>(f, b, counters, scratch, s);
}

size_t SL_RULE_KERNEL(select_scratch)(const struct sl_fused *f, uint32_t n)
{
	struct sl_arena a = {};

	sl_look_back_cut<uint32_t>(&a, tiles_max<sl_traits>(f, n));
	return a.used;
}

enum sl_status SL_RULE_KERNEL(select)(const struct sl_fused *f, const struct sl_batch *b,
	struct sl_batch_counters *counters, struct sl_arena scratch, sl_stream s)
{
	return f->narrow ? queue_with<sl_traits, uint32_t>(f, b, counters, scratch, s)
	                 : queue_with<sl_traits, uint64_t>(f, b, counters, scratch, s);
}
