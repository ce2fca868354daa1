/*
 * global_sort_gpu.c - sorts over all GPUs of the machine, and over several shares of one GPU; and the exchange between two
 * GPUs by copies, with any number of keys.
 *
 * The test is skipped without a device.
 */
#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"
#include "tests/support/basic/skip.h"
#include "tests/support/device/global_sort_check.h"

static int n_devices;

TEST(every_size)
{
	static const struct {
		bool all; /* the devices of the machine; else one */
		bool by_pieces;
		uint32_t largest;
	} rows[] = {{true, false, (1 << 24) + 5}, {false, false, (1 << 20) + 3},
		{true, true, (1 << 24) + 5}};
	const struct sl_backend *sort;

	assert_ok(sl_find(SL_SORT, "shared", &sort));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (n_devices > 1 || !rows[i].by_pieces)
			global_sort_check_sizes(sort, rows[i].all ? n_devices : 1,
				rows[i].by_pieces, sl_sampling_size(rows[i].largest), 59);
}

BEFORE_TESTS()
{
	skip_without_device();
	assert_ok(sl_device_count(&n_devices));
}
