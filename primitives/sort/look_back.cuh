/*
 * sort/look_back.cuh - decoupled look-back for each digit: how many keys of it stand in all tiles
 * before a tile.
 *
 * As base/look_back.cuh, whose words these are, but a tile has 256 sums, and a thread walks back
 * for each. It reads several tiles at a time, as one read takes longer than a tile takes to be
 * finished somewhere on the device: read one by one, the nearest tile that knows all would be far.
 *
 * A word also says in which pass it was written. What another pass has left there is as good as
 * nothing, so the state is cleared once a sort, not once a pass. Moves 2 KiB a tile to clear it,
 * and 4 KiB or more a pass, nearly all in the L2 cache.
 */
#ifndef SL_SORT_LOOK_BACK_CUH
#define SL_SORT_LOOK_BACK_CUH

#include "digits.cuh"
#include "primitives/base/look_back.cuh"

/* Tiles read at a time; the pause before one that is not there is read again, short of a read. */
enum { TILES_A_READ = 4, WAIT_NS = 40 };

struct digit_look_back {
	uint64_t *words; /* DIGITS a tile, 0 before the first pass */
	uint32_t pass;
};

static __device__ __forceinline__ uint64_t *digit_word(
	struct digit_look_back state, uint32_t tile, uint32_t digit)
{
	return state.words + ((uint64_t)tile * DIGITS + digit);
}

/* Kinds of a pass are 1 and 2 more than twice its number. */
static __device__ __forceinline__ void publish(struct digit_look_back state, uint32_t tile,
	uint32_t digit, enum sl_known known, uint32_t count)
{
	uint32_t kind = 2 * state.pass + known;

	sl_store_relaxed(digit_word(state, tile, digit), (uint64_t)kind << 32 | count);
}

/* What is known; 0 and less, which is large, for what is not of this pass. */
static __device__ __forceinline__ uint32_t known_of(struct digit_look_back state, uint64_t word)
{
	return (uint32_t)(word >> 32) - 2 * state.pass;
}

/* For one thread a digit: keys of it in all tiles before tile. Waits for those to publish. */
static __device__ __forceinline__ uint32_t count_before(
	struct digit_look_back state, uint32_t tile, uint32_t digit)
{
	uint32_t count = 0;

	while (tile > 0) {
		uint64_t word[TILES_A_READ];

		SL_UNROLL
		for (uint32_t i = 0; i < TILES_A_READ; i++)
			word[i] = sl_load_relaxed(
				digit_word(state, i < tile ? tile - 1 - i : 0, digit));
		SL_UNROLL
		for (uint32_t i = 0; i < TILES_A_READ; i++) {
			uint32_t known = known_of(state, word[i]);

			if (known != SL_KNOWN_OWN && known != SL_KNOWN_ALL) {
				sl_backoff(WAIT_NS);
				break;
			}
			count += (uint32_t)word[i];
			if (known == SL_KNOWN_ALL)
				return count;
			tile--;
		}
	}
	return count;
}

#endif
