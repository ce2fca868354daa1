/* device_block.c - see device_block.h. */
#include "primitives/device/device_block.h"

#include <pthread.h>
#include <string.h>

#include "primitives/base/size.h"
#include "primitives/device/device_driver.h"

/*
 * A block is a little larger than requested, in steps of an eighth, so that batches with somewhat
 * more survivors fit too; and it serves requests down to half of its size.
 */
enum { STEPS = 8, WASTE = 2, LEAST_BYTES = 1 << 16 };

/* Blocks that wait for a request may have this share of the memory of the device. */
enum { KEPT_SHARE = 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sl_device_block *kept;

void sl_blocks_reset(void)
{
	pthread_mutex_init(&lock, NULL);
	kept = NULL;
}

static size_t rounded(size_t bytes)
{
	size_t step = LEAST_BYTES;

	while (step < bytes / (2 * STEPS))
		step *= 2;
	return sl_round_up(bytes > 0 ? bytes : 1, step);
}

/*
 * Frees the memory. After a permanent failure of the device it is released when the process ends.
 */
static void free_block(struct sl_device_block *b)
{
	if (!sl_device_has_failed(b->number))
		b->driver->give(b->emulated ? SL_PINNED : SL_DEVICE, b->data);
	sl_memory_give(SL_HOST, b);
}

/* Removes and returns the smallest kept block that fits, or NULL. */
static struct sl_device_block *find(size_t bytes)
{
	struct sl_device_block **best = NULL, *found;

	pthread_mutex_lock(&lock);
	for (struct sl_device_block **at = &kept; *at; at = &(*at)->next)
		if ((*at)->driver == sl_driver_in_use() &&
			(*at)->number == sl_device_now()->number && (*at)->bytes >= bytes &&
			(*at)->bytes / WASTE <= rounded(bytes) &&
			(!best || (*at)->bytes < (*best)->bytes))
			best = at;
	found = best ? *best : NULL;
	if (found)
		*best = found->next;
	pthread_mutex_unlock(&lock);
	return found;
}

static enum sl_status allocate(size_t bytes, struct sl_device_block **block)
{
	bool emulated = sl_device_is_emulated();
	enum sl_space space = emulated ? SL_PINNED : SL_DEVICE;
	struct sl_device_block *b;
	enum sl_status s;
	void *memory;

	SL_TRY(sl_memory_get(SL_HOST, sizeof(*b), &memory));
	b = (struct sl_device_block *)memory;
	memset(b, 0, sizeof(*b));
	s = sl_memory_get(space, rounded(bytes), &b->data);
	if (s == SL_DEVICE_MEMORY) {
		sl_blocks_free();
		s = sl_memory_get(space, rounded(bytes), &b->data);
	}
	if (s != SL_OK) {
		sl_memory_give(SL_HOST, b);
		return s;
	}
	b->bytes = rounded(bytes);
	b->number = sl_device_now()->number;
	b->emulated = emulated;
	b->driver = sl_driver_in_use();
	b->kept_most = sl_device_now()->memory_bytes / KEPT_SHARE;
	*block = b;
	return SL_OK;
}

/* Orders work on s after the work of others on the block. */
static enum sl_status follow(const struct sl_device_block *b, sl_stream s)
{
	int error;

	if (b->stream != 0 && b->stream == b->driver->stream_number(s))
		return SL_OK;
	error = sl_driver_error_before("dev_join");
	if (error == 0)
		error = b->driver->stream_join(s);
	return sl_driver_status(error, "waiting for the work of other streams");
}

enum sl_status sl_block_take(size_t bytes, sl_stream s, struct sl_device_block **block)
{
	struct sl_device_block *b = find(bytes);
	enum sl_status status;

	*block = NULL;
	if (!b)
		return allocate(bytes, block);
	status = follow(b, s);
	b->stream = 0;
	if (status != SL_OK) {
		sl_block_give(b);
		return status;
	}
	*block = b;
	return SL_OK;
}

/* --- complete contents ------------------------------------------------------------------------ */

enum sl_status sl_block_mark(struct sl_device_block *block, sl_stream s)
{
	SL_TRY(sl_event_make(&block->done));
	return sl_event_record(block->done, s);
}

/* Makes the device of the block current, if it is not, and sets *before to the one that was. */
static int enter(const struct sl_device_block *block, int *before)
{
	if (block->driver->current(before) != 0)
		*before = block->number;
	return *before == block->number ? 0 : block->driver->use(block->number, NULL);
}

static void leave(const struct sl_device_block *block, int before)
{
	if (before != block->number)
		(void)block->driver->use(before, NULL);
}

/*
 * The default streams, 0 to 2, of which each device has its own: a call means that of the current
 * one.
 */
static bool is_default(sl_stream s)
{
	return (uintptr_t)s <= 2;
}

/* By the driver of the block, which another one may have replaced since. */
enum sl_status sl_block_follow(const struct sl_device_block *block, sl_stream s)
{
	int before = block->number, error = block->done ? sl_driver_error_before("dev_join") : 0;

	if (error == 0 && block->done && is_default(s))
		error = enter(block, &before);
	if (error == 0 && block->done)
		error = block->driver->stream_follow(s, block->done);
	leave(block, before);
	return sl_driver_status(error, "waiting for the contents of an array");
}

enum sl_status sl_block_read(
	const struct sl_device_block *block, const void *from, size_t bytes, void *to)
{
	const struct sl_driver *d = block->driver;
	int before = block->number, error = sl_driver_error_before("dev_copy");

	if (error == 0)
		error = enter(block, &before);
	if (error == 0 && block->done)
		error = d->event_wait(block->done);
	if (error == 0 && bytes > 0)
		error = d->copy(to, from, bytes, NULL);
	if (error == 0)
		error = d->stream_wait(NULL);
	leave(block, before);
	return sl_driver_status(error, "copying an array to the host");
}

/* The event is freed once it has passed. */
enum sl_status sl_stream_after(sl_stream s, sl_stream other)
{
	enum sl_status status;
	sl_event passed;

	SL_TRY(sl_event_make(&passed));
	status = sl_event_record(passed, other);
	if (status == SL_OK)
		status = sl_driver_status(
			sl_driver_in_use()->stream_follow(s, passed), "waiting for another stream");
	sl_event_free(passed);
	return status;
}

/* --- giving back ------------------------------------------------------------------------------ */

static size_t kept_bytes(const struct sl_device_block *like)
{
	size_t bytes = 0;

	for (const struct sl_device_block *b = kept; b; b = b->next)
		bytes += b->driver == like->driver && b->number == like->number ? b->bytes : 0;
	return bytes;
}

void sl_block_give(struct sl_device_block *block)
{
	bool keep;

	if (!block)
		return;
	if (block->done && !sl_device_has_failed(block->number))
		block->driver->event_free(block->done);
	block->done = NULL;
	pthread_mutex_lock(&lock);
	keep = kept_bytes(block) + block->bytes <= block->kept_most;
	if (keep) {
		block->next = kept;
		kept = block;
	}
	pthread_mutex_unlock(&lock);
	if (!keep)
		free_block(block);
}

void sl_block_give_on(struct sl_device_block *block, sl_stream s)
{
	if (block)
		block->stream = block->driver->stream_number(s);
	sl_block_give(block);
}

void sl_blocks_free(void)
{
	struct sl_device_block *next, *all;

	pthread_mutex_lock(&lock);
	all = kept;
	kept = NULL;
	pthread_mutex_unlock(&lock);
	for (; all; all = next) {
		next = all->next;
		free_block(all);
	}
}

int sl_cuda_swap(int number)
{
	int before = number;

	if (sl_driver_built.current(&before) == 0 && before != number)
		(void)sl_driver_built.use(number, NULL);
	return before;
}

enum sl_status sl_device_select(int number, int *before)
{
	const struct sl_driver *d = sl_driver_in_use();
	struct sl_device device;
	enum sl_status s;
	int error = sl_driver_error_before("dev_use");

	*before = number;
	if (error == 0 && d->current(before) != 0)
		*before = number;
	if (error == 0 && sl_device_now()->name[0] != '\0' && sl_device_now()->number == number)
		return *before == number
		               ? SL_OK
		               : sl_driver_status(d->use(number, NULL), "selecting the device");
	s = sl_device_use(number, &device);
	if (s != SL_OK && *before != number)
		(void)d->use(*before, NULL);
	return s;
}

/* Without a status: the work is done, and its outcome must stay the last one. */
void sl_device_restore(int before)
{
	if (sl_device_now()->number != before && sl_driver_error_before("dev_use") == 0)
		(void)sl_driver_in_use()->use(before, NULL);
}

int sl_cuda_current(void)
{
	int number = 0;

	return sl_driver_built.current(&number) == 0 ? number : 0;
}

int sl_cuda_device_of(const void *p)
{
	int number = 0;

	return p && sl_driver_built.device_of(p, &number) == 0 ? number : sl_cuda_current();
}
