/* about.c - what a table is about: the machine, the versions, the command, the sources, the date.
 */
#include <string.h>
#include <time.h>

#include "bench/bench.h"
#include "pipeline/plan/machine.h"
#include "primitives/device/device_driver.h"

/* The version of NVIDIA's kernel module, as its file in /proc has it; "" when there is none. */
static void ask_module(char *text, size_t size)
{
	FILE *f = fopen("/proc/driver/nvidia/version", "r");
	char line[256];

	text[0] = '\0';
	if (!f)
		return;
	if (fgets(line, sizeof(line), f))
		snprintf(text, size, ", %.*s", (int)strcspn(line, "\n"), line);
	(void)fclose(f);
}

static void describe_cuda(char text[SL_ABOUT_BYTES])
{
	int driver, runtime;
	char module[260], cccl[64] = "";

	sl_driver_in_use()->versions(&driver, &runtime);
	ask_module(module, sizeof(module));
#ifdef SL_WITH_CUDA
	snprintf(cccl, sizeof(cccl), ", CCCL %d.%d.%d", sl_bench_cccl / 1000000,
		sl_bench_cccl / 1000 % 1000, sl_bench_cccl % 1000);
#endif
	snprintf(text, SL_ABOUT_BYTES, "driver serves %d.%d, built with %d.%d%s%s", driver / 1000,
		driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10, cccl, module);
}

void sl_about_make(
	const struct sl_asked *asked, const struct sl_device *device, struct sl_about *about)
{
	struct sl_machine machine;
	time_t now = time(NULL);
	struct tm utc;

	sl_machine_ask(&machine);
	snprintf(about->device, SL_ABOUT_BYTES, "%s, %d.%d, %d multiprocessors, %zu bytes",
		device->name, device->major, device->minor, device->multiprocessors,
		device->memory_bytes);
	describe_cuda(about->cuda);
	snprintf(about->host, SL_ABOUT_BYTES, "%s, %u cores, %s", machine.processor, machine.cores,
		machine.system);
	snprintf(about->command, SL_ABOUT_BYTES, "%.*s", SL_ABOUT_BYTES - 1, asked->command_line);
	snprintf(about->commit, SL_ABOUT_BYTES, "%.*s", SL_ABOUT_BYTES - 1, asked->commit);
	strftime(about->date, SL_ABOUT_BYTES, "%Y-%m-%d %H:%M UTC", gmtime_r(&now, &utc));
}

bool sl_about_line(const struct sl_about *about, size_t i, const char **name, const char **text)
{
	const char *const lines[SL_ABOUT_LINES][2] = {
		{"device", about->device},
		{"CUDA", about->cuda},
		{"host", about->host},
		{"command", about->command},
		{"commit", about->commit},
		{"date", about->date},
	};

	if (i >= SL_ABOUT_LINES)
		return false;
	*name = lines[i][0];
	*text = lines[i][1];
	return true;
}

void sl_about_print(const struct sl_about *about, FILE *out)
{
	const char *name, *text;

	for (size_t i = 0; sl_about_line(about, i, &name, &text); i++)
		fprintf(out, "# %s: %s\n", name, text);
}
