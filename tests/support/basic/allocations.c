/* allocations.c - see allocations.h. */
#include "allocations.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

static _Atomic uint64_t count;
static _Thread_local uint64_t count_of_thread;
static _Thread_local bool excluded;

void (*allocations_watch)(void);
static uint64_t armed_at, fail_at; /* fail_at: 0 for none */
static bool fail_on;

/* Counts an allocation. Returns true if it must fail. */
static bool add_one(void)
{
	uint64_t k;

	if (excluded)
		return false;
	if (allocations_watch) {
		excluded = true;
		allocations_watch();
		excluded = false;
	}
	count_of_thread++;
	k = atomic_fetch_add(&count, 1) + 1;
	if (fail_at == 0 || k < fail_at || (k > fail_at && !fail_on))
		return false;
	errno = ENOMEM;
	return true;
}

void allocations_fail(uint64_t k, bool on)
{
	armed_at = allocations();
	fail_at = k ? armed_at + k : 0;
	fail_on = on;
}

uint64_t allocations_since_armed(void)
{
	return allocations() - armed_at;
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

#if !defined(__has_feature)
#define __has_feature(feature) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
	__has_feature(address_sanitizer) || __has_feature(thread_sanitizer)

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
	return add_one() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t n, size_t bytes)
{
	return add_one() ? NULL : __libc_calloc(n, bytes);
}

void *realloc(void *p, size_t bytes)
{
	return add_one() ? NULL : __libc_realloc(p, bytes);
}

void *aligned_alloc(size_t align, size_t bytes)
{
	return add_one() ? NULL : __libc_memalign(align, bytes);
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
