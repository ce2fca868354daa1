/* call.c - see primitives.h. */
#include "python/src/primitives/primitives.h"

#include <pthread.h>

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
	const bool device = c->on_device;

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

/*
 * Sets the addresses of the operands, and takes blocks for those that have no array there: new
 * arrays, numbers that are copied to the host, and copies of arrays of the host.
 */
static enum sl_status take_operands(struct sl_py_call *c)
{
	for (int i = 0; i < c->n_operands; i++) {
		struct sl_py_operand *o = &c->operand[i];

		if (!o->on_device) {
			SL_TRY(sl_block_take(o->bytes, c->stream, &o->block));
			o->at = o->block->data;
			if (o->in && o->host && o->bytes > 0)
				SL_TRY(sl_copy(o->at, o->host, o->bytes, c->stream));
			continue;
		}
		o->at = (void *)(uintptr_t)o->array.data;
		SL_TRY(sl_py_device_input_follow(&o->input, c->stream));
	}
	return SL_OK;
}

/* After the work: copies to the host and waits, or marks the new arrays. */
static enum sl_status finish(struct sl_py_call *c)
{
	if (!c->resident) /* if the work failed, the outputs stay as they are */
		SL_TRY(sl_stream_wait(c->stream));
	for (int i = 0; i < c->n_operands; i++) {
		struct sl_py_operand *o = &c->operand[i];

		if (o->host && o->out && o->bytes > 0)
			SL_TRY(sl_copy(o->host, o->at, o->bytes, c->stream));
		else if (!o->host && o->block && !c->waits)
			SL_TRY(sl_block_mark(o->block, c->stream));
	}
	return c->waits ? sl_stream_wait(c->stream) : SL_OK;
}

/* With the device selected, and a stream. */
static enum sl_status run_in(struct sl_py_call *c, const struct sl_backend *b)
{
	struct sl_exec x = {.space = SL_DEVICE, .stream = c->stream};
	struct sl_device_block *scratch = NULL;
	enum sl_status s;

	x.scratch.size = sl_scratch(b, &c->shape);
	s = sl_block_take(x.scratch.size, c->stream, &scratch);
	if (s == SL_OK) {
		x.scratch.base = scratch->data;
		s = take_operands(c);
	}
	if (s == SL_OK)
		s = call_primitive(c, b, &x);
	sl_block_give_on(scratch, c->stream);
	return s == SL_OK ? finish(c) : s;
}

static enum sl_status run_on_device(void *ctx)
{
	struct sl_py_call *c = (struct sl_py_call *)ctx;
	const struct sl_backend *b;
	enum sl_status s = find(c, &b);

	if (s == SL_OK && !c->resident)
		s = sl_stream_make(&c->stream);
	if (s == SL_OK)
		s = run_in(c, b);
	if (s != SL_OK && !c->resident)
		(void)sl_stream_wait(c->stream); /* nothing may use arrays of the host any more */
	if (!c->resident)
		sl_stream_free(c->stream);
	return s;
}

enum sl_status sl_py_call_run(struct sl_py_call *c)
{
	return c->on_device ? sl_py_on_device(c->emulated, c->number, run_on_device, c)
	                    : run_on_host(c);
}
