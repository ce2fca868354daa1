/*
 * example_cuda.c - compacts and sorts arrays that the program has allocated with cudaMalloc(), on
 * its own stream. Prints the result; exits with 1 if it is wrong, with 77 if there is no GPU.
 *
 *	cc example_cuda.c $(pkg-config --cflags --libs sluice-primitives) -lcudart -o example_cuda
 */
#include <cuda_runtime_api.h>
#include <stdio.h>

#include "primitives/primitives.h"

enum { N = 1000, NO_DEVICE = 77 };

static uint32_t energy[N], n_alive; /* on the host; after the work: the n_alive sorted energies */
static uint8_t keep[N];             /* 1: the particle is alive */
static uint32_t *d_energy, *d_key, *d_n; /* on the device */
static uint8_t *d_keep;
static void *d_scratch; /* of scratch_bytes */
static size_t scratch_bytes;
static cudaStream_t stream;

/* Packs the energies of the particles that are alive, sorts them and copies them to the host. */
static enum sl_status compact_and_sort(void)
{
	struct sl_exec x = {SL_DEVICE, stream, {d_scratch, 0, scratch_bytes}, {0}};
	const struct sl_compact_column column = {d_energy, d_key, sizeof(*d_key)};
	const struct sl_compact_job compact = {
		.keep = d_keep, .n_out = d_n, .n = N, .n_columns = 1, .column = &column};
	struct sl_sort_job sort = {.key = d_key, .type = SL_U32, .end_bit = 32};

	cudaMemcpyAsync(d_energy, energy, sizeof(energy), cudaMemcpyHostToDevice, stream);
	cudaMemcpyAsync(d_keep, keep, sizeof(keep), cudaMemcpyHostToDevice, stream);
	SL_TRY(sl_compact(&sl_compact_shared, &x, &compact));
	cudaMemcpyAsync(&n_alive, d_n, sizeof(n_alive), cudaMemcpyDeviceToHost, stream);
	SL_TRY(sl_stream_wait(stream)); /* the host needs the number */
	sort.n = n_alive;
	SL_TRY(sl_sort(&sl_sort_shared, &x, &sort));
	cudaMemcpyAsync(energy, d_key, n_alive * sizeof(*d_key), cudaMemcpyDeviceToHost, stream);
	return sl_stream_wait(stream);
}

int main(void)
{
	const struct sl_shape most = {.n = N, .type = SL_U32, .n_columns = 1};
	bool right;

	scratch_bytes = sl_scratch(&sl_compact_shared, &most) + sl_scratch(&sl_sort_shared, &most);
	if (cudaMalloc((void **)&d_energy, sizeof(energy)) || cudaStreamCreate(&stream) ||
		cudaMalloc((void **)&d_key, sizeof(energy)) || cudaMalloc((void **)&d_n, 4) ||
		cudaMalloc((void **)&d_keep, N) || cudaMalloc(&d_scratch, scratch_bytes))
		return NO_DEVICE;
	for (uint32_t i = 0; i < N; i++) {
		energy[i] = i * 7919u % 1009u;
		keep[i] = energy[i] > 500;
	}
	right = compact_and_sort() == SL_OK;
	printf("%s: %u of %d are alive\n", right ? "done" : sl_last_error(), n_alive, N);
	for (uint32_t i = 0; i < n_alive; i++)
		right = right && energy[i] > (i > 0 ? energy[i - 1] : 500);
	return right && n_alive > 0 ? 0 : 1; /* the end of the process frees the memory */
}
