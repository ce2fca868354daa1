/* pinned_cuda.c - see device_driver.h. */
#include "primitives/device/device_driver.h"

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/mman.h>

#include "primitives/base/jobs.h"

/* More threads do not take pages faster: the system hands out about 25 GB/s. */
enum { THREADS_MOST = 16, STACK_BYTES = 256 << 10 };

#define PAGE  ((size_t)1 << 12)
#define LARGE ((size_t)1 << 23) /* bytes from which a block is worth huge pages */
#define SHARE ((size_t)1 << 22) /* bytes that are worth a thread */

/* In the page before a large block. */
struct large {
	struct large *next;
	void *map; /* with the alignment and this page */
	size_t map_bytes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct large *all;

struct share {
	struct sl_thread_handle thread;
	volatile char *from, *to;
};

static void *touch(void *ctx)
{
	const struct share *s = (const struct share *)ctx;

	for (volatile char *at = s->from; at < s->to; at += PAGE)
		*at = 0;
	return NULL;
}

static int processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* Writes to each page, so that the system provides it; in as many threads as start. */
static void take_pages(char *block, size_t bytes)
{
	struct share share[THREADS_MOST];
	int most = processors(), threads = most < THREADS_MOST ? most : THREADS_MOST, started = 0;
	size_t huge_pages = bytes / SL_HUGE_PAGE;

	if (bytes / SHARE < (size_t)threads)
		threads = (int)(bytes / SHARE);
	for (int i = 0; i < threads; i++) {
		share[i].from = block + huge_pages * (size_t)i / (size_t)threads * SL_HUGE_PAGE;
		share[i].to = block + huge_pages * ((size_t)i + 1) / (size_t)threads * SL_HUGE_PAGE;
	}
	while (started < threads - 1 &&
		sl_thread_start(STACK_BYTES, touch, &share[started], &share[started].thread) == 0)
		started++;
	for (int i = started; i < threads; i++)
		(void)touch(&share[i]);
	for (int i = 0; i < started; i++)
		(void)pthread_join(share[i].thread.id, NULL);
}

static cudaError_t get_large(size_t bytes, void **p)
{
	size_t rounded = (bytes + SL_HUGE_PAGE - 1) / SL_HUGE_PAGE * SL_HUGE_PAGE;
	size_t map_bytes = rounded + SL_HUGE_PAGE + PAGE;
	void *map =
		mmap(NULL, map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct large *head;
	cudaError_t error;
	char *block;

	if (map == MAP_FAILED)
		return cudaErrorMemoryAllocation;
	block = (char *)map + PAGE;
	block += -(uintptr_t)block % SL_HUGE_PAGE;
	(void)madvise(block, rounded, MADV_HUGEPAGE);
	(void)madvise(block, rounded, MADV_DONTFORK);
	take_pages(block, rounded);
	error = cudaHostRegister(block, rounded, cudaHostRegisterPortable);
	if (error != cudaSuccess) {
		(void)cudaGetLastError(); /* clears it */
		(void)munmap(map, map_bytes);
		return error;
	}
	head = (struct large *)(void *)(block - PAGE);
	*p = block;
	pthread_mutex_lock(&lock);
	*head = (struct large){.next = all, .map = map, .map_bytes = map_bytes};
	all = head;
	pthread_mutex_unlock(&lock);
	return cudaSuccess;
}

/* Takes the block from the list; NULL if it is of cudaMallocHost(). */
static struct large *remove_large(void *p)
{
	struct large **at, *found;

	pthread_mutex_lock(&lock);
	for (at = &all; *at && (char *)*at + PAGE != (char *)p;)
		at = &(*at)->next;
	found = *at;
	if (found)
		*at = found->next;
	pthread_mutex_unlock(&lock);
	return found;
}

int sl_pinned_get(size_t bytes, void **p)
{
	if (bytes >= LARGE && bytes <= SIZE_MAX / 2 && get_large(bytes, p) == cudaSuccess)
		return cudaSuccess;
	return cudaMallocHost(p, bytes); /* also where memory of others cannot be registered */
}

int sl_pinned_give(void *p)
{
	struct large *large = remove_large(p);
	cudaError_t error;

	if (!large)
		return cudaFreeHost(p);
	error = cudaHostUnregister(p);
	(void)munmap(large->map, large->map_bytes);
	return error;
}
