/* call.c - see primitives.h. */
#include "python/src/primitives/primitives.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* --- scratch of the host ---------------------------------------------------------------------- */

/*
 * The first use of new memory costs as much as a pass over it, because the kernel clears it. A
 * block of at most this size is kept for the next call.
 */
enum { KEPT_BYTES = 256 << 20 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *kept;
static size_t kept_bytes;

void sl_py_call_reset(void)
{
	pthread_mutex_init(&lock, NULL);
}

/* Takes the block that is kept if it is large enough, else a new one. */
static enum sl_status get_scratch(size_t bytes, struct sl_arena *a)
{
	void *block = NULL;

	pthread_mutex_lock(&lock);
	if (kept_bytes >= bytes) {
		block = kept;
		a->size = kept_bytes;
		kept = NULL;
		kept_bytes = 0;
	}
	pthread_mutex_unlock(&lock);
	if (!block) {
		SL_TRY(sl_memory_get(SL_HOST, bytes, &block));
		a->size = bytes;
	}
	a->base = block;
	a->used = 0;
	return SL_OK;
}

/* Keeps the larger one of two blocks. */
static void give_scratch(const struct sl_arena *a)
{
	void *unused = a->base;

	pthread_mutex_lock(&lock);
	if (a->size > kept_bytes && a->size <= (size_t)KEPT_BYTES) {
		unused = kept;
		kept = a->base;
		kept_bytes = a->size;
	}
	pthread_mutex_unlock(&lock);
	sl_memory_give(SL_HOST, unused);
}

/* --- backends --------------------------------------------------------------------------------- */

/* The fastest backends of the host and of a device, as a run chooses them. */
static const char *default_backend(enum sl_primitive p, bool device)
{
	if (p == SL_DEFLATE)
		return device ? "device" : "libdeflate";
	return device ? "shared" : "cpu";
}

static enum sl_status find(const struct sl_py_call *c, const struct sl_backend **b)
{
	const char *name = c->backend;
	bool device = sl_py_call_needs_device(c);

	name = name ? name : default_backend(c->primitive, device);
	if (sl_find(c->primitive, name, b) != SL_OK)
		return device ? SL_USAGE
		              : sl_fail(SL_USAGE,
					"backend: the host has no %s backend '%s'; sluice list names all "
					"backends, and those of devices need device='emulated' or 'cuda'",
					sl_primitive_name(c->primitive), name);
	if (device == ((*b)->space == SL_DEVICE))
		return SL_OK;
	return device ? sl_fail(SL_USAGE, "backend: %s works on the host; leave device out", name)
	              : sl_fail(SL_USAGE,
				"backend: %s works on a device; add device='emulated' or 'cuda'",
				name);
}

/* Calls the primitive on the operands. */
static enum sl_status call_primitive(
	struct sl_py_call *c, const struct sl_backend *b, struct sl_exec *x)
{
	const struct sl_py_operand *o = c->operand;
	const void *count = c->counted ? o[c->n_operands - 1].at : NULL;
	union sl_py_primitive_job *job = &c->job;

	switch (c->primitive) {
	case SL_SCAN:
		job->scan.in = o[0].at;
		*(c->shape.sum ? &job->scan.sum : &job->scan.out) = o[1].at;
		job->scan.n_on_device = count;
		return sl_scan(b, x, &job->scan);
	case SL_COMPACT:
		job->compact.keep = (const uint8_t *)o[0].at;
		job->compact.out = (uint32_t *)o[1].at;
		job->compact.n_out = (uint32_t *)o[2].at;
		job->compact.n_on_device = count;
		return sl_compact(b, x, &job->compact);
	case SL_SORT:
		x->tuning = c->shape.tuning;
		job->sort.key = o[0].at;
		job->sort.key_out = o[1].at;
		job->sort.index = c->shape.keys_only ? NULL : (uint32_t *)o[2].at;
		job->sort.index_out = c->shape.keys_only ? NULL : (uint32_t *)o[3].at;
		job->sort.n_on_device = count;
		return sl_sort(b, x, &job->sort);
	case SL_DEFLATE:
		job->deflate.in = o[0].at;
		job->deflate.out = o[1].at;
		job->deflate.out_bytes = (size_t *)o[2].at;
		return sl_deflate(b, x, &job->deflate);
	default:
		job->expand.runs = o[0].at;
		job->expand.out = (uint32_t *)o[1].at;
		return sl_expand(b, x, &job->expand);
	}
}

/* --- on the host ------------------------------------------------------------------------------ */

static enum sl_status run_on_host(struct sl_py_call *c)
{
	const struct sl_backend *b;
	struct sl_exec x = {.space = SL_HOST};
	enum sl_status s;

	SL_TRY(find(c, &b));
	for (int i = 0; i < c->n_operands; i++)
		c->operand[i].at = c->operand[i].host;
	SL_TRY(get_scratch(sl_scratch(b, &c->shape), &x.scratch));
	s = call_primitive(c, b, &x);
	give_scratch(&x.scratch);
	return s;
}

/* --- on a device ------------------------------------------------------------------------------ */

/* Cuts the memory of the operands and the scratch; called twice, first to measure. */
static void lay_out(
	struct sl_py_call *c, const struct sl_backend *b, struct sl_arena *a, struct sl_exec *x)
{
	for (int i = 0; i < c->n_operands; i++)
		c->operand[i].at = sl_cut(a, c->operand[i].bytes);
	x->scratch.used = 0;
	x->scratch.size = sl_scratch(b, &c->shape);
	x->scratch.base = sl_cut(a, x->scratch.size);
}

/* Copies the inputs, queues the work, and copies the outputs. */
static enum sl_status queue(struct sl_py_call *c, const struct sl_backend *b, struct sl_exec *x)
{
	struct sl_py_operand *o = c->operand;

	for (int i = 0; i < c->n_operands; i++)
		if (o[i].in && o[i].bytes > 0)
			SL_TRY(sl_copy(o[i].at, o[i].host, o[i].bytes, x->stream));
	SL_TRY(call_primitive(c, b, x));
	SL_TRY(sl_stream_wait(x->stream)); /* if the work failed, the outputs stay as they are */
	for (int i = 0; i < c->n_operands; i++)
		if (o[i].out && o[i].bytes > 0)
			SL_TRY(sl_copy(o[i].host, o[i].at, o[i].bytes, x->stream));
	return sl_stream_wait(x->stream);
}

static enum sl_status run_in(struct sl_py_call *c, const struct sl_backend *b, struct sl_exec *x)
{
	struct sl_arena a = {0};
	void *block;
	enum sl_status s;

	lay_out(c, b, &a, x);
	SL_TRY(sl_memory_get(SL_DEVICE, a.used, &block));
	a = (struct sl_arena){block, 0, a.used};
	lay_out(c, b, &a, x);
	s = queue(c, b, x);
	if (s != SL_OK)
		(void)sl_stream_wait(x->stream); /* nothing may use the memory any more */
	sl_memory_give(SL_DEVICE, block);
	return s;
}

/* --- on arrays of a device -------------------------------------------------------------------- */

/*
 * Sets the addresses of the operands, and takes blocks for those that have no array: new arrays,
 * and numbers that are copied to the host.
 */
static enum sl_status take_operands(struct sl_py_call *c)
{
	for (int i = 0; i < c->n_operands; i++) {
		struct sl_py_operand *o = &c->operand[i];

		if (!o->on_device) {
			SL_TRY(sl_block_take(o->bytes, c->stream, &o->block));
			o->at = o->block->data;
			continue;
		}
		o->at = (void *)(uintptr_t)o->array.data;
		SL_TRY(sl_py_device_input_follow(&o->input, c->stream));
	}
	return SL_OK;
}

/* After the work: copies numbers to the host and waits, or marks the new arrays. */
static enum sl_status finish(struct sl_py_call *c)
{
	for (int i = 0; i < c->n_operands; i++) {
		struct sl_py_operand *o = &c->operand[i];

		if (o->host)
			SL_TRY(sl_copy(o->host, o->at, o->bytes, c->stream));
		else if (o->block && !c->waits)
			SL_TRY(sl_block_mark(o->block, c->stream));
	}
	return c->waits ? sl_stream_wait(c->stream) : SL_OK;
}

static enum sl_status run_resident(struct sl_py_call *c)
{
	struct sl_exec x = {.space = SL_DEVICE, .stream = c->stream};
	struct sl_device_block *scratch = NULL;
	const struct sl_backend *b;
	enum sl_status s;
	int before;

	SL_TRY(find(c, &b));
	SL_TRY(sl_device_select(c->number, &before));
	x.scratch.size = sl_scratch(b, &c->shape);
	s = sl_block_take(x.scratch.size, c->stream, &scratch);
	if (s == SL_OK) {
		x.scratch.base = scratch->data;
		s = take_operands(c);
	}
	if (s == SL_OK)
		s = call_primitive(c, b, &x);
	sl_block_give_on(scratch, c->stream);
	if (s == SL_OK)
		s = finish(c);
	sl_device_restore(before);
	return s;
}

/* --- where a call runs ------------------------------------------------------------------------ */

int sl_py_cuda_number(const char *device)
{
	const char *digits = device + strlen("cuda:");

	if (strcmp(device, "cuda") == 0)
		return 0;
	if (strncmp(device, "cuda:", strlen("cuda:")) != 0 || strlen(digits) < 1 ||
		strlen(digits) > 4 || strspn(digits, "0123456789") != strlen(digits))
		return -1;
	return (int)strtol(digits, NULL, 10);
}

bool sl_py_call_is_emulated(const struct sl_py_call *c)
{
	return c->resident ? c->emulated : c->device && strcmp(c->device, "emulated") == 0;
}

static enum sl_status run_on_device(struct sl_py_call *c)
{
	const int number = sl_py_call_is_emulated(c) ? 0 : sl_py_cuda_number(c->device);
	struct sl_exec x = {.space = SL_DEVICE};
	const struct sl_backend *b;
	enum sl_status s;
	int before;

	if (number < 0)
		return sl_fail(SL_USAGE,
			"device: '%s' is not a device; leave it out for the host, or use 'emulated', "
			"'cuda' or 'cuda:1'",
			c->device);
	SL_TRY(sl_device_select(number, &before));
	s = find(c, &b);
	if (s == SL_OK)
		s = sl_stream_make(&x.stream);
	if (s == SL_OK)
		s = run_in(c, b, &x);
	sl_stream_free(x.stream);
	sl_device_restore(before);
	return s;
}

enum sl_status sl_py_call_run(struct sl_py_call *c)
{
	if (c->resident)
		return run_resident(c);
	return c->device ? run_on_device(c) : run_on_host(c);
}
