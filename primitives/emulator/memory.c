/*
 * memory.c - allocates device memory of the emulated device with mmap. See emulator.h.
 */
#include "primitives/emulator/emulator.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "primitives/base/size.h"
#include "primitives/device/device_driver.h"
#include "settings.h"

#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#else
#define VALGRIND_MAKE_MEM_UNDEFINED(p, bytes) 0
#endif

#ifdef SL_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

enum { PAGE = 4096 };

/* An allocation: pages that are inaccessible while the host runs, and a guard page. */
struct block {
	struct block *next;
	char *at;
	size_t bytes, mapped;
	int device;
};

static struct block *blocks; /* of all devices */

/* For each device: the sum of the requested sizes, so that the limit is exact to the byte. */
static size_t used_bytes[SL_DEVICES_MAX];

size_t sl_emulated_memory_free(int device)
{
	size_t all = sl_emulator_get_settings()->memory_bytes, used = used_bytes[device];

	return all > used ? all - used : 0;
}

static void set_accessible(const struct block *b, bool open)
{
	(void)mprotect(b->at, b->mapped - PAGE, open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

void sl_emulated_memory_set_accessible(int device, bool open)
{
	for (const struct block *b = blocks; b; b = b->next)
		if (b->device == device)
			set_accessible(b, open);
}

static const struct block *block_of(const void *p)
{
	const char *at = (const char *)p;
	const struct block *b = blocks;

	while (b && !(at >= b->at && at < b->at + b->bytes))
		b = b->next;
	return b;
}

void sl_emulated_block_set_accessible(const void *p, bool open)
{
	const struct block *b = block_of(p);

	if (b)
		set_accessible(b, open);
}

int sl_emulated_memory_get(int device, size_t bytes, void **p)
{
	size_t pages = sl_round_up(bytes, PAGE);
	struct block *b;
	void *at;

	if (bytes > sl_emulated_memory_free(device))
		return SL_ERROR_MEMORY;
	b = (struct block *)malloc(sizeof(*b));
	if (!b)
		return SL_ERROR_MEMORY;
	at = mmap(NULL, pages + PAGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED) {
		free(b);
		return SL_ERROR_MEMORY;
	}
	*b = (struct block){blocks, (char *)at, bytes, pages + PAGE, device};
	memset(at, SL_EMULATED_FILL, bytes);
	(void)VALGRIND_MAKE_MEM_UNDEFINED(at, bytes);
	(void)mprotect(at, pages + PAGE, PROT_NONE);
#ifdef SL_ADDRESS_SANITIZER
	__asan_poison_memory_region(b->at + bytes, pages - bytes);
#endif
	blocks = b;
	used_bytes[device] += bytes;
	*p = at;
	return 0;
}

void sl_emulated_memory_give(void *p)
{
	for (struct block **at = &blocks; *at; at = &(*at)->next) {
		struct block *b = *at;

		if (b->at != (char *)p)
			continue;
#ifdef SL_ADDRESS_SANITIZER
		__asan_unpoison_memory_region(b->at, b->mapped);
#endif
		*at = b->next;
		used_bytes[b->device] -= b->bytes;
		(void)munmap(b->at, b->mapped);
		free(b);
		return;
	}
}

int sl_emulated_memory_device(const void *p)
{
	const struct block *b = block_of(p);

	return b ? b->device : -1;
}

bool sl_emulated_memory_has(const void *p)
{
	return sl_emulated_memory_device(p) >= 0;
}

bool sl_emulated_memory_overruns(const void *p, size_t bytes)
{
	const char *at = (const char *)p;

	for (const struct block *b = blocks; b; b = b->next)
		if (at >= b->at && at < b->at + b->mapped)
			return bytes > b->bytes || (size_t)(at - b->at) > b->bytes - bytes;
	return false;
}
