/* pack_gpu.c - compares survivors packed on a GPU with those packed on the host, byte by byte. */
#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"
#include "tests/support/device/pack_check.h"
#include "tests/support/device/pack_kernels_check.h"
#include "tests/support/device/mcpl_pack_check.h"
#include "tests/support/basic/skip.h"

TEST(kernels_pack_as_the_host)
{
	pack_check_kernels(sl_sampling_size(3000001));
	mcpl_pack_check_kernel(sl_sampling_size(1000003));
}

TEST(pipelines_pack_as_the_host)
{
	pack_check_pipelines(sl_sampling_size(1500));
	pack_check_pipelines(sl_sampling_size(300007));
	pack_check_forms(sl_sampling_size(300007));
}

BEFORE_TESTS()
{
	skip_without_device();
}
