/* tuning.c - libFuzzer target: reads arbitrary bytes as a tuning file, then looks up the tuning of each backend. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "primitives/primitives.h"
#include "primitives/tuning.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct sl_tuning any;
	char path[sizeof(fuzz_path) + 8];

	sl_device_emulate(true);
	fuzz_write("tuning", data, size);
	snprintf(path, sizeof(path), "%s/tuning", fuzz_path);
	fuzz_check(sl_tuning_read(path));
	for (size_t i = 0; sl_backend_at(i); i++)
		sl_tuning_of(sl_backend_at(i), any, SL_U32, 1 << 20);
	return 0;
}
