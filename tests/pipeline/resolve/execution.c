/*
 * execution.c - run.device, run.mode, primitives and output.format: which choice is made, and which
 * combinations are refused.
 */
#include "pipeline/config/reader/diagnostics.h"
#include "pipeline/config/reader/read_config.h"
#include "pipeline/resolve/execution/backends.h"
#include "pipeline/resolve/output/mcpl_output.h"
#include "tests/faults/fault_injection.h"
#include "tests/support/configs/config_check.h"

#include <stdio.h>

#include "primitives/device/device.h"

static const char plain[] = "model: {slab: {mu_a: 1 /cm, mu_s: 0, thickness: inf}}\n"
			    "keep: absorbed\nrun: {particles: 1, device: %s}\nprimitives: {%s}\n";

static enum sl_status resolve_device(
	const char *device, const char *primitives, struct sl_reader **r)
{
	char text[1024];

	snprintf(text, sizeof(text), plain, device, primitives);
	return resolve_text(text, NULL, 0, r);
}

static void resolve_valid_device(const char *device, const char *primitives)
{
	char text[1024];

	snprintf(text, sizeof(text), plain, device, primitives);
	resolve_good_text(text);
}

static void expect_choice(
	const struct sl_choice *c, const char *name, uint32_t block, uint32_t items)
{
	assert_non_null(c->backend);
	assert_string_equal(c->backend->name, name);
	assert_int_equal(c->tuning.block, block);
	assert_int_equal(c->tuning.items, items);
}

/* The fastest of the host: ISA-L where it is written in assembly. */
static const struct sl_backend *fastest_deflate(void)
{
#if defined(__x86_64__) || defined(__aarch64__)
	return &sl_deflate_isal;
#else
	return &sl_deflate_libdeflate;
#endif
}

static void expect_on_cpu(void)
{
	assert_int_equal(choices.device, SL_ON_CPU);
	assert_null(choices.scan.backend);
	expect_choice(&choices.compact, "cpu", 0, 0);
	expect_choice(&choices.sort, "cpu", 0, 0);
	assert_ptr_equal(choices.deflate, fastest_deflate());
}

/* The fastest backends of the catalog, each with its own scan; files are encoded on the host. */
static void expect_default_backend(const struct sl_choice *c, enum sl_primitive p)
{
	static const char *const order[] = {"shared", "tiled", "work_efficient", "naive"};
	const struct sl_backend *best = NULL;

	for (int i = 0; i < 4 && sl_find(p, order[i], &best) != SL_OK;)
		i++;
	assert_non_null(best);
	assert_ptr_equal(c->backend, best);
	assert_int_equal(c->backend->space, SL_DEVICE);
	assert_true(c->tuning.block == 0 && c->tuning.items == 0 && c->tuning.padding == 0);
}

static void expect_on_device(enum sl_device_choice device)
{
	assert_int_equal(choices.device, device);
	assert_int_equal(choices.device_number[0], 0);
	assert_string_equal(choices.device_reason, "");
	assert_null(choices.scan.backend);
	expect_default_backend(&choices.compact, SL_COMPACT);
	expect_default_backend(&choices.sort, SL_SORT);
	assert_ptr_equal(choices.deflate, fastest_deflate());
}

/* Resolves run.device for rank `number` of `of` ranks on a machine with three emulated devices. */
static void resolve_share(uint32_t number, uint32_t of)
{
	struct sl_reader *r;

	assert_ok(resolve_device("emulated:3", "", &r));
	config.share = (struct sl_share){
		.of = of, .cores_of = of, .devices_of = of, .device_number = number};
	assert_ok(sl_resolve(&config, r, &choices));
	sl_config_close(r);
}

TEST(ranks_divide_the_devices)
{
	resolve_share(0, 0);
	assert_int_equal(choices.n_devices, 3);
	resolve_share(0, 2);
	assert_int_equal(choices.n_devices, 2);
	assert_true(choices.device_number[0] == 0 && choices.device_number[1] == 2);
	resolve_share(1, 2);
	assert_int_equal(choices.n_devices, 1);
	assert_int_equal(choices.device_number[0], 1);
	assert_int_equal(choices.device_users, 1);
	for (uint32_t i = 0; i < 7; i++) {
		resolve_share(i, 7);
		assert_int_equal(choices.n_devices, 1);
		assert_int_equal(choices.device_number[0], i % 3);
		assert_int_equal(choices.device_users, 3);
	}
}

/* The choice of auto without a device is reported; an explicit CPU is not. */
TEST(auto_selects_an_available_device)
{
	int n;

	resolve_valid_device("auto", "");
	if (sl_device_count(&n) == SL_OK) {
		expect_on_device(SL_ON_CUDA);
	} else {
		expect_on_cpu();
		assert_string_equal(choices.device_reason, sl_last_error());
	}
	resolve_valid_device("cpu", "scan: auto, compact: auto, sort: auto, deflate: auto");
	expect_on_cpu();
	assert_string_equal(choices.device_reason, "");
}

TEST(emulated_device_is_always_available)
{
	static const char unspecified[] = "model: {slab: {mu_a: 1 /cm, mu_s: 0, thickness: inf}}\n"
					  "keep: absorbed\nrun: {particles: 1}\n";
	struct sl_reader *r;

	resolve_valid_device("emulated", "");
	assert_true(sl_device_is_emulated());
	expect_on_device(SL_ON_EMULATED);
	/* in a process that uses the emulator, auto selects the emulated device */
	assert_ok(sl_config_open_text("c", unspecified, strlen(unspecified), NULL, 0, &config, &r));
	assert_ok(sl_resolve(&config, r, &choices));
	expect_on_device(SL_ON_EMULATED);
	/* unless the emulated device cannot be used */
	assert_null(sl_fault_set("dev_count:1:999"));
	assert_ok(sl_resolve(&config, r, &choices));
	sl_fault_set(NULL);
	expect_on_cpu();
	assert_non_null(strstr(choices.device_reason, "CUDA error 999"));
	sl_config_close(r);
}

TEST(device_failure_is_not_a_file_error)
{
	struct sl_reader *r;

	assert_null(sl_fault_set("dev_limits:1:999"));
	assert_int_equal(resolve_device("emulated", "sort: naive", &r), SL_DEVICE_FAILED);
	sl_fault_set(NULL);
	assert_int_equal(sl_config_problems(r), 0);
	sl_config_close(r);
}

/* Expects the transfer form of survivors for a format, and the compression backend. */
static void expect_form(const char *device, const char *deflate, const char *format,
	enum sl_transfer_form form, const char *pack)
{
	char text[1024];

	snprintf(text, sizeof(text),
		"model: {slab: {mu_a: 1 /cm, mu_s: 0, thickness: inf}}\nkeep: absorbed\n"
		"run: {particles: 1, device: %s}\nprimitives: {deflate: %s}\n"
		"output: {format: %s%s}\n",
		device, deflate, format,
		strncmp(format, "mcpl", 4) == 0 ? ", mcpl: {energy: 1 eV}" : "");
	resolve_good_text(text);
	assert_int_equal(choices.form, form);
	assert_string_equal(choices.pack ? choices.pack->name : "", pack);
	assert_int_equal(choices.deflate->space, SL_HOST);
}

/*
 * On a GPU auto compresses on the device if the format allows it; on the emulated device only on
 * request.
 */
TEST(packed_form_depends_on_format_and_deflate)
{
	static const struct {
		const char *format;
		enum sl_transfer_form by_default, on_request;
	} forms[] = {{"openpmd", SL_AS_COLUMNS, SL_AS_STREAMS},
		{"npz", SL_AS_COLUMNS, SL_AS_STREAMS}, {"csv.gz", SL_AS_COLUMNS, SL_AS_COLUMNS},
		{"csv", SL_AS_COLUMNS, SL_AS_COLUMNS}, {"mcpl", SL_AS_RECORDS, SL_AS_RECORDS},
		{"mcpl.gz", SL_AS_RECORDS, SL_AS_STREAMS}};
	bool gpu;
	int n;

	sl_device_emulate(false);
	gpu = sl_device_count(&n) == SL_OK;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		const char *format = forms[i].format;
		const char *pack = forms[i].on_request == SL_AS_STREAMS ? "device" : "";

		expect_form("cpu", "auto", format, SL_AS_COLUMNS, "");
		expect_form("emulated", "auto", format, forms[i].by_default, "");
		expect_form("emulated", "zlib", format, forms[i].by_default, "");
		if (pack[0])
			expect_form("emulated", "device", format, forms[i].on_request, pack);
		if (gpu)
			expect_form("cuda", "auto", format, forms[i].on_request, pack);
	}
}

/* Records of MCPL are made of columns that a new model need not have. */
TEST(columns_that_records_need_are_checked)
{
	static const char list[] = "no column x, y, u or v; use openpmd";
	struct sl_model rod, whole;
	struct sl_reader *r;

	resolve_valid_device("cpu", "");
	whole = rod = *choices.model;
	rod.columns &= ~(SL_BIT(SL_COLUMN_x) | SL_BIT(SL_COLUMN_y) | SL_BIT(SL_COLUMN_u) |
			 SL_BIT(SL_COLUMN_v));
	whole.columns |= SL_BIT(SL_COLUMN_pol_y);
	for (int k = 0; k < 2; k++) {
		assert_ok(resolve_text("model: {slab: {mu_a: 1 /cm, mu_s: 0, thickness: 1 cm}}\n"
				       "run: {particles: 1}\nkeep: absorbed\n"
				       "output: {format: mcpl, mcpl: {energy: 2 eV}}\n",
			NULL, 0, &r));
		choices.model = k ? &whole : &rod;
		sl_resolve_mcpl(&config, r, &choices, 0, true);
		assert_fails(sl_config_verdict(r), SL_USAGE, k ? "pol_x or pol_z" : list);
		sl_config_close(r);
	}
}
