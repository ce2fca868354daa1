/*
 * device_cuda.c - the driver of a build with CUDA: each function calls the CUDA runtime.
 *
 * If there is no usable device, copies and fills run on the host, so that the CPU path of this
 * build works on any machine.
 */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "device_driver.h"

/* The number of an error. Also clears it in the runtime: the next launch would report it again. */
static int number_of(cudaError_t error)
{
	if (error != cudaSuccess)
		(void)cudaGetLastError();
	return (int)error;
}

/* The set of devices does not change while a process runs, so it is counted once. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int devices;
static int count_error;

static void count_devices(void)
{
	count_error = number_of(cudaGetDeviceCount(&devices));
	if (count_error != 0)
		devices = 0;
	else if (devices == 0)
		count_error = SL_ERROR_NO_DEVICE;
}

static int count(int *n)
{
	pthread_once(&once, count_devices);
	*n = devices;
	return count_error;
}

static bool has_device(void)
{
	int n;

	return count(&n) == 0;
}

static void versions(int *driver, int *runtime)
{
	*driver = *runtime = 0;
	(void)cudaDriverGetVersion(driver);
	(void)cudaRuntimeGetVersion(runtime);
}

/* The oldest architecture that this project supports: Turing, 7.5. */
enum { MAJOR_MIN = 7, MINOR_MIN = 5 };

/* Fills *device, also if the device is refused: the message names it and its architecture. */
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
	snprintf(device->pci, sizeof(device->pci), "%04x:%02x:%02x.0",
		(unsigned)properties.pciDomainID & 0xffff, (unsigned)properties.pciBusID & 0xff,
		(unsigned)properties.pciDeviceID & 0xff);
	if (device->major < MAJOR_MIN || (device->major == MAJOR_MIN && device->minor < MINOR_MIN))
		return cudaErrorNoKernelImageForDevice;
	return cudaMemGetInfo(&device->free_bytes, &device->memory_bytes);
}

static int use(int number, struct sl_device *device)
{
	cudaError_t error = cudaSetDevice(number);

	if (error == cudaSuccess && device)
		error = describe(number, device);
	return number_of(error);
}

static int current(int *number)
{
	return number_of(cudaGetDevice(number));
}

/*
 * Attributes, because cudaGetDeviceProperties() takes milliseconds and calls may read the limits
 * before each launch. "Optin" is the limit that a kernel reaches with cudaFuncSetAttribute(); the
 * default is 48 KiB.
 */
static int limits(struct sl_limits *l)
{
	int device = 0, multiprocessors = 0, threads = 0, shared = 0;
	cudaError_t error = cudaGetDevice(&device);

	if (error == cudaSuccess)
		error = cudaDeviceGetAttribute(
			&multiprocessors, cudaDevAttrMultiProcessorCount, device);
	if (error == cudaSuccess)
		error = cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerBlock, device);
	if (error == cudaSuccess)
		error = cudaDeviceGetAttribute(
			&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
	l->multiprocessors = (uint32_t)multiprocessors;
	l->block_threads = (uint32_t)threads;
	l->shared_bytes = (size_t)shared;
	return number_of(error);
}

static int get(enum sl_space space, size_t bytes, void **p)
{
	return number_of(
		space == SL_DEVICE ? cudaMalloc(p, bytes) : (cudaError_t)sl_pinned_get(bytes, p));
}

static void give(enum sl_space space, void *p)
{
	(void)number_of(space == SL_DEVICE ? cudaFree(p) : (cudaError_t)sl_pinned_give(p));
}

static size_t free_bytes(void)
{
	size_t bytes = 0, all = 0;

	return number_of(cudaMemGetInfo(&bytes, &all)) == 0 ? bytes : 0;
}

static bool on_device(const void *p)
{
	struct cudaPointerAttributes at;

	return number_of(cudaPointerGetAttributes(&at, p)) == 0 && at.type == cudaMemoryTypeDevice;
}

static int device_of(const void *p, int *number)
{
	struct cudaPointerAttributes at;
	int error = number_of(cudaPointerGetAttributes(&at, p));

	if (error == 0 && at.type != cudaMemoryTypeDevice && at.type != cudaMemoryTypeManaged)
		error = SL_ERROR_VALUE;
	if (error == 0)
		*number = at.device;
	return error;
}

/* Non-blocking: work that others queue on the default stream does not delay this stream. */
static int stream_make(sl_stream *s)
{
	return number_of(cudaStreamCreateWithFlags(s, cudaStreamNonBlocking));
}

static void stream_free(sl_stream s)
{
	(void)number_of(cudaStreamDestroy(s));
}

static int stream_wait(sl_stream s)
{
	return has_device() ? number_of(cudaStreamSynchronize(s)) : 0;
}

/*
 * The functions of the driver that record an event after all work of a context: since CUDA 12.5.
 * They are looked up, because the driver is not linked.
 */
typedef CUresult(CUDAAPI *current_context)(CUcontext *context);
typedef CUresult(CUDAAPI *record_context)(CUcontext context, CUevent event);
static pthread_once_t looked_up = PTHREAD_ONCE_INIT;
static current_context get_context;
static record_context record_all;

static void *driver_function(const char *name, unsigned version)
{
#if CUDART_VERSION >= 12050
	enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
	void *function = NULL;

	if (number_of(cudaGetDriverEntryPointByVersion(
		    name, &function, version, cudaEnableDefault, &found)) == 0 &&
		found == cudaDriverEntryPointSuccess)
		return function;
#endif
	(void)name, (void)version;
	return NULL;
}

static void look_up(void)
{
	void *get = driver_function("cuCtxGetCurrent", 4000);
	void *record = driver_function("cuCtxRecordEvent", 12050);

	/* C has no conversion from a pointer to data to one to a function. */
	memcpy(&get_context, &get, sizeof(get));
	memcpy(&record_all, &record, sizeof(record));
}

/* Queues on s a wait for all work of the context. False if the driver cannot. */
static bool wait_for_context(sl_stream s)
{
	CUcontext context = NULL;
	cudaEvent_t event;
	bool waits;

	if (!get_context || !record_all || get_context(&context) != CUDA_SUCCESS ||
		number_of(cudaEventCreateWithFlags(&event, cudaEventDisableTiming)) != 0)
		return false;
	waits = record_all(context, event) == CUDA_SUCCESS &&
	        number_of(cudaStreamWaitEvent(s, event, 0)) == 0;
	(void)number_of(cudaEventDestroy(event)); /* once the event has passed */
	return waits;
}

static int stream_join(sl_stream s)
{
	pthread_once(&looked_up, look_up);
	return wait_for_context(s) ? 0 : number_of(cudaDeviceSynchronize());
}

static int stream_follow(sl_stream s, sl_event e)
{
	return number_of(cudaStreamWaitEvent(s, e, 0));
}

static uint64_t stream_number(sl_stream s)
{
#if CUDART_VERSION >= 12000
	unsigned long long number = 0;

	if (number_of(cudaStreamGetId(s, &number)) == 0)
		return number;
#endif
	(void)s;
	return 0;
}

static int event_make(sl_event *e)
{
	return number_of(cudaEventCreate(e));
}

static void event_free(sl_event e)
{
	(void)number_of(cudaEventDestroy(e));
}

static bool is_captured(sl_stream s)
{
	enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;

	return number_of(cudaStreamIsCapturing(s, &status)) == 0 &&
	       status == cudaStreamCaptureStatusActive;
}

/*
 * During a capture, an ordinary record would only order the work of the graph. With the flag it
 * becomes a node of the graph, which records the event each time that the graph runs.
 */
static int event_record(sl_event e, sl_stream s)
{
	return number_of(cudaEventRecordWithFlags(
		e, s, is_captured(s) ? cudaEventRecordExternal : cudaEventRecordDefault));
}

static int event_wait(sl_event e)
{
	return number_of(cudaEventSynchronize(e));
}

static int event_ms(sl_event from, sl_event to, float *ms)
{
	return number_of(cudaEventElapsedTime(ms, from, to));
}

/*
 * Relaxed: the stricter modes make calls fail that may allocate or load a module, in this thread or
 * in all. Here the first launch of a kernel loads it, and other threads use the device meanwhile.
 */
static int capture_begin(sl_stream s)
{
	return number_of(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
}

/* The captured graph is only the template of the executable one, so it is destroyed in any case. */
static int capture_end(sl_stream s, sl_graph *g)
{
	cudaGraph_t captured = NULL;
	cudaError_t error = cudaStreamEndCapture(s, &captured);

	if (error == cudaSuccess && g)
		error = cudaGraphInstantiate(g, captured, 0);
	if (captured)
		(void)number_of(cudaGraphDestroy(captured));
	return number_of(error);
}

static int graph_queue(sl_graph g, sl_stream s)
{
	return number_of(cudaGraphLaunch(g, s));
}

static void graph_free(sl_graph g)
{
	(void)number_of(cudaGraphExecDestroy(g));
}

/* cudaMemcpyDefault: the runtime finds the direction from the addresses. */
static int copy(void *to, const void *from, size_t bytes, sl_stream s)
{
	if (!has_device()) {
		memcpy(to, from, bytes);
		return 0;
	}
	return number_of(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, s));
}

/*
 * For ordinary host memory, which the device cannot reach. Waits for the stream to keep the order.
 */
static int fill_host(void *to, int value, size_t bytes, sl_stream s)
{
	int error = stream_wait(s);

	if (error == 0)
		memset(to, value, bytes);
	return error;
}

static int fill(void *to, int value, size_t bytes, sl_stream s)
{
	struct cudaPointerAttributes at;
	int error;

	if (!has_device())
		return fill_host(to, value, bytes, s);
	error = number_of(cudaPointerGetAttributes(&at, to));
	if (error != 0)
		return error;
	if (at.type == cudaMemoryTypeUnregistered)
		return fill_host(to, value, bytes, s);
	return number_of(cudaMemsetAsync(to, value, bytes, s));
}

static const char *error_text(int error)
{
	return cudaGetErrorString((cudaError_t)error);
}

const struct sl_driver sl_driver_built = {
	.name = "cuda",
	.count = count,
	.versions = versions,
	.use = use,
	.current = current,
	.limits = limits,
	.get = get,
	.give = give,
	.free_bytes = free_bytes,
	.on_device = on_device,
	.device_of = device_of,
	.stream_make = stream_make,
	.stream_free = stream_free,
	.stream_wait = stream_wait,
	.stream_join = stream_join,
	.stream_follow = stream_follow,
	.stream_number = stream_number,
	.event_make = event_make,
	.event_free = event_free,
	.event_record = event_record,
	.event_wait = event_wait,
	.event_ms = event_ms,
	.capture_begin = capture_begin,
	.capture_end = capture_end,
	.graph_queue = graph_queue,
	.graph_free = graph_free,
	.copy = copy,
	.fill = fill,
	.error_text = error_text,
};
