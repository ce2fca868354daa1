/*
 * device_cuda.c - the driver of a build with CUDA: the runtime's C interface, call by call.
 *
 * Where no device can be used, copies and fills are the host's, so that the CPU path of such
 * a build runs on any machine.
 */
#include "device_driver.h"

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number of an error, which is also forgotten: else the next launch would be blamed for it. */
static int number_of(cudaError_t error)
{
	if (error != cudaSuccess)
		(void)cudaGetLastError();
	return (int)error;
}

/* The devices do not change while a process runs, so they are counted once. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int devices;
static cudaError_t counted;

static void count_devices(void)
{
	counted = cudaGetDeviceCount(&devices);
	if (number_of(counted) != 0)
		devices = 0;
}

static int device_count(void)
{
	pthread_once(&once, count_devices);
	return devices;
}

/* CUDA writes 13.0 as 13000. */
enum { MAJOR = 1000, MINOR = 10 };

/* The runtime has one error for two causes: with no driver at all its version is 0. */
static enum sl_status bad_driver(void)
{
	int driver = 0, runtime = 0;

	(void)cudaDriverGetVersion(&driver);
	(void)cudaRuntimeGetVersion(&runtime);
	if (driver == 0)
		return sl_fail(SL_NO_DEVICE,
			"no CUDA driver is loaded, so no device can be used (this build has CUDA "
			"%d.%d); install the NVIDIA driver, or run on the CPU",
			runtime / MAJOR, runtime % MAJOR / MINOR);
	return sl_fail(SL_NO_DEVICE,
		"the CUDA driver is too old: it serves CUDA %d.%d, this build needs %d.%d; update "
		"the NVIDIA driver, or run on the CPU",
		driver / MAJOR, driver % MAJOR / MINOR, runtime / MAJOR, runtime % MAJOR / MINOR);
}

static enum sl_status no_device(void)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");

	return sl_fail(SL_NO_DEVICE,
		"the CUDA driver sees no device (CUDA_VISIBLE_DEVICES is %s%s%s); "
		"check nvidia-smi, or run on the CPU",
		visible ? "'" : "not set", visible ? visible : "", visible ? "'" : "");
}

enum sl_status sl_driver_count(int *n)
{
	*n = device_count();
	if (*n > 0)
		return SL_OK;
	if (counted == cudaErrorInsufficientDriver || counted == cudaErrorStubLibrary)
		return bad_driver();
	if (counted == cudaErrorNoDevice || counted == cudaSuccess)
		return no_device();
	return sl_fail(SL_NO_DEVICE,
		"no device can be used: CUDA error %d, %s; check nvidia-smi, or run on the CPU",
		(int)counted, cudaGetErrorString(counted));
}

static cudaError_t describe(int number, struct sl_device *device)
{
	struct cudaDeviceProp properties;
	cudaError_t error = cudaGetDeviceProperties(&properties, number);

	if (error != cudaSuccess)
		return error;
	device->number = number;
	snprintf(device->name, sizeof(device->name), "%.*s", (int)sizeof(device->name) - 1,
		properties.name);
	device->major = properties.major;
	device->minor = properties.minor;
	device->multiprocessors = properties.multiProcessorCount;
	return cudaMemGetInfo(&device->free_bytes, &device->memory_bytes);
}

int sl_driver_use(int number, struct sl_device *device)
{
	cudaError_t error = cudaSetDevice(number);

	return number_of(error == cudaSuccess ? describe(number, device) : error);
}

int sl_driver_get(enum sl_space space, size_t bytes, void **p)
{
	return number_of(space == SL_DEVICE ? cudaMalloc(p, bytes) : cudaMallocHost(p, bytes));
}

void sl_driver_give(enum sl_space space, void *p)
{
	(void)number_of(space == SL_DEVICE ? cudaFree(p) : cudaFreeHost(p));
}

size_t sl_driver_free_bytes(void)
{
	size_t free_bytes = 0, all = 0;

	return number_of(cudaMemGetInfo(&free_bytes, &all)) == 0 ? free_bytes : 0;
}

/* Non-blocking: work of others on the default stream of the process holds nothing up. */
int sl_driver_stream_make(sl_stream *s)
{
	return number_of(cudaStreamCreateWithFlags(s, cudaStreamNonBlocking));
}

void sl_driver_stream_free(sl_stream s)
{
	(void)number_of(cudaStreamDestroy(s));
}

int sl_driver_stream_wait(sl_stream s)
{
	return device_count() == 0 ? 0 : number_of(cudaStreamSynchronize(s));
}

int sl_driver_copy(void *to, const void *from, size_t bytes, sl_stream s)
{
	if (device_count() == 0) {
		memcpy(to, from, bytes);
		return 0;
	}
	return number_of(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, s));
}

/* Memory that CUDA does not know: the device cannot reach it. */
static int fill_host(void *to, int value, size_t bytes, sl_stream s)
{
	int error = sl_driver_stream_wait(s);

	if (error == 0)
		memset(to, value, bytes);
	return error;
}

int sl_driver_fill(void *to, int value, size_t bytes, sl_stream s)
{
	struct cudaPointerAttributes at;
	int error;

	if (device_count() == 0)
		return fill_host(to, value, bytes, s);
	error = number_of(cudaPointerGetAttributes(&at, to));
	if (error != 0)
		return error;
	if (at.type == cudaMemoryTypeUnregistered)
		return fill_host(to, value, bytes, s);
	return number_of(cudaMemsetAsync(to, value, bytes, s));
}

const char *sl_driver_error_text(int error)
{
	return cudaGetErrorString((cudaError_t)error);
}

bool sl_driver_error_is_memory(int error)
{
	return error == cudaErrorMemoryAllocation;
}
