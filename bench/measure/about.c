/* about.c - collects the origin of a table from the driver, the host and the command line. */
#include "bench/measure/measure.h"

#include <string.h>
#include <time.h>

#include "pipeline/plan/limits/limits.h"
#include "primitives/device/device_driver.h"

enum { DEVICE, CUDA, HOST, COMMAND, COMMIT, DATE };
const char *const sl_about_names[SL_ABOUT_LINES] = {
	"device", "CUDA", "host", "command", "commit", "date"};

/* The version of NVIDIA's kernel module from /proc, after a comma; "" if there is none. */
static void read_module_version(char *text, size_t size)
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

static void describe_cuda(int cccl, char text[SL_ABOUT_BYTES])
{
	int driver, runtime;
	char module[256], cub[48] = "";

	sl_driver_in_use()->versions(&driver, &runtime);
	read_module_version(module, sizeof(module));
	if (cccl > 0)
		snprintf(cub, sizeof(cub), ", CCCL %d.%d.%d", cccl / 1000000, cccl / 1000 % 1000,
			cccl % 1000);
	snprintf(text, SL_ABOUT_BYTES, "driver serves %d.%d, built with %d.%d%s%s", driver / 1000,
		driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10, cub, module);
}

void sl_about_make(const struct sl_bench_options *options, const struct sl_device *device, int cccl,
	struct sl_about *about)
{
	struct sl_machine machine;
	time_t now = time(NULL);
	struct tm utc;

	sl_machine_read("", &machine);
	snprintf(about->line[DEVICE], SL_ABOUT_BYTES, "%s, %d.%d, %d multiprocessors, %zu bytes",
		device->name, device->major, device->minor, device->multiprocessors,
		device->memory_bytes);
	describe_cuda(cccl, about->line[CUDA]);
	snprintf(about->line[HOST], SL_ABOUT_BYTES, "%s, %u cores, %s", machine.processor,
		machine.cores, machine.system);
	snprintf(about->line[COMMAND], SL_ABOUT_BYTES, "%.*s", SL_ABOUT_BYTES - 1,
		options->command_line);
	snprintf(about->line[COMMIT], SL_ABOUT_BYTES, "%.*s", SL_ABOUT_BYTES - 1, options->commit);
	strftime(about->line[DATE], SL_ABOUT_BYTES, "%Y-%m-%d %H:%M UTC", gmtime_r(&now, &utc));
}

void sl_about_print(const struct sl_about *about, FILE *out)
{
	for (int i = 0; i < SL_ABOUT_LINES; i++)
		fprintf(out, "# %s: %s\n", sl_about_names[i], about->line[i]);
}
