/*
 * example.c - scan, compact and sort called from C on device memory that the program owns.
 *
 *	cc example.c $(pkg-config --cflags --libs sluice-primitives) -o example
 *
 * Particles have energies. The program keeps those above a threshold and sorts them by energy. It
 * prints the result, checks it, and exits with 0, with 1 if it is wrong, or with 77 if there is no
 * usable device.
 *
 * Memory and stream come from the library, on a GPU if there is one and else on the emulated
 * device, so the program runs on any machine. example_cuda.c is a shorter program, which has its
 * own memory and stream from the CUDA runtime.
 */
#include <stdio.h>

#include "primitives/primitives.h"

enum { N = 1000, NO_DEVICE = 77 };

/* --- the work --------------------------------------------------------------------------------- */

/* Inputs and results on the host. */
static uint32_t energy[N];
static uint8_t keep[N];
static uint32_t before[N]; /* exclusive prefix sums of the energies */
static uint32_t key[N], alive[N], n_alive;

/* The same on the device, cut from one block of memory; and the backends with their exec. */
struct device_side {
	uint32_t *energy, *before, *key, *alive, *n_alive;
	uint8_t *keep;
	const struct sl_backend *scan, *compact, *sort;
	struct sl_exec exec;
};

static enum sl_status find_backends(struct device_side *d)
{
	d->exec.space = SL_DEVICE;
	SL_TRY(sl_find(SL_SCAN, "shared", &d->scan));
	SL_TRY(sl_find(SL_COMPACT, "shared", &d->compact));
	return sl_find(SL_SORT, "shared", &d->sort);
}

/* The three calls run one after another on one stream, so they can share scratch. */
static size_t scratch_bytes(const struct device_side *d)
{
	const struct sl_shape shape = {.n = N, .type = SL_U32, .n_columns = 1};
	size_t scan = sl_scratch(d->scan, &shape), compact = sl_scratch(d->compact, &shape);
	size_t sort = sl_scratch(d->sort, &shape), most = scan > compact ? scan : compact;

	return most > sort ? most : sort;
}

/* Cuts all arrays from one block; with an arena that has no base, only measures its size. */
static void lay_out(struct sl_arena *a, struct device_side *d)
{
	size_t bytes = scratch_bytes(d);

	d->energy = (uint32_t *)sl_cut_items(a, N, sizeof(*d->energy));
	d->before = (uint32_t *)sl_cut_items(a, N, sizeof(*d->before));
	d->key = (uint32_t *)sl_cut_items(a, N, sizeof(*d->key));
	d->alive = (uint32_t *)sl_cut_items(a, N, sizeof(*d->alive));
	d->n_alive = (uint32_t *)sl_cut_items(a, 1, sizeof(*d->n_alive));
	d->keep = (uint8_t *)sl_cut_items(a, N, sizeof(*d->keep));
	d->exec.scratch = (struct sl_arena){sl_cut(a, bytes), 0, bytes};
}

/*
 * Queues the copies, the scan and the compaction of indices and energies. The results are on the
 * host after sl_stream_wait().
 */
static enum sl_status scan_and_compact(struct device_side *d)
{
	const struct sl_scan_job scan = {.in = d->energy, .out = d->before, .n = N, .type = SL_U32};
	const struct sl_compact_column energies = {d->energy, d->key, sizeof(energy[0])};
	const struct sl_compact_job compact = {.keep = d->keep,
		.out = d->alive,
		.n_out = d->n_alive,
		.n = N,
		.n_columns = 1,
		.column = &energies};
	sl_stream s = d->exec.stream;

	SL_TRY(sl_copy(d->energy, energy, sizeof(energy), s));
	SL_TRY(sl_copy(d->keep, keep, sizeof(keep), s));
	SL_TRY(sl_scan(d->scan, &d->exec, &scan));
	SL_TRY(sl_compact(d->compact, &d->exec, &compact));
	SL_TRY(sl_copy(before, d->before, sizeof(before), s));
	SL_TRY(sl_copy(&n_alive, d->n_alive, sizeof(n_alive), s));
	return sl_stream_wait(s);
}

/* Sorts the survivors by energy. */
static enum sl_status sort_survivors(struct device_side *d)
{
	const struct sl_sort_job sort = {.key = d->key,
		.index = d->alive,
		.n = n_alive,
		.type = SL_U32,
		.begin_bit = 0,
		.end_bit = 32};
	sl_stream s = d->exec.stream;

	SL_TRY(sl_sort(d->sort, &d->exec, &sort));
	SL_TRY(sl_copy(key, d->key, n_alive * sizeof(key[0]), s));
	SL_TRY(sl_copy(alive, d->alive, n_alive * sizeof(alive[0]), s));
	return sl_stream_wait(s);
}

static enum sl_status work(struct device_side *d, void **block)
{
	struct sl_arena measure = {0}, cut = {0};

	SL_TRY(find_backends(d));
	lay_out(&measure, d);
	SL_TRY(sl_memory_get(SL_DEVICE, measure.used, block));
	cut.base = *block;
	cut.size = measure.used;
	lay_out(&cut, d);
	SL_TRY(sl_stream_make(&d->exec.stream));
	SL_TRY(scan_and_compact(d));
	return sort_survivors(d);
}

/* --- the check -------------------------------------------------------------------------------- */

/* Compares the results with sequential code. */
static bool is_right(void)
{
	uint32_t sum = 0, n_kept = 0;

	for (uint32_t i = 0; i < N; i++) {
		if (before[i] != sum)
			return false;
		sum += energy[i];
		n_kept += keep[i];
	}
	for (uint32_t i = 0; i < n_alive; i++)
		if (key[i] != energy[alive[i]] || !keep[alive[i]] || (i > 0 && key[i - 1] > key[i]))
			return false;
	return n_kept == n_alive;
}

/* Makes the first GPU the current device, or the emulated one. */
static enum sl_status use_device(struct sl_device *device)
{
	int n;

	sl_device_emulate(sl_device_count(&n) != SL_OK);
	return sl_device_use(0, device);
}

int main(void)
{
	struct device_side side = {0};
	struct sl_device device;
	void *block = NULL;
	enum sl_status s;

	for (uint32_t i = 0; i < N; i++) {
		energy[i] = i * 7919u % 1009u;
		keep[i] = energy[i] > 500;
	}
	if (use_device(&device) != SL_OK) {
		fprintf(stderr, "example: %s\n", sl_last_error());
		return NO_DEVICE;
	}
	s = work(&side, &block);
	if (s != SL_OK)
		fprintf(stderr, "example: %s\n", sl_last_error());
	sl_stream_free(side.exec.stream);
	sl_memory_give(SL_DEVICE, block);
	if (s != SL_OK)
		return 1;
	printf("%s: %u of %d are alive; the least energy is %u, of particle %u\n", device.name,
		n_alive, N, key[0], alive[0]);
	if (!is_right()) {
		fprintf(stderr, "example: an answer is wrong\n");
		return 1;
	}
	return 0;
}
