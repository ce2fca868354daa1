/* access.c - records and counts the memory accesses of kernels: see access.h. */
#include "access.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "block.h"
#include "primitives/emulator/emulator.h"

enum {
	SECTOR_BYTES = 32,
	BANKS = 32,
	BANK_BYTES = 4,
	WIDEST = 16,                     /* bytes of the widest access */
	PASS_BYTES = BANKS * BANK_BYTES, /* that a warp reads in one pass without conflicts */
	LANE_BITS = 5,
	TIME_BITS = 22,
	TIMES = 1 << TIME_BITS /* most accesses in a log */
};

/*
 * The key orders accesses. From the most significant bit: number of the warp, 32 bits of the place,
 * lane, number in the log.
 */
struct sl_access {
	uint64_t key;
	uintptr_t at; /* address of the host */
	uint8_t bytes, kind;
	bool shared;
};

static bool wanted;        /* between sl_access_start() and sl_access_stop() */
static bool is_running;    /* a launch runs and is counted */
static pthread_t launcher; /* the thread of the host that runs it */
static struct sl_access_counts counts;

bool sl_access_is_counted(void)
{
#ifdef SL_COUNTED
	return true;
#else
	return false;
#endif
}

const char *const sl_access_count_names[SL_ACCESS_COUNT_COUNT] = {
#define X(name) #name,
	SL_ACCESS_COUNTS(X)
#undef X
};

double sl_access_per_item(const struct sl_access_counts *c, enum sl_access_count which, double n)
{
	const uint64_t count[SL_ACCESS_COUNT_COUNT] = {
#define X(name) c->name,
		SL_ACCESS_COUNTS(X)
#undef X
	};

	return sl_access_is_counted() && c->launches > 0 ? (double)count[which] / n : (double)NAN;
}

void sl_access_start(void)
{
	counts = (struct sl_access_counts){0};
	wanted = true;
}

struct sl_access_counts sl_access_stop(void)
{
	wanted = false;
	return counts;
}

void sl_access_launch_begins(void)
{
	is_running = wanted;
	launcher = pthread_self();
	counts.launches += wanted;
}

void sl_access_launch_ends(void)
{
	is_running = false;
}

/* --- recording -------------------------------------------------------------------------------- */

static bool is_within(uintptr_t p, const void *from, size_t bytes)
{
	return from && p >= (uintptr_t)from && p - (uintptr_t)from < bytes;
}

/* Whether p is in the shared memory of b. */
static bool is_shared(const struct sl_block *b, uintptr_t p)
{
	if (is_within(p, b->dynamic, sl_running.launch->shared_bytes))
		return true;
	for (uint32_t i = 0; i < b->n_variables; i++)
		if (is_within(p, b->variable[i].at, b->variable[i].bytes))
			return true;
	return false;
}

static void count_log(struct sl_access_log *log);

/*
 * Makes room for one more. A full log that cannot grow is counted early, which can split
 * instructions.
 */
static bool reserve(struct sl_access_log *log)
{
	size_t capacity = log->capacity ? 2 * log->capacity : 4096;
	struct sl_access *larger = NULL;

	if (log->n < log->capacity)
		return true;
	if (capacity <= TIMES)
		larger = (struct sl_access *)realloc(log->access, capacity * sizeof(*larger));
	if (larger) {
		log->access = larger;
		log->capacity = capacity;
	} else {
		count_log(log);
	}
	return log->n < log->capacity;
}

/* The upper bits of the key of an access by that thread. */
static uint64_t key_of(uint32_t thread, uintptr_t place)
{
	return (uint64_t)(thread / SL_WARP) << (32 + LANE_BITS + TIME_BITS) |
	       (uint64_t)(uint32_t)place << (LANE_BITS + TIME_BITS);
}

/*
 * Accesses to the stacks of threads and to constants are not counted: a GPU has registers for them.
 */
void sl_access_add(enum sl_access_kind kind, const void *at, size_t bytes, uintptr_t place)
{
	struct sl_thread *t = sl_running.thread;
	struct sl_access a = {.kind = (uint8_t)kind};

	if (!is_running || !pthread_equal(pthread_self(), launcher))
		return;
	a.shared = is_shared(t->block, (uintptr_t)at);
	if (!a.shared && !sl_emulated_memory_has(at))
		return;
	for (size_t done = 0; done < bytes; done += a.bytes) {
		struct sl_access_log *log = &t->block->log;

		if (!reserve(log))
			return;
		a.at = (uintptr_t)at + done;
		a.bytes = (uint8_t)(bytes - done < WIDEST ? bytes - done : WIDEST);
		a.key = key_of(t->number, place) | (uint64_t)(t->number % SL_WARP) << TIME_BITS |
		        log->n;
		log->access[log->n++] = a;
	}
}

/* --- counting --------------------------------------------------------------------------------- */

/* For qsort(). */
static int by_key(const void *a, const void *b)
{
	uint64_t x = ((const struct sl_access *)a)->key, y = ((const struct sl_access *)b)->key;

	return (x > y) - (x < y);
}

static uint32_t lane_of(const struct sl_access *a)
{
	return (uint32_t)(a->key >> TIME_BITS) % SL_WARP;
}

/* Warp and place. */
static uint64_t place_of(const struct sl_access *a)
{
	return a->key >> (LANE_BITS + TIME_BITS);
}

/* Distinct numbers among n, at most 2 * SL_WARP. */
static uint32_t distinct(const uintptr_t *number, uint32_t n)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = 0;

		while (k < i && number[k] != number[i])
			k++;
		found += k == i;
	}
	return found;
}

/* Sectors that n accesses of a warp touch; one that is not aligned can touch two. */
static uint32_t sectors_of(const struct sl_access *a, uint32_t n)
{
	uintptr_t sector[2 * SL_WARP];
	uint32_t used = 0;

	for (uint32_t i = 0; i < n; i++) {
		uintptr_t last = (a[i].at + a[i].bytes - 1) / SECTOR_BYTES;

		for (uintptr_t s = a[i].at / SECTOR_BYTES; s <= last; s++)
			sector[used++] = s;
	}
	return distinct(sector, used);
}

/* The passes that n accesses need: the most distinct words that they want of one bank. */
static uint32_t passes_of(const struct sl_access *a, uint32_t n)
{
	uintptr_t word[BANKS][SL_WARP]; /* distinct; each access wants at most one word of a bank */
	uint32_t used[BANKS] = {0}, most = 0;

	for (uint32_t i = 0; i < n; i++) {
		uintptr_t last = (a[i].at + a[i].bytes - 1) / BANK_BYTES;

		for (uintptr_t w = a[i].at / BANK_BYTES; w <= last; w++) {
			uintptr_t bank = w % BANKS;
			uint32_t k = 0;

			while (k < used[bank] && word[bank][k] != w)
				k++;
			word[bank][k] = w;
			used[bank] += k == used[bank];
			most = used[bank] > most ? used[bank] : most;
		}
	}
	return most;
}

/* Accesses of 8 and 16 bytes are served for half and for a quarter of a warp at a time. */
static uint32_t conflicts_of(const struct sl_access *a, uint32_t n)
{
	uint32_t lanes = a->bytes > BANK_BYTES ? PASS_BYTES / a->bytes : SL_WARP, conflicts = 0;

	for (uint32_t i = 0; i < n;) {
		uint32_t part = lane_of(&a[i]) / lanes, k = i;

		while (k < n && lane_of(&a[k]) / lanes == part)
			k++;
		conflicts += passes_of(a + i, k - i) - 1;
		i = k;
	}
	return conflicts;
}

/* n accesses of one instruction of a warp. */
static void count_instruction(const struct sl_access *a, uint32_t n)
{
	if (a->kind == SL_ACCESS_UPDATE) {
		counts.atomics += n;
	} else if (a->shared) {
		counts.shared += n;
		counts.conflicts += conflicts_of(a, n);
	} else {
		*(a->kind == SL_ACCESS_LOAD ? &counts.loads : &counts.stores) += n;
		counts.sectors += sectors_of(a, n);
	}
}

/*
 * Counts the n accesses of a warp at a place, in the order of their keys. Those that have the same
 * number among the accesses of their lane are one instruction, if they are of the same kind.
 */
static void count_place(const struct sl_access *a, size_t n)
{
	size_t next[SL_WARP], end[SL_WARP];
	uint32_t lanes = 0;

	for (size_t i = 0; i < n; i++) {
		if (i == 0 || lane_of(&a[i]) != lane_of(&a[i - 1]))
			next[lanes++] = i;
		end[lanes - 1] = i + 1;
	}
	while (lanes > 0) {
		struct sl_access one[SL_WARP];
		uint32_t left = 0;

		for (uint32_t k = 0; k < lanes; k++) {
			one[k] = a[next[k]];
			if (next[k] + 1 < end[k]) {
				next[left] = next[k] + 1;
				end[left++] = end[k];
			}
		}
		for (uint32_t i = 0, k; i < lanes; i = k) {
			for (k = i + 1; k < lanes && one[k].shared == one[i].shared; k++)
				if (one[k].bytes != one[i].bytes)
					break;
			count_instruction(&one[i], k - i);
		}
		lanes = left;
	}
}

static void count_log(struct sl_access_log *log)
{
	struct sl_access *a = log->access;

	if (log->n == 0)
		return;
	qsort(a, log->n, sizeof(*a), by_key);
	for (size_t i = 0, k; i < log->n; i = k) {
		for (k = i + 1; k < log->n && place_of(&a[k]) == place_of(&a[i]);)
			k++;
		count_place(a + i, k - i);
	}
	log->n = 0;
}

void sl_access_barrier(struct sl_block *b)
{
	counts.barriers += is_running;
	count_log(&b->log);
}

void sl_access_block_ends(struct sl_block *b)
{
	count_log(&b->log);
}

/* --- what the compiler calls ------------------------------------------------------------------ */

/* Called before an access. The place is the instruction after the call. */
#define COUNTED(name, kind, bytes)                                                              \
	void name(const void *at);                                                              \
	void name(const void *at)                                                               \
	{                                                                                       \
		if (is_running)                                                                 \
			sl_access_add(kind, at, bytes, (uintptr_t)__builtin_return_address(0)); \
	}
#define COUNTED_BYTES(bytes)                                             \
	COUNTED(sl_counted_read##bytes, SL_ACCESS_LOAD, bytes)           \
	COUNTED(sl_counted_unaligned_read##bytes, SL_ACCESS_LOAD, bytes) \
	COUNTED(sl_counted_write##bytes, SL_ACCESS_STORE, bytes)         \
	COUNTED(sl_counted_unaligned_write##bytes, SL_ACCESS_STORE, bytes)
COUNTED_BYTES(1)
COUNTED_BYTES(2)
COUNTED_BYTES(4)
COUNTED_BYTES(8)
COUNTED_BYTES(16)

void sl_counted_read_range(const void *at, size_t bytes)
{
	sl_access_add(SL_ACCESS_LOAD, at, bytes, (uintptr_t)__builtin_return_address(0));
}

void sl_counted_write_range(const void *at, size_t bytes)
{
	sl_access_add(SL_ACCESS_STORE, at, bytes, (uintptr_t)__builtin_return_address(0));
}

void sl_counted_init(void)
{
}
