/*
 * hdf5_child.c - see hdf5_child.h.
 *
 * Parent and child share one anonymous mapping: the outcome, then the block that the reader fills.
 * The parent looks at it only after the child has ended, so the contents cannot change while they
 * are checked.
 */
#include "stages/formats/hdf5/hdf5_child.h"
#include "stages/formats/hdf5/hdf5.h"

#include <errno.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "primitives/base/arena.h"

/* The ABI that seccomp may see; on other processors the child has no limit on system calls. */
#if defined(__x86_64__)
#define NATIVE_ABI AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ABI AUDIT_ARCH_AARCH64
#endif

/* How a child ended. */
struct outcome {
	bool ended; /* the reader returned */
	enum sl_status status;
	char message[SL_MESSAGE_BYTES];
};

/* The block of the reader follows the outcome in the mapping, aligned as an arena's base. */
static const size_t found_at = (sizeof(struct outcome) + SL_ALIGN - 1) / SL_ALIGN * SL_ALIGN;

/* --- limits, in the child --------------------------------------------------------------------- */

/*
 * Lowers a limit; one that the user has set lower stays. The hard limit is larger by 1, because at
 * the hard limit of CPU time the kernel sends SIGKILL in place of SIGXCPU, which crashed()
 * recognises.
 */
static void limit(__rlimit_resource_t resource, rlim_t most)
{
	struct rlimit now;

	if (getrlimit(resource, &now) != 0)
		return;
	now.rlim_cur = now.rlim_cur < most ? now.rlim_cur : most;
	now.rlim_max = now.rlim_max < most + 1 ? now.rlim_max : most + 1;
	setrlimit(resource, &now);
}

#ifndef SL_SANITIZED
/* Bytes of address space that the process has; 0 if the system does not say. */
static size_t address_space(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	char pages[32] = "";

	if (f) {
		if (!fgets(pages, sizeof(pages), f))
			pages[0] = '\0';
		fclose(f);
	}
	return strtoul(pages, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
}

/*
 * Lets system calls fail with EPERM from here on, except those that allocate memory, take a lock or
 * end the process. Failing is safer than killing: a C library may try a call and do without it.
 */
static void deny_system_calls(void)
{
#ifdef NATIVE_ABI
#define ALLOW(name)                                            \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
	static struct sock_filter rules[] = {
		/*
		 * numbers of system calls differ between the ABIs of a processor: 11 is munmap or
		 * execve
		 */
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ABI, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(brk),
		ALLOW(mmap),
		ALLOW(munmap),
		ALLOW(mremap),
		ALLOW(mprotect),
		ALLOW(madvise),
		ALLOW(futex),
		ALLOW(getrandom),
		ALLOW(rt_sigreturn),
		ALLOW(exit_group),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
#undef ALLOW
	const struct sock_fprog program = {sizeof(rules) / sizeof(*rules), rules};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
#endif
}
#endif

static void set_limits(void)
{
	limit(RLIMIT_CPU, SL_H5_CHILD_SECONDS);
#ifndef SL_SANITIZED
	size_t used = address_space();

	if (used > 0)
		limit(RLIMIT_AS, used + SL_H5_CHILD_MEMORY);
	deny_system_calls();
#endif
}

/* --- the child -------------------------------------------------------------------------------- */

/*
 * A crash must end the child, whatever handlers the program has installed. SIGXCPU reports a limit.
 */
void sl_h5_set_signals(void)
{
	static const int crashes[] = {
		SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGXCPU};

	for (int number = 1; number <= SIGRTMAX; number++)
		signal(number, SIG_IGN);
	for (size_t i = 0; i < sizeof(crashes) / sizeof(*crashes); i++)
		signal(crashes[i], SIG_DFL);
}

void sl_h5_close_files(int except)
{
#ifdef SYS_close_range
	if (except > 3)
		syscall(SYS_close_range, 3U, (unsigned)except - 1, 0U);
	syscall(SYS_close_range, except < 3 ? 3U : (unsigned)except + 1, UINT_MAX, 0U);
#else
	long most = sysconf(_SC_OPEN_MAX);

	for (int fd = 3; fd < most; fd++)
		if (fd != except)
			close(fd);
#endif
}

/* What a child does. */
struct call {
	sl_h5_reader *read;
	const void *file;
	size_t bytes;
	void *found;
	size_t size;
	bool limited;
	bool again; /* the first child failed */
};

/*
 * Whether SL_H5_NEEDS bytes can be allocated in blocks of the size that HDF5 needs most often. A
 * second child tests this, so that a lack of memory is not reported as a damaged file.
 */
static bool has_memory_in_blocks(void)
{
	enum { BLOCK_BYTES = 1 << 10, BLOCKS = SL_H5_NEEDS / BLOCK_BYTES };
	static void *block[BLOCKS];
	size_t n = 0;
	bool has;

	while (n < BLOCKS && (block[n] = malloc(BLOCK_BYTES)) != NULL)
		n++;
	for (has = n == BLOCKS; n > 0; n--)
		free(block[n - 1]);
	return has;
}

/* If memory is available and HDF5 still asks for more, the sizes in the file are wrong. */
static enum sl_status read_file(const struct call *c)
{
	enum sl_status s;

	if (!sl_h5_has_memory() || (c->again && !has_memory_in_blocks()))
		return sl_fail(SL_HOST_MEMORY,
			"host memory: there are no %d bytes to read an HDF5 file; close other programs",
			SL_H5_NEEDS);
	s = c->read(c->file, c->bytes, c->found, c->size);
	if (s == SL_HOST_MEMORY && c->limited && sl_h5_has_memory())
		return sl_fail(SL_BAD_INPUT,
			"HDF5 needs more than %d bytes for it, and no file of this program needs as "
			"much: the file is damaged; make it again",
			SL_H5_NEEDS);
	return s;
}

static void run_child(const struct call *c, struct outcome *o)
{
	sl_h5_set_signals();
	sl_h5_close_files(-1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	limit(RLIMIT_CORE, 0);
	if (c->limited)
		set_limits();
	o->status = read_file(c);
	snprintf(o->message, sizeof(o->message), "%s", sl_last_error());
	o->ended = true;
	_exit(0);
}

/* --- the parent ------------------------------------------------------------------------------- */

/* How a child ended: what wait4() says. */
struct ending {
	int how;
	struct rusage used;
};

/*
 * Whether the limit of CPU time ended the child, and not another process. A limit is at least a
 * second, by a clock that differs a little from that of e->used.
 */
static bool took_too_long(const struct ending *e)
{
	struct timeval used;

	timeradd(&e->used.ru_utime, &e->used.ru_stime, &used);
	return WIFSIGNALED(e->how) && WTERMSIG(e->how) == SIGXCPU &&
	       (used.tv_sec > 0 || used.tv_usec > 500000);
}

/* The status of a child that ended before its reader returned. */
static enum sl_status crashed(const struct ending *e)
{
	int signal = WIFSIGNALED(e->how) ? WTERMSIG(e->how) : 0;

	if (took_too_long(e))
		return sl_fail(SL_BAD_INPUT,
			"HDF5 read it for more than %d s: the file is damaged; make it again",
			SL_H5_CHILD_SECONDS);
	if (signal == SIGKILL)
		return sl_fail(SL_HOST_MEMORY,
			"host memory: the system stopped the process that called HDF5; close other "
			"programs");
	return sl_fail(SL_BAD_INPUT,
		"HDF5 crashed while it read the file (signal %d): the file is damaged, or was made to "
		"crash its readers; make it again",
		signal);
}

/*
 * Waits for the child, continues it whenever it was stopped, and returns its status. Its message
 * becomes that of this thread.
 */
static enum sl_status wait_for(pid_t child, struct outcome *o, struct ending *e)
{
	pid_t pid;

	/*
	 * if the caller of this program ignores SIGCHLD, there is no answer, but the child has
	 * ended
	 */
	do {
		pid = wait4(child, &e->how, WUNTRACED, &e->used);
		if (pid == child && WIFSTOPPED(e->how))
			kill(child, SIGCONT);
	} while (pid < 0 ? errno == EINTR : WIFSTOPPED(e->how));
	if (!o->ended)
		return crashed(e);
	o->message[sizeof(o->message) - 1] = '\0';
	if (o->status == SL_OK)
		return SL_OK;
	return o->status == SL_BAD_INPUT || o->status == SL_HOST_MEMORY || o->status == SL_INTERNAL
	               ? sl_fail(o->status, "%s", o->message)
	               : crashed(e);
}

/* Reads in one child; *e is all 0 without one. */
static enum sl_status read_in_child(const struct call *c, struct outcome *o, struct ending *e)
{
	pid_t child;

	*e = (struct ending){.how = 0};
	child = fork();
	if (child == 0)
		run_child(c, o);
	if (child < 0)
		return sl_fail(SL_HOST_MEMORY,
			"no process can be started to call HDF5: %s; close other programs",
			strerror(errno));
	return wait_for(child, o, e);
}

/*
 * After a failure the file is read in a second child, unless the first one reached the limit of
 * time: when one allocation fails, HDF5 crashes or reports any kind of damage, and its later
 * answers are wrong too.
 */
static enum sl_status in_child(struct call *c, void **found)
{
	size_t all = sl_size_add(found_at, c->size);
	struct outcome *o = (struct outcome *)mmap(NULL, all, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct ending e;
	enum sl_status s;

	if (o == MAP_FAILED)
		return sl_fail(SL_HOST_MEMORY,
			"host memory: %zu bytes requested to read an HDF5 file: %s; close other programs",
			all, strerror(errno));
	c->found = *found = (char *)o + found_at;
	s = read_in_child(c, o, &e);
	if (s != SL_OK && !took_too_long(&e)) {
		memset(o, 0, all);
		c->again = true;
		s = read_in_child(c, o, &e);
	}
	if (s != SL_OK)
		sl_h5_child_free(*found, c->size);
	return s;
}

enum sl_status sl_h5_in_child(
	sl_h5_reader *read, const void *file, size_t bytes, size_t size, void **found)
{
	struct call c = {read, file, bytes, NULL, size, true, false};

	return in_child(&c, found);
}

enum sl_status sl_h5_in_free_child(
	sl_h5_reader *read, const void *file, size_t bytes, size_t size, void **found)
{
	struct call c = {read, file, bytes, NULL, size, false, false};

	return in_child(&c, found);
}

void sl_h5_child_free(void *found, size_t size)
{
	munmap((char *)found - found_at, found_at + size);
}
