/* table.c - rows for people on stdout, and for programs in a CSV file that says where it is from.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "pipeline/machine.h"
#include "primitives/base/device_driver.h"

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

static void write_heading(FILE *f, const struct sl_asked *asked, const struct sl_device *device)
{
	int driver, runtime;
	struct sl_machine machine;
	char module[300], date[32];
	time_t now = time(NULL);
	struct tm utc;

	sl_machine_ask(&machine);
	sl_driver_now()->versions(&driver, &runtime);
	ask_module(module, sizeof(module));
	gmtime_r(&now, &utc);
	strftime(date, sizeof(date), "%Y-%m-%d %H:%M UTC", &utc);
	fprintf(f, "# device: %s, %d.%d, %d multiprocessors, %zu bytes\n", device->name,
		device->major, device->minor, device->multiprocessors, device->memory_bytes);
	fprintf(f, "# CUDA: driver serves %d.%d, built with %d.%d%s\n", driver / 1000,
		driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10, module);
	fprintf(f, "# host: %s, %s\n", machine.processor, machine.system);
	fprintf(f, "# command: %s\n# commit: %s\n# date: %s\n", asked->command, asked->commit,
		date);
}

enum sl_status sl_table_open(
	const struct sl_asked *asked, const struct sl_device *device, struct sl_table *t)
{
	memset(t, 0, sizeof(*t));
	write_heading(stdout, asked, device);
	if (!asked->csv)
		return SL_OK;
	t->csv = fopen(asked->csv, "w");
	if (!t->csv)
		return sl_fail(SL_DISK, "%s cannot be made: %s; choose another place", asked->csv,
			strerror(errno));
	write_heading(t->csv, asked, device);
	fprintf(t->csv, "primitive,backend,type,n,block,items,ms_median,ms_min,ms_max,samples,"
			"least_bytes,gb_per_s,share_of_copy,times_cub\n");
	return SL_OK;
}

enum sl_status sl_table_close(struct sl_table *t, const char *name)
{
	bool bad;

	if (!t->csv)
		return SL_OK;
	bad = ferror(t->csv) != 0;
	bad = fclose(t->csv) != 0 || bad;
	t->csv = NULL;
	return bad ? sl_fail(SL_DISK, "%s could not be written whole; make room for it", name)
	           : SL_OK;
}

double sl_gb_per_s(uint64_t bytes, float ms)
{
	return ms > 0 ? (double)bytes / (1e6 * (double)ms) : 0;
}

void sl_table_heading(void)
{
	printf("\n%-8s %-15s %-4s %10s %5s %5s  %10s %10s %10s %3s  %8s %6s %6s\n", "", "backend",
		"type", "n", "block", "items", "median ms", "min", "max", "of", "GB/s", "copy",
		"CUB");
}

/* The number, or none when there is none. */
static const char *cell(
	char text[16], double value, int decimals, const char *unit, const char *none)
{
	if (value > 0)
		snprintf(text, 16, "%.*f%s", decimals, value, unit);
	else
		snprintf(text, 16, "%s", none);
	return text;
}

/* How many times as fast as CUB; 0: not known. */
static double times_cub(const struct sl_row *r)
{
	return r->ms.median > 0 ? (double)r->cub_ms / (double)r->ms.median : 0;
}

static double share_of_copy(const struct sl_row *r)
{
	return r->copy_gb_s > 0 ? sl_gb_per_s(r->bytes, r->ms.median) / r->copy_gb_s : 0;
}

static void print_name(const struct sl_row *r)
{
	char block[16], items[16];

	printf("%-8s %-15s %-4s %10u %5s %5s  ", r->primitive, r->backend, r->type, r->n,
		cell(block, r->tuning.block, 0, "", "-"), cell(items, r->tuning.items, 0, "", "-"));
}

/* What is not there, is empty. */
static void write_row(FILE *f, const struct sl_row *r)
{
	char block[16], items[16], share[16], cub[16];

	fprintf(f, "%s,%s,%s,%u,%s,%s,%.5f,%.5f,%.5f,%u,%llu,%.2f,%s,%s\n", r->primitive,
		r->backend, r->type, r->n, cell(block, r->tuning.block, 0, "", ""),
		cell(items, r->tuning.items, 0, "", ""), (double)r->ms.median, (double)r->ms.least,
		(double)r->ms.most, r->ms.samples, (unsigned long long)r->bytes,
		sl_gb_per_s(r->bytes, r->ms.median), cell(share, share_of_copy(r), 4, "", ""),
		cell(cub, times_cub(r), 4, "", ""));
}

void sl_table_row(const struct sl_table *t, const struct sl_row *r)
{
	double gb_per_s = sl_gb_per_s(r->bytes, r->ms.median);
	char share[16], cub[16];

	print_name(r);
	printf("%10.4f %10.4f %10.4f %3u  %8.1f %6s %6s\n", (double)r->ms.median,
		(double)r->ms.least, (double)r->ms.most, r->ms.samples, gb_per_s,
		cell(share, 100 * share_of_copy(r), 1, "%", "-"),
		cell(cub, times_cub(r), 2, "x", "-"));
	(void)fflush(stdout);
	if (t->csv)
		write_row(t->csv, r);
}

void sl_table_gap(const struct sl_row *r, const char *why)
{
	print_name(r);
	printf("not timed: %s\n", why);
	(void)fflush(stdout);
}
