/*
 * failing_malloc.c - LD_PRELOAD library in which the k-th allocation of a process fails.
 *
 *	LD_PRELOAD=.../libfailing_malloc.so FAIL_AT=17 sluice run ...
 *
 *	FAIL_AT=k
 *		malloc, calloc, realloc and aligned allocations are counted together, from 1; the
 *		k-th returns NULL with errno ENOMEM
 *	FAIL_ON=1
 *		all after it fail too
 *	FAIL_COUNT=1
 *		at its end the process writes "allocs N" to stderr, to know where to stop
 *	FAIL_MARKS=1
 *		the same before each renameat2, by which files are committed
 *
 * So a test walks k = 1, 2, 3, ... over all allocations of a run, those of libraries included, each
 * failing once and from then on (SQLite's way). dlsym itself may allocate before the real functions
 * are known: that comes from a small block of our own, which is never given back.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BOOT_BYTES = 1 << 16, BOOT_ALIGN = 16 };

static void *(*real_malloc)(size_t);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);
static void *(*real_aligned_alloc)(size_t, size_t);
static int (*real_posix_memalign)(void **, size_t, size_t);
static void (*real_free)(void *);

static atomic_long calls;
static long fail_at;
static bool fail_on, starting;
static pid_t process; /* its children report nothing */

_Alignas(BOOT_ALIGN) static char boot[BOOT_BYTES];
static size_t boot_used;

static void *boot_get(size_t bytes)
{
	void *p = boot + boot_used;

	bytes = (bytes + BOOT_ALIGN - 1) / BOOT_ALIGN * BOOT_ALIGN;
	if (bytes > sizeof(boot) - boot_used)
		return NULL;
	boot_used += bytes;
	return p;
}

static bool is_boot(const void *p)
{
	return (uintptr_t)p >= (uintptr_t)boot && (uintptr_t)p < (uintptr_t)(boot + sizeof(boot));
}

/* Copies the address: ISO C has no cast from an object pointer to a function pointer. */
static void find(const char *name, void *function, size_t size)
{
	void *address = dlsym(RTLD_NEXT, name);

	memcpy(function, &address, size);
}

/* Reads the environment: at the start, and after a fork in server.c before main begins. */
void failing_malloc_begin(void);
void failing_malloc_begin(void)
{
	const char *at = getenv("FAIL_AT");

	fail_at = at ? atol(at) : 0;
	fail_on = getenv("FAIL_ON") != NULL;
	process = getpid();
}

/* Runs in the first allocation of the process, before it has a second thread. */
static void start(void)
{
	starting = true;
	find("calloc", &real_calloc, sizeof(real_calloc));
	find("realloc", &real_realloc, sizeof(real_realloc));
	find("aligned_alloc", &real_aligned_alloc, sizeof(real_aligned_alloc));
	find("posix_memalign", &real_posix_memalign, sizeof(real_posix_memalign));
	find("free", &real_free, sizeof(real_free));
	find("malloc", &real_malloc, sizeof(real_malloc));
	failing_malloc_begin();
	starting = false;
}

/* Counts an allocation; returns true if it must fail. */
static bool is_failing(void)
{
	long k = atomic_fetch_add(&calls, 1) + 1;

	if (fail_at == 0 || k < fail_at || (k > fail_at && !fail_on))
		return false;
	errno = ENOMEM;
	return true;
}

/* Returns whether the real functions are known; false while dlsym itself allocates. */
static bool is_ready(void)
{
	if (!real_malloc && !starting)
		start();
	return !starting;
}

void *malloc(size_t bytes)
{
	if (!is_ready())
		return boot_get(bytes);
	return is_failing() ? NULL : real_malloc(bytes);
}

void *calloc(size_t n, size_t bytes)
{
	if (!is_ready()) /* the block is static, so it is zero */
		return bytes && n > BOOT_BYTES / bytes ? NULL : boot_get(n * bytes);
	return is_failing() ? NULL : real_calloc(n, bytes);
}

void *realloc(void *p, size_t bytes)
{
	if (!is_ready() || is_boot(p))
		return NULL; /* blocks that dlsym allocated cannot grow */
	return is_failing() ? NULL : real_realloc(p, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
	if (!is_ready() || is_failing())
		return NULL;
	return real_aligned_alloc(alignment, bytes);
}

int posix_memalign(void **p, size_t alignment, size_t bytes)
{
	if (!is_ready() || is_failing())
		return ENOMEM;
	return real_posix_memalign(p, alignment, bytes);
}

void free(void *p)
{
	if (is_ready() && !is_boot(p))
		real_free(p);
}

static void report(const char *wish)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "allocs %ld\n", atomic_load(&calls));

	if (getpid() == process && getenv(wish) && write(STDERR_FILENO, text, (size_t)n) < 0)
		syscall(SYS_exit_group, 1);
}

__attribute__((destructor)) static void at_end(void)
{
	report("FAIL_COUNT");
}

/* Reports also in programs that end without calling destructors. */
void _exit(int code)
{
	report("FAIL_COUNT");
	syscall(SYS_exit_group, code);
	__builtin_unreachable();
}

int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
	report("FAIL_MARKS");
	return (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, flags);
}
