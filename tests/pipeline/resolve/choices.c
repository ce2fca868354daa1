/*
 * choices.c - what is chosen for a configuration: ranges of keys and tallies, fates, derived
 * columns, devices. A text describes it, and choices.txt has the lines that are expected. Backends
 * and modes: tests/text/plan.txt.
 */
#include <stdio.h>

#include "pipeline/config/reader/reader.h"
#include "pipeline/resolve/choices/choices.h"
#include "pipeline/resolve/output/output.h"
#include "primitives/device/device.h"
#include "tests/faults/fault_injection.h"
#include "tests/support/configs/config_check.h"
#include "tests/support/configs/configs.h"
#include "tests/support/formats/mcpl_lists.h"

enum { SETS_MAX = 8, TEXT_BYTES = 4096 };

#define SLAB "run: {particles: 10}\nmodel: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, thickness: 1 cm}}\n"

/* The configuration of a title. */
static const char *base_of(const char *title)
{
	static char list[1024];

	snprintf(list, sizeof(list),
		"run: {particles: 10}\nmodel: {list: {files: %s}}\nkeep: listed\n",
		reference_path("example.mcpl"));
	if (strncmp(title, "list", 4) == 0)
		return list;
	if (strncmp(title, "slab", 4) == 0)
		return SLAB "keep: transmitted\n";
	return "run: {particles: 10}\nmodel:\n  source_detector:\n"
	       "    detector: {type: rectangle, distance: 1 m, width: 2 cm, height: 1 mm, pixels: [64, 32]}\n"
	       "    energy: {type: lines, lines: [1 eV, 2 MeV], intensities: [1, 0.5]}\n"
	       "keep: [hit, blocked]\n";
}

/* --- description ------------------------------------------------------------------------------ */

static char text[TEXT_BYTES];
static size_t used;

#define PUT(...) (used += (size_t)snprintf(text + used, sizeof(text) - used, __VA_ARGS__))

/* Writes the names of the bits of a set. */
static void put_set(uint64_t set, const char *(*name)(int bit))
{
	for (const char *comma = ""; set; set &= set - 1, comma = ", ")
		PUT("%s%s", comma, name(__builtin_ctzll(set)));
}

static const char *fate_name(int bit)
{
	return sl_fate_facts[bit].name;
}

static const char *column_name(int bit)
{
	return sl_label_name(choices.named.label, (enum sl_column)bit);
}

static void describe_fields(void)
{
	const char *comma = "key";

	for (const struct sl_key_field *f = choices.field; f < choices.field + choices.n_fields;
		f++, comma = ",") {
		PUT("%s %s%s", comma, f->descending ? "-" : "", column_name((int)f->column));
		if (!f->exact && !f->logarithmic)
			PUT(" %.12g..%.12g", f->lo, f->hi);
		PUT("%s%s", f->exact ? " exact" : "", f->logarithmic ? " log" : "");
	}
	for (uint32_t k = 0; k < choices.n_grids; k++) {
		const struct sl_grid_axis *h = &choices.grid[k].axis[0];

		PUT("\ntallies %s %.12g..%.12g of ", column_name((int)h->column), h->lo, h->hi);
		put_set(choices.grid[k].fates, fate_name);
	}
	PUT("\ncolumns ");
	for (int k = 0, n = 0; k < SL_COLUMN_COUNT; k++)
		if (SL_HAS(choices.columns, k))
			PUT("%s%s", n++ ? ", " : "", column_name(k));
	PUT("\nderived ");
	put_set(choices.derivation.stores, column_name);
	PUT("%s", choices.derivation.stores ? " from " : "nothing");
	put_set(choices.derivation.reads, column_name);
}

static void describe_fates(void)
{
	PUT("\nkeep ");
	put_set(choices.keep, fate_name);
	if (choices.condition.fates) {
		assert_true(choices.condition.n > 0);
		PUT("; tested ");
		put_set(choices.condition.fates, fate_name);
	}
	if (choices.stop_rule.below > 0)
		PUT("\nstop %s", fate_name((int)choices.stop_rule.fate));
}

/* The fastest DEFLATE of the host: ISA-L where it is written in assembly. */
static const struct sl_backend *fastest_deflate(void)
{
#if defined(__x86_64__) || defined(__aarch64__)
	return &sl_deflate_isal;
#else
	return &sl_deflate_libdeflate;
#endif
}

static void describe_device(void)
{
	PUT("\npacked %s", choices.form == SL_AS_COLUMNS   ? "columns"
			   : choices.form == SL_AS_RECORDS ? "records"
							   : "streams");
	PUT("%s%s\ndevice ", choices.pack ? " by " : "", choices.pack ? choices.pack->name : "");
	for (uint32_t i = 0; i < choices.n_devices; i++)
		PUT("%s%d", i ? ", " : "", choices.device_number[i]);
	if (choices.device_users > 1)
		PUT(" of %u ranks", choices.device_users);
	PUT("%s: compact %s, sort %s, deflate %s\n", choices.n_devices ? "" : "cpu",
		choices.compact.backend->name, choices.sort.backend->name,
		choices.deflate == fastest_deflate() ? "fastest" : choices.deflate->name);
}

/* --- expected lines --------------------------------------------------------------------------- */

/* The texts of --set that belong to an expected line, and the rank. */
static char set[SETS_MAX][LINE_BYTES];
static size_t n_sets;
static struct sl_share share;

/*
 * Resolves the configuration of a title with the sets. Returns false if it needs a GPU and there is
 * none.
 */
static bool resolve(const char *title)
{
	const char *sets[SETS_MAX], *yaml = base_of(title);
	struct sl_reader *r;
	int devices;

	sl_device_emulate(false);
	for (size_t i = 0; i < n_sets; i++) {
		sets[i] = set[i];
		if (strcmp(set[i], "run.device=cuda") == 0 && sl_device_count(&devices) != SL_OK)
			return false;
	}
	assert_ok(sl_config_open_text("c", yaml, strlen(yaml), sets, n_sets, &config, &r));
	config.share = share;
	if (sl_resolve(&config, r, &choices) != SL_OK)
		fail_msg("%s: %s%s", title, sl_last_error(), sl_config_report(r));
	sl_config_close(r);
	return true;
}

/* Expects a line of the description, which begins and ends with an end of line. */
static void expect_line(const char *title, const char *expected)
{
	char line[LINE_BYTES];

	used = 0;
	PUT("\n");
	describe_fields();
	describe_fates();
	describe_device();
	snprintf(line, sizeof(line), "\n%s\n", expected);
	if (!strstr(text, line))
		fail_msg("%s, %s: expected%sfound%s", title, n_sets ? set[0] : "", line, text);
}

TEST(choices_have_the_expected_description)
{
	FILE *f = open_source("tests/pipeline/resolve/choices.txt");
	char line[LINE_BYTES], title[LINE_BYTES] = "";
	bool resolved = false, runs = false;
	uint32_t rank, of;

	while (next_line(f, line)) {
		if (line[0] == '>') {
			if (!resolved)
				runs = resolve(title);
			if (runs)
				expect_line(title, line + 2);
			resolved = true;
			continue;
		}
		if (resolved || line[0] == '=') {
			n_sets = 0;
			share = (struct sl_share){0};
			resolved = false;
		}
		if (line[0] == '=')
			strcpy(title, line + 3);
		else if (sscanf(line, "rank %u/%u", &rank, &of) == 2)
			share = (struct sl_share){
				.of = of, .cores_of = of, .devices_of = of, .device_number = rank};
		else
			strcpy(set[n_sets++], line);
	}
	fclose(f);
}

/* --- devices that are not there --------------------------------------------------------------- */

/* The choice of auto without a device is reported; an explicit CPU is not. */
TEST(auto_selects_an_available_device)
{
	struct sl_reader *r;
	int n;

	resolve_good_text(SLAB "keep: absorbed\n");
	if (sl_device_count(&n) == SL_OK) {
		assert_int_equal(choices.device, SL_ON_CUDA);
		assert_string_equal(choices.device_reason, "");
	} else {
		assert_int_equal(choices.device, SL_ON_CPU);
		assert_string_equal(choices.device_reason, sl_last_error());
	}
	/*
	 * in a process that uses the emulator, auto selects the emulated device, unless it cannot
	 * be used
	 */
	assert_ok(resolve_text(SLAB "keep: absorbed\n", NULL, 0, &r));
	sl_device_emulate(true);
	assert_ok(sl_resolve(&config, r, &choices));
	assert_int_equal(choices.device, SL_ON_EMULATED);
	assert_string_equal(choices.device_reason, "");
	assert_null(sl_fault_set("dev_count:1:999"));
	assert_ok(sl_resolve(&config, r, &choices));
	sl_fault_set(NULL);
	assert_int_equal(choices.device, SL_ON_CPU);
	assert_non_null(strstr(choices.device_reason, "CUDA error 999"));
	sl_config_close(r);
}

/* Records of MCPL are made of columns that a new model need not have. */
TEST(columns_that_records_need_are_checked)
{
	struct sl_model rod, whole;
	struct sl_resolver v = {.c = &config, .to = &choices, .ranges = true};

	resolve_good_text(SLAB "keep: absorbed\n");
	whole = rod = *choices.model;
	rod.columns &= ~(SL_BIT(SL_COLUMN_x) | SL_BIT(SL_COLUMN_y) | SL_BIT(SL_COLUMN_u) |
			 SL_BIT(SL_COLUMN_v));
	whole.columns |= SL_BIT(SL_COLUMN_pol_y);
	for (int k = 0; k < 2; k++) {
		assert_ok(resolve_text(SLAB "keep: absorbed\n"
					    "output: {format: mcpl, mcpl: {energy: 2 eV}}\n",
			NULL, 0, &v.r));
		choices.model = k ? &whole : &rod;
		sl_resolve_mcpl(&v, 0);
		assert_fails(sl_config_verdict(v.r), SL_USAGE,
			k ? "pol_x or pol_z" : "no column x, y, u or v; use openpmd");
		sl_config_close(v.r);
	}
}
