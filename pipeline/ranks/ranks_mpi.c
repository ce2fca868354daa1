/*
 * ranks_mpi.c - the functions of ranks.h with MPI.
 *
 * Only the main thread calls MPI (MPI_THREAD_FUNNELED). No call waits in MPI, because most
 * implementations would use a core for that: collective operations are started and then tested at
 * intervals. Errors are returned instead of ending the program, and a rank that ended in the
 * meantime may cause none, so the run looks for messages that do not arrive
 * (pipeline/run/run.h).
 */
#include "pipeline/ranks/ranks.h"

#include <mpi.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "primitives/files/files.h"

enum { TAG = 1, INTERVAL_NS = 1000000 };

/* A message that MPI may still read. */
struct pending {
	struct pending *next;
	MPI_Request request;
	struct sl_rank_message message;
};

static struct {
	bool open;
	MPI_Comm comm;
	struct pending *pending;
	struct sl_ranks ranks;
} mpi;

static enum sl_status failed(int error, const char *what)
{
	char text[MPI_MAX_ERROR_STRING] = "";
	int bytes;

	if (error == MPI_SUCCESS)
		return SL_OK;
	MPI_Error_string(error, text, &bytes);
	return sl_fail(SL_PEER_LOST,
		"MPI could not %s: %s (another process may have ended); committed batches are kept: "
		"use --resume",
		what, text);
}

static int header_bytes(void)
{
	return (int)offsetof(struct sl_rank_message, payload);
}

/* Open MPI continues with the name of the package, MPICH with lines on its build. */
const char *sl_ranks_library(void)
{
	static char text[MPI_MAX_LIBRARY_VERSION_STRING];
	int bytes;

	if (MPI_Get_library_version(text, &bytes) != MPI_SUCCESS)
		return "unknown";
	text[strcspn(text, ",\n")] = '\0';
	return text;
}

/* --- the share of a machine ------------------------------------------------------------------- */

/* What a rank may use of its machine. */
struct view {
	cpu_set_t cores;
	uint32_t devices;     /* CRC-32 of CUDA_VISIBLE_DEVICES; 0: all devices, or not known */
	uint32_t own_devices; /* Slurm has given each task other devices, all numbered from 0 */
};

static struct view find_view(void)
{
	const char *devices = getenv("CUDA_VISIBLE_DEVICES");
	struct view v;

	memset(&v, 0, sizeof(v)); /* with the padding, because it is sent */
	(void)sched_getaffinity(0, sizeof(v.cores), &v.cores);
	v.devices = devices ? sl_crc32(devices, strlen(devices)) : 0;
	v.own_devices = getenv("SLURM_GPUS_PER_TASK") != NULL;
	return v;
}

/*
 * Counts the ranks of this machine with the cores, and with the devices, of rank `number` of them.
 */
static struct sl_share count_sharing(const struct view *all, int n, int number)
{
	const struct view *mine = &all[number];
	struct sl_share share = {.of = (uint32_t)n};

	for (int i = 0; i < n; i++) {
		bool same = i == number || (!mine->own_devices && !all[i].own_devices &&
						   all[i].devices == mine->devices);
		cpu_set_t both;

		CPU_AND(&both, &all[i].cores, &mine->cores);
		share.cores_of += CPU_COUNT(&both) > 0;
		share.devices_of += same;
		share.device_number += same && i < number;
	}
	return share;
}

/*
 * Finds the ranks on the same machine, and which of them have the same cores and devices: a
 * launcher may bind each rank to other ones, or bind none.
 */
static enum sl_status find_share(struct sl_share *share)
{
	struct view mine = find_view(), *all;
	MPI_Comm machine;
	int number = 0, of = 1;
	enum sl_status s;

	SL_TRY(failed(
		MPI_Comm_split_type(mpi.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine),
		"find the processes of this machine"));
	MPI_Comm_rank(machine, &number);
	MPI_Comm_size(machine, &of);
	all = (struct view *)calloc((size_t)of, sizeof(*all));
	if (!all)
		return sl_fail(SL_HOST_MEMORY, "no memory for the cores of %d processes", of);
	s = failed(
		MPI_Allgather(&mine, sizeof(mine), MPI_BYTE, all, sizeof(mine), MPI_BYTE, machine),
		"exchange the cores of the processes");
	if (s == SL_OK)
		*share = count_sharing(all, of, number);
	free(all);
	MPI_Comm_free(&machine);
	return s;
}

/* --- messages --------------------------------------------------------------------------------- */

/* Frees the messages that MPI has sent. */
static void free_sent(void)
{
	for (struct pending **at = &mpi.pending; *at;) {
		struct pending *p = *at;
		int sent = 0;

		if (MPI_Test(&p->request, &sent, MPI_STATUS_IGNORE) != MPI_SUCCESS || sent) {
			*at = p->next;
			free(p);
		} else {
			at = &p->next;
		}
	}
}

static enum sl_status send(uint32_t to, const struct sl_rank_message *m)
{
	struct pending *p;

	free_sent();
	p = (struct pending *)malloc(sizeof(*p));
	if (!p)
		return sl_fail(SL_HOST_MEMORY, "no memory for a message to rank %u", to);
	memcpy(&p->message, m, (size_t)header_bytes() + m->bytes);
	if (MPI_Isend(&p->message, header_bytes() + (int)m->bytes, MPI_BYTE, (int)to, TAG, mpi.comm,
		    &p->request) != MPI_SUCCESS) {
		free(p);
		return sl_fail(SL_PEER_LOST,
			"MPI could not send a message to rank %u (it may have ended); committed batches "
			"are kept: use --resume",
			to);
	}
	p->next = mpi.pending;
	mpi.pending = p;
	return SL_OK;
}

static bool receive(uint32_t *from, struct sl_rank_message *m)
{
	MPI_Status status;
	int found = 0, bytes = 0;

	if (MPI_Iprobe(MPI_ANY_SOURCE, TAG, mpi.comm, &found, &status) != MPI_SUCCESS || !found)
		return false;
	if (MPI_Recv(m, sizeof(*m), MPI_BYTE, status.MPI_SOURCE, TAG, mpi.comm, &status) !=
		MPI_SUCCESS)
		return false;
	MPI_Get_count(&status, MPI_BYTE, &bytes);
	*from = (uint32_t)status.MPI_SOURCE;
	return bytes >= header_bytes() && m->bytes == (uint32_t)(bytes - header_bytes());
}

/* --- collective operations -------------------------------------------------------------------- */

/*
 * Waits for an operation that was started with the given result. After a failure the other ranks
 * may still wait for this one.
 */
static enum sl_status wait_for(int error, MPI_Request *request, const char *what)
{
	const struct timespec interval = {.tv_nsec = INTERVAL_NS};
	int done = 0;

	while (error == MPI_SUCCESS && !done) {
		error = MPI_Test(request, &done, MPI_STATUS_IGNORE);
		if (error == MPI_SUCCESS && !done)
			nanosleep(&interval, NULL);
	}
	mpi.ranks.lost |= error != MPI_SUCCESS;
	return failed(error, what);
}

static enum sl_status gather(const void *mine, size_t bytes, void *all)
{
	MPI_Request request;
	int error = MPI_Iallgather(
		mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, mpi.comm, &request);

	return wait_for(error, &request, "gather the states of all processes");
}

static enum sl_status broadcast(void *bytes, size_t n)
{
	MPI_Request request;
	int error = MPI_Ibcast(bytes, (int)n, MPI_BYTE, 0, mpi.comm, &request);

	return wait_for(error, &request, "send the state of rank 0 to all processes");
}

/* --- the interface ---------------------------------------------------------------------------- */

/* Sets mpi.comm and mpi.ranks. */
static enum sl_status find_ranks(void)
{
	int rank, n;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	SL_TRY(failed(MPI_Comm_dup(MPI_COMM_WORLD, &mpi.comm), "make a communicator"));
	MPI_Comm_set_errhandler(mpi.comm, MPI_ERRORS_RETURN);
	MPI_Comm_rank(mpi.comm, &rank);
	MPI_Comm_size(mpi.comm, &n);
	mpi.ranks = (struct sl_ranks){.rank = (uint32_t)rank,
		.n = (uint32_t)n,
		.send = send,
		.receive = receive,
		.gather = gather,
		.broadcast = broadcast};
	return find_share(&mpi.ranks.share);
}

enum sl_status sl_ranks_open(bool has_part, struct sl_ranks **ranks)
{
	int provided;
	enum sl_status s;

	(void)has_part;
	*ranks = NULL;
	if (sl_ranks_launched() == 0)
		return SL_OK;
	if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
		return sl_fail(SL_USAGE,
			"MPI could not be started (the launcher and the MPI library of this program "
			"must be of the same kind); use the mpirun of that library");
	mpi.open = true;
	if (provided < MPI_THREAD_FUNNELED)
		return sl_fail(SL_USAGE,
			"this MPI does not support programs with threads (MPI_THREAD_FUNNELED); use "
			"another MPI library");
	s = find_ranks();
	mpi.ranks.lost = s != SL_OK;
	*ranks = s == SL_OK && mpi.ranks.n > 1 ? &mpi.ranks : NULL;
	return s;
}

void sl_ranks_close(int exit_code)
{
	if (!mpi.open)
		return;
	if (mpi.ranks.lost)
		MPI_Abort(MPI_COMM_WORLD, exit_code);
	free_sent();
	MPI_Finalize();
}
