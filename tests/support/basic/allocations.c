/* allocations.c - see allocations.h. */
#include "allocations.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

static _Atomic uint64_t count;
static _Thread_local uint64_t count_of_thread;
static _Thread_local bool excluded;

static void add_one(void)
{
	count_of_thread += !excluded;
	if (!excluded)
		atomic_fetch_add(&count, 1);
}

uint64_t allocations_of_thread(void)
{
	allocations(); /* sets the hooks */
	return count_of_thread;
}

void allocations_exclude(bool exclude)
{
	excluded = exclude;
}

#if defined(__has_feature)
#define HAS(feature) __has_feature(feature)
#else
#define HAS(feature) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || HAS(address_sanitizer) || \
	HAS(thread_sanitizer) || HAS(memory_sanitizer)

/* From sanitizer/allocator_interface.h, which gcc does not always install. */
int __sanitizer_install_malloc_and_free_hooks(
	void (*on_malloc)(const volatile void *p, size_t bytes),
	void (*on_free)(const volatile void *p));

static void on_malloc(const volatile void *p, size_t bytes)
{
	(void)p;
	(void)bytes;
	add_one();
}

static void on_free(const volatile void *p)
{
	(void)p;
}

uint64_t allocations(void)
{
	static atomic_flag installed = ATOMIC_FLAG_INIT;

	if (!atomic_flag_test_and_set(&installed))
		__sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
	return atomic_load(&count);
}

#else

/* The allocator of glibc, under the names that glibc provides for replacements. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *p, size_t bytes);
void *__libc_memalign(size_t align, size_t bytes);
void *malloc(size_t bytes);
void *calloc(size_t n, size_t bytes);
void *realloc(void *p, size_t bytes);
void *aligned_alloc(size_t align, size_t bytes);
int posix_memalign(void **p, size_t align, size_t bytes);

void *malloc(size_t bytes)
{
	add_one();
	return __libc_malloc(bytes);
}

void *calloc(size_t n, size_t bytes)
{
	add_one();
	return __libc_calloc(n, bytes);
}

void *realloc(void *p, size_t bytes)
{
	add_one();
	return __libc_realloc(p, bytes);
}

void *aligned_alloc(size_t align, size_t bytes)
{
	add_one();
	return __libc_memalign(align, bytes);
}

int posix_memalign(void **p, size_t align, size_t bytes)
{
	*p = aligned_alloc(align, bytes);
	return *p ? 0 : ENOMEM;
}

uint64_t allocations(void)
{
	return atomic_load(&count);
}

#endif
