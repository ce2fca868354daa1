/*
 * smc.cu - the bootstrap filter of a local level from calls of CUB, Thrust and cuRAND, for smc.py.
 *
 *	echo PARTICLES FILTERS SEED FIRST STEP PRECISION OBSERVATION... | smc
 *
 * FIRST and STEP are standard deviations of the state, PRECISION is 1/(2 sigma2_eps). One kernel
 * gathers the parents, moves and weighs them; DeviceScan sums the weights, and thrust::upper_bound
 * finds the parents of systematic resampling. Weights and sums are float32. Weights are at most 1
 * without a search for the largest log weight, because it is at most 0 in this model. Filters run one
 * after another; the host waits once in each. PARTICLES is a multiple of 1024. Prints seconds per
 * filter, the mean log likelihood and the version of CUB.
 */
#include <chrono>
#include <cstdio>
#include <cub/device/device_scan.cuh>
#include <cuda/functional>
#include <curand_kernel.h>
#include <random>
#include <thrust/binary_search.h>
#include <thrust/device_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <vector>

/* weights and sums have n + 1 items, so that sums[n] is the sum S of n weights. */
struct filter {
	uint32_t n;
	float first, step, precision;
	uint32_t *parents;                 /* number + 1 */
	float *states[2], *weights, *sums; /* after sums[n]: S of all steps before */
	void *temporary;
	size_t bytes;
};

/* Moves particles i, i + n/4, i + n/2 and i + 3 n/4 in step t by one Philox block, and weighs them. */
static __global__ void move(struct filter f, uint64_t seed, uint32_t t, float y)
{
	const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
	curandStatePhilox4_32_10_t random;

	curand_init(seed, i, 4ull * t, &random);
	const float4 normal = curand_normal4(&random);
	const float z[4] = {normal.x, normal.y, normal.z, normal.w};
	for (uint32_t k = 0, j = i; k < 4; k++, j += f.n / 4) {
		const float x =
			t > 0 ? f.states[t & 1][f.parents[j] - 1] + f.step * z[k] : f.first * z[k];
		f.states[~t & 1][j] = x;
		f.weights[j] = expf(-f.precision * (y - x) * (y - x));
	}
	if (i == 0 && t > 0)
		f.sums[f.n + t] = f.sums[f.n];
}

static double log_likelihood(struct filter f, uint64_t seed, const std::vector<float> &y)
{
	std::mt19937_64 random(seed);
	std::vector<float> totals(y.size());
	double sum = 0;

	for (uint32_t t = 0; t < y.size(); t++) {
		const float u = std::uniform_real_distribution<float>()(random);
		move<<<f.n / 1024, 256>>>(f, seed, t, y[t]);
		cub::DeviceScan::ExclusiveSum(f.temporary, f.bytes, f.weights, f.sums, f.n + 1);
		/* Slot j gets the particle at which the sum of weights exceeds (j + u) S/n. */
		auto at = thrust::make_transform_iterator(thrust::counting_iterator<uint32_t>(0),
			cuda::proclaim_return_type<float>([=] __device__(uint32_t j) {
				return (j + u) / f.n * f.sums[f.n];
			}));
		thrust::upper_bound(
			thrust::cuda::par_nosync, f.sums, f.sums + f.n, at, at + f.n, f.parents);
	}
	cudaMemcpy(totals.data(), f.sums + f.n, 4 * y.size(), cudaMemcpyDefault);
	for (double total : totals)
		sum += log(total / f.n * sqrt(f.precision / acos(-1.0)));
	return sum;
}

int main(void)
{
	std::vector<float> a, y;
	double sum = 0;

	for (float value; scanf("%f", &value) == 1;)
		(a.size() < 6 ? a : y).push_back(value);
	const uint32_t n = (uint32_t)a.at(0);
	thrust::device_vector<float> memory(5 * (size_t)n + 8 + y.size());
	float *p = memory.data().get();
	struct filter f = {n, a.at(3), a.at(4), a.at(5), (uint32_t *)p, {p + n, p + 2 * n},
		p + 3 * n, p + 4 * n + 4, nullptr, 0};
	cub::DeviceScan::ExclusiveSum(nullptr, f.bytes, f.weights, f.sums, n + 1);
	thrust::device_vector<char> temporary(f.bytes);
	f.temporary = temporary.data().get();

	log_likelihood(f, 0, y); /* the first call also loads the kernels */
	const auto start = std::chrono::steady_clock::now();
	for (int k = 1; k <= (int)a.at(1); k++)
		sum += log_likelihood(f, 1000000 * (uint64_t)a.at(2) + k, y);
	const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
	printf("%.9g %.9g %d\n", seconds.count() / a.at(1), sum / a.at(1), CUB_VERSION);
	return cudaDeviceSynchronize() != cudaSuccess || n % 1024 != 0;
}
