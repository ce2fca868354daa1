/*
 * hdf5_writer.c - see hdf5_writer.h.
 *
 * A writer process consists of two, which serve the caller over one socket. The worker receives
 * requests and makes files. Its parent, the guard, never calls HDF5: it forks a worker when there is a
 * request, and waits for it. If the worker crashed, the guard answers in its place, and the next
 * request gets a new worker. Both end when the caller has ended, which closes the socket.
 */
#include "stages/formats/hdf5/hdf5_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "primitives/base/arena.h"
#include "primitives/base/threads.h"
#include "stages/formats/hdf5/hdf5_child.h"

/*
 * The exit codes of a worker: the caller has ended; HDF5 failed, and a new worker is wanted. HDF5 and
 * sanitizers end a process with other codes, which count as crashes.
 */
enum { WORKER_DONE = 0, WORKER_FAILED = 86 };

/* Precedes the facts. Both processes have the same program at the same addresses. */
struct file_request {
	sl_h5_maker *make;
	size_t facts_bytes, image_bytes;
	const uint8_t *data;
	size_t data_bytes;
};

/* Precedes the image: the file without its data. */
struct answer {
	bool crashed;
	struct sl_h5 h;
	size_t bytes; /* of the whole file; 0 after a failure */
};

/* A writer process, as its callers see it. */
struct writer {
	int socket; /* valid if it is started */
	bool started, busy;
};

static struct writer writers[SL_H5_WRITERS_MAX];
static uint32_t n_writers = 1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;  /* of both */
static pthread_cond_t is_free = PTHREAD_COND_INITIALIZER; /* a writer is no longer busy */

/* --- the socket ------------------------------------------------------------------------------- */

static bool send_all(int to, const void *from, size_t bytes)
{
	const char *at = (const char *)from;

	while (bytes > 0) {
		ssize_t n = send(to, at, bytes, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR)
			return false;
		at += n > 0 ? n : 0;
		bytes -= n > 0 ? (size_t)n : 0;
	}
	return true;
}

/* False at the end of the connection too. */
static bool receive_all(int from, void *to, size_t bytes)
{
	char *at = (char *)to;

	while (bytes > 0) {
		ssize_t n = recv(from, at, bytes, 0);

		if (n == 0 || (n < 0 && errno != EINTR))
			return false;
		at += n > 0 ? n : 0;
		bytes -= n > 0 ? (size_t)n : 0;
	}
	return true;
}

/* --- the worker ------------------------------------------------------------------------------- */

/* Receives and drops the facts of a request for which there is no memory. */
static void drop(int socket, size_t bytes)
{
	char some[4096];

	while (bytes > 0) {
		size_t n = bytes < sizeof(some) ? bytes : sizeof(some);

		if (!receive_all(socket, some, n))
			_exit(WORKER_DONE);
		bytes -= n;
	}
}

/* Makes the file of a request. Returns the block of the image, to be freed, which is NULL without memory. */
static void *make_answer(int socket, const struct file_request *r, struct answer *a)
{
	char *block = (char *)malloc(sl_size_add(r->image_bytes, r->facts_bytes) + SL_ALIGN);
	char *facts = block;

	if (!block || !sl_h5_has_memory()) {
		drop(socket, r->facts_bytes);
		a->h.failed = a->h.no_memory = true;
		snprintf(a->h.why, sizeof(a->h.why), "no %d bytes are free", SL_H5_NEEDS);
		return block;
	}
	/* the image comes second, so that the facts are aligned */
	if (!receive_all(socket, facts, r->facts_bytes))
		_exit(WORKER_DONE);
	sl_h5_begin(&a->h, block + r->facts_bytes, r->image_bytes);
	a->h.data = r->data;
	a->h.data_bytes = r->data_bytes;
	a->bytes = r->make(&a->h, facts);
	return block;
}

static void serve(int socket)
{
	struct file_request r;

	while (receive_all(socket, &r, sizeof(r))) {
		struct answer a = {.crashed = false};
		void *block = make_answer(socket, &r, &a);

		if (!send_all(socket, &a, sizeof(a)))
			break;
		if (a.h.failed)
			_exit(WORKER_FAILED);
		if (!send_all(socket, a.h.image, a.bytes - r.data_bytes))
			break;
		free(block);
	}
	_exit(WORKER_DONE);
}

/* --- the guard -------------------------------------------------------------------------------- */

/* Signals to the process group, such as Ctrl-C, are for the caller; crashes end the process. */
static void set_signals(void)
{
	static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE};
	static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	for (size_t i = 0; i < sizeof(crashes) / sizeof(*crashes); i++)
		signal(crashes[i], SIG_DFL);
	signal(SIGCHLD, SIG_DFL);
}

/* The caller may be read from or written to through a pipe, which must end with the caller. */
static void release_standard_files(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd < 3; fd++)
		if (null < 0 || dup2(null, fd) < 0)
			close(fd);
	if (null > 2)
		close(null);
}

/* Files and sockets of the caller that were open at the fork would stay open with this process. */
static void close_others(int socket)
{
#ifdef SYS_close_range
	if (socket > 3)
		syscall(SYS_close_range, 3U, (unsigned)socket - 1, 0U);
	syscall(SYS_close_range, (unsigned)socket + 1, UINT_MAX, 0U);
#else
	long most = sysconf(_SC_OPEN_MAX);

	for (int fd = 3; fd < most; fd++)
		if (fd != socket)
			close(fd);
#endif
}

/* Waits for a request and leaves it in the socket; false at the end of the connection. */
static bool wait_for_request(int socket)
{
	ssize_t n;
	char first;

	do
		n = recv(socket, &first, 1, MSG_PEEK);
	while (n < 0 && errno == EINTR);
	return n > 0;
}

/*
 * A worker that was killed (by the system, for lack of memory) may have left a part of a request or an
 * answer in the socket, so that is the end. A crash is always between the two.
 */
static void guard(int socket)
{
	static const struct answer crash = {.crashed = true};
	static const struct rlimit no_core = {0, 0};
	int how = 0;

	(void)sl_plain_locale(); /* this is a fork of a thread of the caller */
	set_signals();
	release_standard_files();
	close_others(socket);
	setrlimit(RLIMIT_CORE, &no_core);
	prctl(PR_SET_NAME, "sluice-hdf5");
	while (wait_for_request(socket)) {
		pid_t worker = fork();

		if (worker == 0)
			serve(socket);
		if (worker < 0)
			break;
		while (waitpid(worker, &how, 0) < 0 && errno == EINTR)
			;
		if (WIFEXITED(how) && WEXITSTATUS(how) == WORKER_DONE)
			break;
		if (WIFEXITED(how) && WEXITSTATUS(how) == WORKER_FAILED)
			continue;
		if ((WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL) ||
			!send_all(socket, &crash, sizeof(crash)))
			break;
	}
	_exit(0);
}

/* --- the caller ------------------------------------------------------------------------------- */

/*
 * A fork of a process that has started writers shares their sockets: requests of both would mix. So the
 * fork drops them and starts new writers. The caller holds the lock.
 */
static void drop_writers_of_parent(void)
{
	static pid_t owner;

	if (owner != getpid()) {
		for (uint32_t k = 0; k < SL_H5_WRITERS_MAX; k++) {
			if (writers[k].started)
				close(writers[k].socket);
			writers[k].started = writers[k].busy = false;
		}
		owner = getpid();
	}
}

/* Starts a writer process unless it is started. The caller holds the lock, so forks take turns. */
static enum sl_status start(struct writer *w)
{
	int ends[2];
	pid_t child;

	if (w->started)
		return SL_OK;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return sl_fail(errno == EMFILE ? SL_DISK : SL_HOST_MEMORY,
			"the process that writes HDF5 files cannot be started: %s; %s",
			strerror(errno),
			errno == EMFILE ? "raise ulimit -n" : "close other programs");
	child = fork();
	if (child == 0) {
		guard(ends[1]);
	}
	close(ends[1]);
	w->started = child > 0;
	w->socket = ends[0];
	if (w->started)
		return SL_OK;
	close(ends[0]);
	return sl_fail(SL_HOST_MEMORY,
		"the process that writes HDF5 files cannot be started: %s; close other programs, or "
		"raise the limit of processes (ulimit -u)",
		strerror(errno));
}

enum sl_status sl_h5_writers_start(uint32_t n)
{
	enum sl_status s;

	pthread_mutex_lock(&lock);
	drop_writers_of_parent();
	s = start(&writers[0]);
	for (uint32_t k = 1; s == SL_OK && k < n && k < SL_H5_WRITERS_MAX; k++)
		if (start(&writers[k]) == SL_OK)
			n_writers = k + 1;
	pthread_mutex_unlock(&lock);
	return s;
}

/* Waits for a writer that is not busy and starts it if that is necessary. */
static enum sl_status take(struct writer **taken)
{
	struct writer *w = NULL;
	enum sl_status s;

	pthread_mutex_lock(&lock);
	drop_writers_of_parent();
	while (!w) {
		for (uint32_t k = 0; !w && k < n_writers; k++)
			w = writers[k].busy ? NULL : &writers[k];
		if (!w)
			pthread_cond_wait(&is_free, &lock);
	}
	s = start(w);
	w->busy = s == SL_OK;
	pthread_mutex_unlock(&lock);
	*taken = w;
	return s;
}

static void release(struct writer *w)
{
	pthread_mutex_lock(&lock);
	w->busy = false;
	pthread_cond_signal(&is_free);
	pthread_mutex_unlock(&lock);
}

/* Sends the request and receives the answer; false if the writer process has ended. */
static bool exchange(int socket, const struct file_request *r, const struct sl_h5_part *part,
	size_t n, uint8_t *image, struct answer *a)
{
	if (!send_all(socket, r, sizeof(*r)))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!send_all(socket, part[i].at, part[i].bytes))
			return false;
	if (!receive_all(socket, a, sizeof(*a)))
		return false;
	return a->crashed || a->h.failed || receive_all(socket, image, a->bytes - r->data_bytes);
}

/* The status of a file that was made, or not, in two attempts. */
static enum sl_status result(const struct sl_h5 *h)
{
	if (!h->failed)
		return SL_OK;
	if (h->full)
		return sl_fail(SL_INTERNAL,
			"internal error: an HDF5 file needs more than the %zu bytes that were counted "
			"for it; please report it",
			h->size);
	return sl_fail(h->no_memory ? SL_HOST_MEMORY : SL_INTERNAL,
		"HDF5 cannot make the file (%s); nothing was written; %s", h->why,
		h->no_memory ? "free some memory or take smaller batches" : "please report it");
}

static enum sl_status crashed(void)
{
	return sl_fail(SL_HOST_MEMORY,
		"HDF5 crashed twice while it made the file, as it does without memory; nothing was "
		"written; free some memory");
}

enum sl_status sl_h5_writer_make(
	sl_h5_maker *make, const struct sl_h5_part *part, size_t n, struct sl_h5 *h, size_t *bytes)
{
	struct file_request r = {make, 0, h->size, h->data, h->data_bytes};
	struct answer a = {.crashed = true};
	struct writer *w;
	bool connected = true;

	for (size_t i = 0; i < n; i++)
		r.facts_bytes = sl_size_add(r.facts_bytes, part[i].bytes);
	SL_TRY(take(&w));
	for (int attempt = 0; connected && attempt < 2; attempt++) {
		connected = exchange(w->socket, &r, part, n, h->image, &a);
		if (connected && !a.crashed && !a.h.failed)
			break;
	}
	release(w);
	if (!connected)
		return sl_fail(SL_HOST_MEMORY,
			"the process that writes HDF5 files was ended by the system, as it does "
			"without memory; nothing was written; free some memory");
	if (a.crashed)
		return crashed();
	a.h.image = h->image;
	a.h.size = h->size;
	*h = a.h;
	*bytes = a.bytes;
	return result(h);
}

/* --- in a fork of the caller ------------------------------------------------------------------ */

/* What the fork gets and what it leaves before the image. */
struct job {
	sl_h5_maker *make;
	const void *facts;
	size_t image_bytes;
};

static enum sl_status make_in_fork(const void *file, size_t bytes, void *found, size_t size)
{
	const struct job *job = (const struct job *)file;
	struct answer *a = (struct answer *)found;

	(void)bytes, (void)size;
	sl_h5_begin(&a->h, (uint8_t *)(a + 1), job->image_bytes);
	a->bytes = job->make(&a->h, job->facts);
	return result(&a->h);
}

enum sl_status sl_h5_fork_make(sl_h5_maker *make, const void *facts, struct sl_h5 *h, size_t *bytes)
{
	const struct job job = {make, facts, h->size};
	size_t size = sl_size_add(sizeof(struct answer), h->size);
	const struct answer *a;
	void *found;
	enum sl_status s = sl_h5_in_free_child(make_in_fork, &job, sizeof(job), size, &found);

	if (s == SL_BAD_INPUT)
		return crashed();
	SL_TRY(s);
	a = (const struct answer *)found;
	memcpy(h->image, a + 1, a->bytes);
	*bytes = a->bytes;
	sl_h5_child_free(found, size);
	return SL_OK;
}
