/*
 * block.c - blocks of device memory that outlive a run, on the emulated device: its streams work
 * when the host waits for them, so that work which overtakes other work is seen.
 */
#include <string.h>

#include "primitives/device/device_block.h"
#include "tests/support/basic/check.h"

enum { BYTES = 1 << 20 };

static sl_stream first, second;

TEST(blocks_are_used_again)
{
	struct sl_device_block *a, *b;
	void *memory;

	assert_ok(sl_block_take(BYTES, NULL, &a));
	assert_true(a->bytes >= BYTES && a->emulated && a->number == 0);
	memory = a->data;
	sl_block_give(a);
	assert_ok(sl_block_take(BYTES / 2, NULL, &a));
	assert_ptr_equal(a->data, memory);
	assert_ok(sl_block_take(BYTES, NULL, &b));
	assert_ptr_not_equal(b->data, memory);
	sl_block_give(a);
	sl_block_give(b);
	assert_ok(sl_block_take(16, NULL, &a)); /* too small for either of them */
	assert_ptr_not_equal(a->data, memory);
	assert_ptr_not_equal(a->data, b->data);
	sl_block_give(a);
	sl_block_give(NULL);
	sl_blocks_free();
	assert_ok(sl_block_take(0, NULL, &a));
	assert_non_null(a->data);
	sl_block_give(a);
}

/*
 * A reader is queued on one stream when the block is given back, and another stream overwrites it.
 */
TEST(new_work_follows_work_of_others)
{
	struct sl_device_block *block;
	unsigned char *seen;
	void *data;

	assert_ok(sl_memory_get(SL_PINNED, BYTES, (void **)&seen));
	assert_ok(sl_block_take(BYTES, first, &block));
	data = block->data;
	assert_ok(sl_fill(block->data, 1, BYTES, first));
	assert_ok(sl_copy(seen, block->data, BYTES, first));
	sl_block_give(block);
	assert_ok(sl_block_take(BYTES, second, &block));
	assert_ptr_equal(block->data, data);
	assert_ok(sl_fill(block->data, 2, BYTES, second));
	assert_ok(sl_stream_wait(second));
	assert_ok(sl_stream_wait(first));
	assert_int_equal(seen[BYTES - 1], 1);
	/* the same stream needs no wait, another one does */
	assert_ok(sl_copy(seen, block->data, BYTES, second));
	sl_block_give_on(block, second);
	assert_ok(sl_block_take(BYTES, second, &block));
	assert_ok(sl_fill(block->data, 3, BYTES, second));
	sl_block_give_on(block, second);
	assert_ok(sl_block_take(BYTES, first, &block));
	assert_ok(sl_fill(block->data, 4, BYTES, first));
	assert_ok(sl_stream_wait(first));
	assert_int_equal(seen[0], 2);
	assert_int_equal(((unsigned char *)block->data)[0], 4);
	sl_block_give(block);
	sl_memory_give(SL_PINNED, seen);
}

TEST(marked_contents_are_waited_for)
{
	struct sl_device_block *block;
	unsigned char byte = 0;

	assert_ok(sl_block_take(BYTES, first, &block));
	assert_ok(sl_block_read(block, block->data, 0, &byte));
	assert_ok(sl_fill(block->data, 5, BYTES, first));
	assert_ok(sl_block_mark(block, first));
	assert_ok(sl_block_read(block, (char *)block->data + BYTES - 1, 1, &byte));
	assert_int_equal(byte, 5);
	sl_block_give(block);
	assert_ok(sl_block_take(BYTES, first, &block));
	assert_ok(sl_block_follow(block, second)); /* nothing to wait for: the mark is gone */
	assert_ok(sl_fill(block->data, 6, BYTES, first));
	assert_ok(sl_block_mark(block, first));
	assert_ok(sl_block_follow(block, second));
	assert_ok(sl_copy(&byte, block->data, 1, second));
	assert_ok(sl_stream_wait(second));
	assert_int_equal(byte, 6);
	assert_ok(sl_fill(block->data, 7, BYTES, first));
	assert_ok(sl_stream_after(second, first));
	assert_ok(sl_copy(&byte, block->data, 1, second));
	assert_ok(sl_stream_wait(second));
	assert_int_equal(byte, 7);
	sl_block_give(block);
}

TEST(devices_are_selected_and_restored)
{
	struct sl_device_block *block;
	int before = -1, devices;

	assert_ok(sl_device_count(&devices));
	assert_ok(sl_device_select(0, &before));
	assert_int_equal(before, 0);
	assert_ok(sl_device_select(devices - 1, &before));
	assert_ok(sl_block_take(BYTES, NULL, &block));
	assert_int_equal(block->number, devices - 1);
	sl_block_give(block);
	sl_device_restore(before);
	assert_ok(sl_device_select(0, &before));
	assert_int_equal(before, 0);
	assert_fails(sl_device_select(devices, &before), SL_NO_DEVICE, "there is no device");
}

BEFORE_EACH()
{
	struct sl_device device;

	sl_device_emulate(true);
	assert_ok(sl_device_use(0, &device));
	assert_ok(sl_stream_make(&first));
	assert_ok(sl_stream_make(&second));
}

AFTER_EACH()
{
	sl_stream_free(first);
	sl_stream_free(second);
	sl_blocks_free();
}
