/*
 * hdf5_writer.c - see hdf5.h.
 *
 *	caller                  writer, a child of the caller
 *	                 <---   a byte: ready
 *	request, facts   --->
 *	                 <---   answer, image unless HDF5 failed
 *
 * The caller is the process that runs batches. It shares a pair of sockets with each writer. A
 * thread takes a writer that waits for a request, sends one request and receives one answer. A
 * writer that died, failed or answered with a wrong length gets no second request: the caller
 * closes its socket, kills it and lets another writer make the file. So an answer always belongs to
 * the request before it, and no byte of one writer can be taken for one of another.
 *
 * A writer that ended is not replaced while others are left, because a fork of a process with
 * threads and much memory is expensive: it needs page tables, and then a copy of each page that the
 * caller changes. When all have ended, the caller forks one.
 *
 * The end of a writer closes its socket, so the caller's call on the other end returns. A writer
 * that was stopped (SIGSTOP) keeps its socket: the caller looks after it each second and continues
 * it. A writer ignores all signals but those of crashes: signals to the process group (Ctrl-C,
 * Ctrl-Z) are for the caller.
 */
#include "stages/formats/hdf5/hdf5.h"
#include "stages/formats/hdf5/hdf5_child.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "primitives/base/arena.h"
#include "primitives/base/jobs.h"

/* Precedes the facts. Both processes have the same program at the same addresses. */
struct file_request {
	sl_h5_maker *make;
	size_t facts_bytes, image_bytes;
	const uint8_t *data;
	size_t data_bytes;
};

/* Precedes the image: the file without its data. */
struct answer {
	struct sl_h5 h;
	size_t bytes; /* of the whole file; 0 after a failure */
};

/* A writer, as its callers see it. */
struct writer {
	pid_t pid;  /* 0: not started */
	int socket; /* valid if it is started */
	bool busy;
};

static struct writer writers[SL_H5_WRITERS_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;  /* of all */
static pthread_cond_t is_free = PTHREAD_COND_INITIALIZER; /* a writer is no longer busy */

/* --- the socket ------------------------------------------------------------------------------- */

/*
 * Whether to repeat a call on a socket that failed with errno. The calls of the caller fail after a
 * second without progress: then it continues the writer if that was stopped. writer is 0 in the
 * writer.
 */
static bool is_to_be_repeated(pid_t writer)
{
	siginfo_t is = {.si_pid = 0}; /* stays 0 if the writer is running */

	if (errno != EAGAIN)
		return errno == EINTR;
	if (waitid(P_PID, (id_t)writer, &is, WSTOPPED | WEXITED | WNOHANG | WNOWAIT) != 0)
		return false;
	if (is.si_pid != 0 && is.si_code == CLD_STOPPED)
		kill(writer, SIGCONT);
	return is.si_pid == 0 || is.si_code == CLD_STOPPED;
}

/* Sends from, or receives to if that is not NULL. False if the other process has ended. */
static bool move_all(const struct writer *w, const void *from, void *to, size_t bytes)
{
	size_t done = 0;

	while (done < bytes) {
		ssize_t n =
			to ? recv(w->socket, (char *)to + done, bytes - done, 0)
			   : send(w->socket, (const char *)from + done, bytes - done, MSG_NOSIGNAL);

		if (n == 0 || (n < 0 && !is_to_be_repeated(w->pid)))
			return false;
		done += n > 0 ? (size_t)n : 0;
	}
	return true;
}

static bool send_all(const struct writer *to, const void *from, size_t bytes)
{
	return move_all(to, from, NULL, bytes);
}

static bool receive_all(const struct writer *from, void *to, size_t bytes)
{
	return move_all(from, NULL, to, bytes);
}

/* --- the writer ------------------------------------------------------------------------------- */

/*
 * Makes the file of a request and returns the block of its image, to be freed. Without memory the
 * process ends, as it does when HDF5 crashes for that reason.
 */
static void *make_answer(
	const struct writer *caller, const struct file_request *r, struct answer *a)
{
	char *block = (char *)malloc(sl_size_add(r->image_bytes, r->facts_bytes) + SL_ALIGN);
	char *facts = block;

	/* the image comes second, so that the facts are aligned */
	if (!block || !sl_h5_has_memory() || !receive_all(caller, facts, r->facts_bytes))
		_exit(1);
	sl_h5_begin(&a->h, block + r->facts_bytes, r->image_bytes);
	a->h.data = r->data;
	a->h.data_bytes = r->data_bytes;
	a->bytes = r->make(&a->h, facts);
	return block;
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

static void serve(int socket)
{
	static const struct rlimit no_core = {0, 0};
	const struct writer caller = {.socket = socket};
	struct file_request r;
	bool sent;

	(void)sl_plain_locale(); /* this is a fork of a thread of the caller */
	sl_h5_set_signals();
	release_standard_files();
	sl_h5_close_files(socket);
	setrlimit(RLIMIT_CORE, &no_core);
	prctl(PR_SET_NAME, "sluice-hdf5");
	prctl(PR_SET_PDEATHSIG, SIGCONT); /* a stopped writer ends with the caller too */
	sent = send_all(&caller, "", 1);
	while (sent && receive_all(&caller, &r, sizeof(r))) {
		struct answer a = {.bytes = 0};
		void *block = make_answer(&caller, &r, &a);

		sent = send_all(&caller, &a, sizeof(a)) &&
		       (a.h.failed || send_all(&caller, a.h.image, a.bytes - r.data_bytes));
		free(block);
	}
	_exit(0);
}

/* --- the caller ------------------------------------------------------------------------------- */

/*
 * A fork of a process that has started writers shares their sockets: requests of both would mix. So
 * the fork drops them and starts new writers. The caller holds the lock.
 */
static void drop_writers_of_parent(void)
{
	static pid_t owner;

	if (owner != getpid()) {
		for (uint32_t k = 0; k < SL_H5_WRITERS_MAX; k++) {
			if (writers[k].pid)
				close(writers[k].socket);
			writers[k] = (struct writer){.pid = 0};
		}
		owner = getpid();
	}
}

/*
 * Starts a writer unless it is started, and waits until it is ready: one that was stopped before
 * would keep the caller's files open for ever. One that has died before fails in its first
 * exchange. The caller holds the lock, so forks take turns.
 */
static enum sl_status start(struct writer *w)
{
	static const struct timeval second = {.tv_sec = 1};
	int ends[2], error;
	pid_t child;
	char ready;

	if (w->pid)
		return SL_OK;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return sl_fail(errno == EMFILE ? SL_DISK : SL_HOST_MEMORY,
			"the process that writes HDF5 files cannot be started: %s; %s",
			strerror(errno),
			errno == EMFILE ? "raise ulimit -n" : "close other programs");
	child = fork();
	if (child == 0)
		serve(ends[1]);
	error = errno;
	close(ends[1]);
	setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &second, sizeof(second));
	setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &second, sizeof(second));
	if (child > 0) {
		*w = (struct writer){.pid = child, .socket = ends[0]};
		receive_all(w, &ready, 1);
		return SL_OK;
	}
	close(ends[0]);
	return sl_fail(SL_HOST_MEMORY,
		"the process that writes HDF5 files cannot be started: %s; close other programs, or "
		"raise the limit of processes (ulimit -u)",
		strerror(error));
}

/* Ends a writer, which may have ended. Its id is that of another process after it was reaped. */
static void end(struct writer *w)
{
	close(w->socket);
	if (waitpid(w->pid, NULL, WNOHANG) == 0) {
		kill(w->pid, SIGKILL);
		waitpid(w->pid, NULL, 0);
	}
	*w = (struct writer){.pid = 0};
}

/* Ends the writers that have died while they waited. The caller holds the lock. */
static void end_dead_writers(void)
{
	char byte;

	/* the socket of a writer that waits for a request is open, and nothing can be received */
	for (uint32_t k = 0; k < SL_H5_WRITERS_MAX; k++)
		if (writers[k].pid && !writers[k].busy &&
			(recv(writers[k].socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 ||
				errno != EAGAIN))
			end(&writers[k]);
}

/* At least two, so that one is left if the other one dies. */
enum sl_status sl_h5_writers_start(uint32_t n)
{
	enum sl_status s;

	pthread_mutex_lock(&lock);
	drop_writers_of_parent();
	end_dead_writers();
	s = start(&writers[0]);
	for (uint32_t k = 1; s == SL_OK && (k < n || k < 2) && k < SL_H5_WRITERS_MAX; k++)
		if (start(&writers[k]) != SL_OK)
			break;
	pthread_mutex_unlock(&lock);
	return s;
}

/*
 * Waits for a writer that is not busy. If there is none at all, starts one: then *is_new is true.
 */
static enum sl_status take(struct writer **taken, bool *is_new)
{
	struct writer *w = NULL;
	enum sl_status s = SL_OK;

	*is_new = false;
	pthread_mutex_lock(&lock);
	drop_writers_of_parent();
	while (!w) {
		bool none = true;

		end_dead_writers();
		for (uint32_t k = 0; k < SL_H5_WRITERS_MAX; k++) {
			none &= !writers[k].pid;
			if (writers[k].pid && !writers[k].busy)
				w = &writers[k];
		}
		if (none) {
			w = &writers[0];
			s = start(w);
			*is_new = true;
		} else if (!w) {
			pthread_cond_wait(&is_free, &lock);
		}
	}
	w->busy = s == SL_OK;
	pthread_mutex_unlock(&lock);
	*taken = w;
	return s;
}

/* Ends the writer unless it is good. */
static void release(struct writer *w, bool good)
{
	pthread_mutex_lock(&lock);
	if (!good)
		end(w);
	w->busy = false;
	pthread_cond_signal(&is_free);
	pthread_mutex_unlock(&lock);
}

/*
 * Sends the request and receives the answer; false if the writer has died, or made an impossible
 * answer.
 */
static bool exchange(const struct writer *w, const struct file_request *r,
	const struct sl_h5_part *part, size_t n, uint8_t *image, struct answer *a)
{
	if (!send_all(w, r, sizeof(*r)))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!send_all(w, part[i].at, part[i].bytes))
			return false;
	if (!receive_all(w, a, sizeof(*a)))
		return false;
	a->h.why[sizeof(a->h.why) - 1] = '\0';
	if (a->h.failed)
		return true;
	if (a->bytes < r->data_bytes || a->bytes - r->data_bytes > r->image_bytes ||
		a->h.head > a->bytes - r->data_bytes)
		return false;
	return receive_all(w, image, a->bytes - r->data_bytes);
}

/* The status of a file that was made, or not, in all attempts. */
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
		"the process that makes the HDF5 file crashed or was killed twice, as happens without "
		"memory; nothing was written; free some memory");
}

enum sl_status sl_h5_writer_make(
	sl_h5_maker *make, const struct sl_h5_part *part, size_t n, struct sl_h5 *h, size_t *bytes)
{
	struct file_request r = {make, 0, h->size, h->data, h->data_bytes};
	struct answer a = {.bytes = 0};
	bool answered, made, is_new;
	int attempts = 0;

	for (size_t i = 0; i < n; i++)
		r.facts_bytes = sl_size_add(r.facts_bytes, part[i].bytes);
	/*
	 * All writers that waited may have been killed together, which says nothing of the request.
	 */
	do {
		struct writer *w;

		SL_TRY(take(&w, &is_new));
		answered = exchange(w, &r, part, n, h->image, &a);
		made = answered && !a.h.failed;
		release(w, made);
		attempts++;
	} while (!made && (attempts < 2 || (!answered && !is_new)));
	if (!answered)
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
	*bytes = a->bytes;
	if (*bytes <= h->size)
		memcpy(h->image, a + 1, *bytes);
	sl_h5_child_free(found, size);
	return *bytes <= h->size ? SL_OK : crashed();
}
