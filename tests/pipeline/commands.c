/* commands.c - the command line: every command, every option, every way to be refused. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/args.h"
#include "pipeline/config.h"
#include "pipeline/matrix.h"
#include "pipeline/options.h"
#include "pipeline/tree.h"
#include "stages/formats/format.h"
#include "tests/support/fixture.h"
#include "tests/support/program.h"

static const char text[] = "run: {name: t, seed: 7, particles: 10000, batch: 3000, threads: 2}\n"
			   "model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, thickness: 0.1 cm}}\n"
			   "keep: transmitted\n"
			   "key: [w:16]\n";

/* Its batch takes minutes: it holds its directory until it is told to go. */
static const char slow[] = "run: {name: t, particles: 1e6, batch: 1e6, threads: 1}\n"
			   "model: {slab: {mu_a: 0 /cm, mu_s: 10000 /cm, thickness: 1 cm}}\n"
			   "transport: {max_steps: 1e6}\n"
			   "keep: transmitted\n";

/* c.yaml, slow.yaml and the run "whole" of c.yaml; nothing else stays. */
static uint64_t whole, all;

static int begin(void **state)
{
	(void)state;
	folder_make(&folder);
	write_text(&folder, "c.yaml", text);
	write_text(&folder, "slow.yaml", slow);
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "whole"));
	whole = hash_run(&folder, "whole");
	all = folder_hash(folder.path, NULL);
	return 0;
}

/* Commands of this test leave nothing behind. */
static void expect_untouched(void)
{
	assert_int_equal(folder_hash(folder.path, NULL), all);
}

/* Runs a line of shell, in which $SLUICE is the program. */
static void shell(int code, const char *says, const char *line)
{
	const char *const words[] = {"sh", "-c", line, NULL};

	expect(&folder, code, says, words);
}

static void expect_out(const char *says, const char *const *words)
{
	char *out = output_of(&folder, words);

	if (!strstr(out, says))
		fail_msg("%s %s: \"%s\" is not in\n%s", words[1], words[2] ? words[2] : "", says,
			out);
	free(out);
}

static bool is_there(const char *path)
{
	return access(path, X_OK) == 0;
}

/* JSON by our reader, and by Python's, which takes nothing else for JSON. */
static void expect_json(const char *json)
{
	struct sl_problem problem;
	struct sl_tree *tree;

	assert_ok(sl_tree_parse(json, strlen(json), &tree, &problem));
	sl_tree_free(tree);
	if (!is_there("/usr/bin/python3"))
		return;
	write_text(&folder, "json", json);
	shell(0, "", "/usr/bin/python3 -m json.tool json >/dev/null");
	assert_int_equal(unlink(folder_path(&folder, "json")), 0);
}

/* --- what the program says of itself ------------------------------------------------------- */

static void help_of_keys(void **state)
{
	static const char *const sections[] = {"run", "transport", "primitives", "output", "stop",
		"check", "model", "keep", "key"};
	char path[SL_KEY_BYTES];

	(void)state;
	for (size_t i = 0; i < sl_n_options; i++) {
		sl_option_path(NULL, &sl_options[i], path);
		expect_out(sl_options[i].help, WORDS("help", path));
	}
	for (int m = 0; m < SL_MODEL_COUNT; m++) {
		expect_out(sl_models[m]->options[0].help, WORDS("help", sl_models[m]->name));
		for (size_t i = 0; i < sl_models[m]->n_options; i++) {
			sl_option_path(sl_models[m], &sl_models[m]->options[i], path);
			expect_out(sl_models[m]->options[i].help, WORDS("help", path));
		}
	}
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		expect_out(sections[i], WORDS("help", sections[i]));
}

static void help_of_words(void **state)
{
	(void)state;
	for (int c = 0; c < SL_COLUMN_COUNT; c++)
		expect_out(sl_column_facts[c].help, WORDS("help", sl_column_facts[c].name));
	for (int f = 0; f < SL_FATE_COUNT; f++)
		expect_out(sl_fate_facts[f].help, WORDS("help", sl_fate_facts[f].name));
#define X(name, operand, help) expect_out(help, WORDS("help", #name));
	SL_COMMANDS(X)
#undef X
	expect(&folder, SL_USAGE, "is called that", WORDS("help", "nonsense"));
	expect(&folder, SL_USAGE, "is called that", WORDS("help", "run.see"));
	expect(&folder, SL_USAGE, "is called that", WORDS("help", ""));
}

/* One text for all ways to ask; all commands, options and exit codes are in it. */
static void help_of_all(void **state)
{
	char *help = output_of(&folder, WORDS("--help"));

	(void)state;
	expect_out(help, WORDS("help"));
	expect_out(help, WORDS("-h"));
	expect_out(help, WORDS("run", "c.yaml", "--help"));
#define X(name, operand, help_) assert_non_null(strstr(help, "  " #name));
	SL_COMMANDS(X)
#undef X
#define SETTING(option, key, value, help_) assert_non_null(strstr(help, "--" option " " value));
#define TEXT(option, field, value, takers, help_) \
	assert_non_null(strstr(help, "--" option " " value));
#define COUNT(option, field, value, takers, help_) TEXT(option, field, value, takers, help_)
#define FLAG(option, field, takers, help_)         assert_non_null(strstr(help, "--" option));
#include "pipeline/args.def"
#undef SETTING
#undef TEXT
#undef COUNT
#undef FLAG
#define STATUS(name, code, meaning) \
	assert_non_null(strstr(help, #code)), assert_non_null(strstr(help, meaning));
#include "primitives/base/status.def"
#undef STATUS
	free(help);
	expect_out("sluice ", WORDS("--version"));
}

/* Each line of the matrix, in every build, with its tunables and where it runs. */
static void expect_backend(const char *list, const struct sl_line *l)
{
	char line[128], tunables[64];
	const char *at;

	snprintf(line, sizeof(line), "\n  %-8s %-14s %-7s ", sl_primitive_name(l->primitive),
		l->name, sl_reach_name(l->reach));
	at = strstr(list, line);
	if (!at)
		fail_msg("no line \"%s\" in\n%s", line, list);
	assert_non_null(strstr(at, l->facts ? l->facts->help : "not in this build"));
	at = strchr(at + 1, '\n');
	if (!l->facts || l->facts->tunable.block == 0)
		return;
	snprintf(tunables, sizeof(tunables), "block=%u (", l->facts->tunable.block);
	assert_ptr_equal(strstr(at, tunables), at + 1 + strspn(at + 1, " "));
}

static size_t count(const char *in, const char *word)
{
	size_t n = 0;

	for (; (in = strstr(in, word)); in++)
		n++;
	return n;
}

static void lists(void **state)
{
	char *list = output_of(&folder, WORDS("list")),
	     *json = output_of(&folder, WORDS("list", "--json"));
	size_t n = 0, devices = 0, emulated = 0, tuned = 0;

	(void)state;
	for (int c = 0; c < SL_COLUMN_COUNT; c++)
		assert_non_null(strstr(list, sl_column_facts[c].help));
	for (int m = 0; m < SL_MODEL_COUNT; m++)
		assert_non_null(strstr(list, sl_models[m]->help));
	for (const struct sl_line *l = sl_matrix; l->name; l++) {
		expect_backend(list, l);
		n++;
		devices += l->reach != SL_RUNS_ON_HOST;
		emulated += l->reach == SL_RUNS_ON_DEVICE;
		tuned += l->facts && l->facts->tunable.block > 0;
	}
	assert_int_equal(count(json, "\"primitive\": "), n);
	assert_int_equal(count(json, "\"space\": \"device\""), devices);
	assert_int_equal(count(json, "\"emulated\""), emulated);
	assert_int_equal(count(json, "\"multiple_of\": "), tuned);
#ifdef SL_WITH_CUDA
	assert_int_equal(count(json, "\"cuda\""), devices);
	assert_null(strstr(list, "built without CUDA"));
#else
	assert_int_equal(count(json, "\"cuda\""), 0);
	assert_non_null(strstr(list, "built without CUDA"));
#endif
	for (int i = 0; sl_formats[i]; i++)
		assert_non_null(strstr(list, sl_formats[i]->help));
	expect_json(json);
	free(json);
	free(list);
}

static void json(void **state)
{
	size_t bytes;
	char *out = output_of(&folder, WORDS("run", "c.yaml", "--out", "out", "--json")),
	     *file = folder_read(&folder, "out/run.json", &bytes);

	(void)state;
	assert_string_equal(out, file);
	expect_json(out);
	free(out);
	free(file);
	out = output_of(&folder, WORDS("verify", "out", "--json"));
	assert_non_null(strstr(out, "\"batches\": 4"));
	expect_json(out);
	free(out);
	remove_run(&folder, "out");
	expect_untouched();
}

/* Of the same run on any device, by any way, in any batches; the batches are those of the run. */
static void replays(void **state)
{
	const char *const *elsewhere =
		WORDS("replay", "c.yaml", "--id", "3_002", "--set", "run.device=cuda:9999", "--set",
			"run.mode=fused", "--set", "primitives.sort=naive:block=96", "--set",
			"primitives.scan=naive", "--set", "primitives.compact=naive");
	char *here = output_of(&folder, WORDS("replay", "c.yaml", "--id", "3002")), *out;

	(void)state;
	assert_non_null(strstr(here, "3002: number 2 of batch 1 (4 batches of 3000)"));
	expect_out(here, elsewhere);
	expect_out("9999: number 1111", WORDS("replay", "c.yaml", "--id", "9999", "--set",
						"output.to=whole", "--set", "run.batch=2222"));
	expect_out("9999: number 999 of batch 3",
		WORDS("replay", "c.yaml", "--id", "9999", "--set", "output.to=whole", "--set",
			"run.batch=auto"));
	out = output_of(&folder, WORDS("replay", "c.yaml", "--id", "3002", "--set", "run.seed=8"));
	assert_null(strstr(out, strstr(here, "\n0 ")));
	free(out);
	free(here);
	out = output_of(&folder, WORDS("replay", "c.yaml", "--id", "3002", "--json"));
	expect_json(out);
	free(out);
	expect_untouched();
}

static void infos(void **state)
{
	(void)state;
	expect_out("collisions", WORDS("info", "whole/t_000003.h5"));
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--set", "output.format=csv.gz"));
	expect_out("collisions", WORDS("info", "out/t_000003.csv.gz"));
	expect_out("4 of 4 batches", WORDS("verify", "out"));
	remove_run(&folder, "out");
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--set", "output.format=npz"));
	expect_out("collisions", WORDS("info", "out/t_000003.npz"));
	expect_out("4 of 4 batches", WORDS("verify", "out"));
	remove_run(&folder, "out");
	expect(&folder, SL_DISK, "nothing.h5", WORDS("info", "nothing.h5"));
	expect(&folder, SL_BAD_INPUT, "suffix", WORDS("info", "c.yaml"));
	write_text(&folder, "bad.h5", "no HDF5");
	expect(&folder, SL_BAD_INPUT, "bad.h5", WORDS("info", "bad.h5"));
	unlink(folder_path(&folder, "bad.h5"));
	expect(&folder, SL_DISK, "nothing", WORDS("verify", "nothing"));
	expect(&folder, SL_DISK, "run.json", WORDS("verify", "."));
	expect_untouched();
}

static void infos_of_mcpl(void **state)
{
	static const char *const formats[] = {"mcpl", "mcpl.gz"};
	const char *source = getenv("SLUICE_SOURCE");
	char format[64], file[64], example[512];

	(void)state;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		snprintf(format, sizeof(format), "output.format=%s", formats[i]);
		snprintf(file, sizeof(file), "out/t_000003.%s", formats[i]);
		expect(&folder, SL_OK, "",
			WORDS("run", "c.yaml", "--out", "out", "--set", format, "--set",
				"output.columns=[]", "--set", "output.mcpl.energy=2 eV"));
		expect_out("stat:sum:sluice_generated:", WORDS("info", file));
		expect_out("MeV           2e-06", WORDS("info", file));
		expect_out("4 of 4 batches", WORDS("verify", "out"));
		remove_run(&folder, "out");
	}
	snprintf(example, sizeof(example), "%s/tests/stages/formats/mcpl/example.mcpl",
		source ? source : ".");
	expect_out("1006 particles of 36 bytes", WORDS("info", example));
	expect_out("MeV    0.0013934488      52.164983      9724.9609", WORDS("info", example));
	write_text(&folder, "bad.mcpl", "MCPL001L");
	expect(&folder, SL_BAD_INPUT, "bad.mcpl", WORDS("info", "bad.mcpl"));
	unlink(folder_path(&folder, "bad.mcpl"));
	expect_untouched();
}

/* --- configurations ------------------------------------------------------------------------ */

/* What --print-config prints means the same, and is printed the same. */
static void expect_fixed(const char *config)
{
	char *first = output_of(&folder, WORDS("run", config, "--print-config")), *second;

	write_text(&folder, "printed", first);
	second = output_of(&folder, WORDS("plan", "printed", "--print-config"));
	assert_string_equal(first, second);
	unlink(folder_path(&folder, "printed"));
	free(first);
	free(second);
}

static void print_config(void **state)
{
	static const char *const names[] = {"demo", "vandehulst", "beam_gauss", "aperture",
		"giovanelli", "beer_lambert", "isotropic_05", "disk_to_disk_near"};
	const char *source = getenv("SLUICE_SOURCE");
	char path[4096];

	(void)state;
	expect_fixed("c.yaml");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/data/configs/%s.yaml", source ? source : ".",
			names[i]);
		expect_fixed(path);
	}
	snprintf(
		path, sizeof(path), "%s/tests/fuzz/corpus/config/mcpl.yaml", source ? source : ".");
	expect_fixed(path);
	expect_out("scan: \"naive:block=96\"", WORDS("plan", "c.yaml", "--print-config", "--scan",
						       "naive:block=96", "--device", "emulated"));
	expect_out("particles: 5000",
		WORDS("run", "c.yaml", "--print-config", "--set", "run.particles=5e3"));
	expect_untouched();
}

/* Names that YAML would read as something else, or cut. */
static void any_directory(void **state)
{
	static const char *const names[] = {"a #b", "a\"b", "x: y", "[a]", "it's", "b\\x", "*z",
		"{k", "&q", "~", "@s", " lead", "-", "\xc3\xa9", "a/b/c"};

	(void)state;
	assert_int_equal(mkdir(folder_path(&folder, "here"), 0777), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char name[64];

		snprintf(name, sizeof(name), "here/%s", names[i]);
		expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", name, "--quiet"));
		assert_int_equal(hash_run(&folder, name), whole);
		expect(&folder, SL_OK, "", WORDS("verify", name, "--quiet"));
	}
	remove_run(&folder, "here");
	expect_untouched();
}

static void plans(void **state)
{
	(void)state;
	expect_out("4 of 3000 particles", WORDS("plan", "c.yaml", "--out", "out"));
	expect_out("zlib", WORDS("plan", "c.yaml", "--deflate", "zlib"));
	expect_out("cpu_scan", WORDS("plan", "c.yaml", "--compact", "cpu_scan"));
	expect_out("3 threads", WORDS("plan", "c.yaml", "--threads", "3"));
	expect_out("mode        staged\n", WORDS("plan", "c.yaml", "--device", "cpu"));
	expect_out("mode        fused: survivors are carried as records of ",
		WORDS("plan", "c.yaml", "--device", "emulated"));
	expect_out("mode        staged (primitives.compact is named; ",
		WORDS("plan", "c.yaml", "--device", "emulated", "--compact", "naive"));
	expect_untouched();
}

struct refusal {
	int code;
	const char *says;
	const char *words[8];
};

static const struct refusal refusals[] = {
	{SL_USAGE, "no command", {"sluice"}},
	{SL_USAGE, "there is no such command, did you mean run", {"sluice", "rum"}},
	{SL_USAGE, "needs a file", {"sluice", "run"}},
	{SL_USAGE, "needs a file", {"sluice", "plan"}},
	{SL_USAGE, "needs a file", {"sluice", "verify"}},
	{SL_USAGE, "needs a file", {"sluice", "info"}},
	{SL_USAGE, "more words", {"sluice", "run", "c.yaml", "c.yaml"}},
	{SL_USAGE, "more words", {"sluice", "list", "models"}},
	{SL_USAGE, "more words", {"sluice", "help", "run", "plan"}},
	{SL_USAGE, "--nothing: there is no such option", {"sluice", "run", "c.yaml", "--nothing"}},
	{SL_USAGE, "-x: there is no such option", {"sluice", "run", "c.yaml", "-xy"}},
	{SL_USAGE, "--quiet=1: has a value", {"sluice", "run", "c.yaml", "--quiet=1"}},
	{SL_USAGE, "--set: its value is missing", {"sluice", "run", "c.yaml", "--set"}},
	{SL_USAGE, "--out: its value is missing", {"sluice", "run", "c.yaml", "--out"}},
	{SL_USAGE, "has no '='", {"sluice", "run", "c.yaml", "--set", "run.seed"}},
	{SL_USAGE, "has no key", {"sluice", "run", "c.yaml", "--set", "=7"}},
	{SL_USAGE, "--json does nothing for info", {"sluice", "info", "c.yaml", "--json"}},
	{SL_USAGE, "--resume does nothing for plan", {"sluice", "plan", "c.yaml", "--resume"}},
	{SL_USAGE, "verify takes no settings", {"sluice", "verify", ".", "--set", "run.seed=2"}},
	{SL_USAGE, "needs a file", {"sluice", "replay", "--id", "1"}},
	{SL_USAGE, "replay needs --id N (the number of", {"sluice", "replay", "c.yaml"}},
	{SL_USAGE, "--id: its value is missing", {"sluice", "replay", "c.yaml", "--id"}},
	{SL_USAGE, "--id x: is no whole", {"sluice", "replay", "c.yaml", "--id", "x"}},
	{SL_USAGE, "--id 7x: is no whole", {"sluice", "replay", "c.yaml", "--id", "7x"}},
	{SL_USAGE, "--id -1: is no whole", {"sluice", "replay", "c.yaml", "--id", "-1"}},
	{SL_USAGE, "--id 0.5: is no whole", {"sluice", "replay", "c.yaml", "--id", "0.5"}},
	{SL_USAGE, "--id 1e30: is no whole", {"sluice", "replay", "c.yaml", "--id", "1e30"}},
	{SL_USAGE, "(the run has 10000, from 0 to 9999)",
		{"sluice", "replay", "c.yaml", "--id", "1e4"}},
	{SL_USAGE, "--id does nothing for run (it is for replay)",
		{"sluice", "run", "c.yaml", "--id", "0"}},
	{SL_USAGE, "--quiet does nothing for replay",
		{"sluice", "replay", "c.yaml", "--id", "0", "--quiet"}},
	{SL_USAGE,
		"settings by --set alone (other options say how a run computes or where it "
		"writes), leave out the one for run.threads=2",
		{"sluice", "replay", "c.yaml", "--id", "0", "--threads", "2"}},
	{SL_USAGE, "run.sede", {"sluice", "replay", "c.yaml", "--id", "0", "--set", "run.sede=7"}},
	{SL_USAGE, "list takes no settings", {"sluice", "list", "--threads", "2"}},
	{SL_USAGE, "exclude each other", {"sluice", "run", "c.yaml", "--resume", "--force"}},
	{SL_USAGE, "run.threads: '0'", {"sluice", "run", "c.yaml", "--threads", "0"}},
	{SL_USAGE, "run.threads: '1025'", {"sluice", "run", "c.yaml", "--threads", "1025"}},
	{SL_USAGE, "run.device", {"sluice", "run", "c.yaml", "--device", "gpu"}},
	{SL_USAGE, "run.device: 'cuda:x'", {"sluice", "run", "c.yaml", "--device", "cuda:x"}},
	{SL_NO_DEVICE, "device", {"sluice", "run", "c.yaml", "--device", "cuda:9999"}},
	{SL_NO_DEVICE, "device",
		{"sluice", "plan", "c.yaml", "--device", "cuda:9999", "--scan", "x"}},
	{SL_USAGE, "run.slots: '17'", {"sluice", "run", "c.yaml", "--slots", "17"}},
	{SL_USAGE, "run.mode: 'fussed'", {"sluice", "run", "c.yaml", "--mode", "fussed"}},
	{SL_USAGE, "run.mode: fused works on a device (this run computes on the CPU",
		{"sluice", "run", "c.yaml", "--mode", "fused", "--device", "cpu"}},
	{SL_USAGE, "'x' is no scan", {"sluice", "run", "c.yaml", "--scan", "x"}},
	{SL_USAGE, "'x' is no compact", {"sluice", "run", "c.yaml", "--compact", "x"}},
	{SL_USAGE, "'x' is no sort", {"sluice", "run", "c.yaml", "--sort", "x"}},
	{SL_USAGE, "'x' is no deflate", {"sluice", "run", "c.yaml", "--deflate", "x"}},
	{SL_USAGE, "primitives.scan: 'naive' works on a device (this run computes on the CPU",
		{"sluice", "run", "c.yaml", "--scan", "naive", "--device", "cpu"}},
	{SL_USAGE, "primitives.sort: 'cpu' works on the host",
		{"sluice", "run", "c.yaml", "--sort", "cpu", "--device", "emulated"}},
	{SL_USAGE, "primitives.scan: 'blok=1' is no tuning",
		{"sluice", "run", "c.yaml", "--scan", "naive:blok=1"}},
	{SL_USAGE, "takes multiples of",
		{"sluice", "plan", "c.yaml", "--sort", "naive:block=9999", "--device", "emulated"}},
	{SL_USAGE, "output.to", {"sluice", "run", "c.yaml", "--out", ""}},
	{SL_USAGE, "run.sede", {"sluice", "run", "c.yaml", "--set", "run.sede=7"}},
	{SL_USAGE, "nothing.yaml", {"sluice", "run", "nothing.yaml"}},
	{SL_USAGE, "regular", {"sluice", "run", "."}},
	{SL_USAGE, "regular", {"sluice", "plan", "/dev/null"}},
	{SL_OUTPUT_IN_USE, "holds a run already", {"sluice", "run", "c.yaml", "--out", "whole"}},
	{SL_DISK, "c.yaml", {"sluice", "run", "c.yaml", "--out", "c.yaml"}},
	{SL_DISK, "c.yaml", {"sluice", "run", "c.yaml", "--out", "c.yaml/out"}},
};

static void refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		expect(&folder, refusals[i].code, refusals[i].says, refusals[i].words);
		expect_untouched();
	}
}

/* All that is wrong in one go, and no folder. */
static void bad_configuration(void **state)
{
	(void)state;
	write_text(&folder, "bad.yaml", "run: {particles: 0, sede: 1}\nmodel: {slap: {}}\n");
	shell(SL_USAGE, "bad.yaml:1:18: run.particles",
		"$SLUICE run bad.yaml --out out || { rc=$?; test ! -e out && exit $rc; }");
	expect(&folder, SL_USAGE, "run.sede: there is no such key, try seed",
		WORDS("run", "bad.yaml", "--out", "out"));
	expect(&folder, SL_USAGE, "slap", WORDS("plan", "bad.yaml", "--out", "out"));
	unlink(folder_path(&folder, "bad.yaml"));
	expect_untouched();
}

/* A choice of the emulator that is not understood is no configuration, and is not passed over. */
static void emulator(void **state)
{
	(void)state;
	shell(SL_USAGE, "SL_EMULATOR: \"block=4\" is not understood",
		"SL_EMULATOR=block=4 $SLUICE plan c.yaml --device emulated");
	shell(SL_USAGE, "SL_EMULATOR: \"block=4\" is not understood",
		"SL_EMULATOR=block=4 $SLUICE plan c.yaml --device cpu");
	expect_untouched();
}

/* Every option of a setting does what its key does. */
static void settings(void **state)
{
	(void)state;
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--threads", "3", "--device", "cpu",
			"--slots", "2", "--mode", "staged", "--scan", "cpu", "--compact",
			"cpu_scan", "--sort", "cpu", "--deflate", "auto", "--set", "run.threads=1",
			"--set", "run.seed=7"));
	assert_int_equal(hash_run(&folder, "out"), whole);
	remove_run(&folder, "out");
	expect_untouched();
}

/* --- another run is there ------------------------------------------------------------------ */

static void locked(void **state)
{
	static const char *const ways[] = {"--quiet", "--resume", "--force"};
	const struct process p = {
		.argv = WORDS("run", "slow.yaml", "--out", "out"), .folder = folder.path};
	struct running r;
	struct ending e;
	char pid[32];

	(void)state;
	process_start(&p, &r);
	for (int i = 0; i < 10000 && !folder_has(&folder, "out/run.json"); i++)
		sleep_for(1e-3);
	snprintf(pid, sizeof(pid), "%d", (int)r.pid);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		expect(&folder, SL_OUTPUT_IN_USE, pid,
			WORDS("run", "slow.yaml", "--out", "out", ways[i]));
	kill(r.pid, SIGKILL);
	process_wait(&r, 10, &e);
	process_free(&e);
	/* a lock of the dead does not hold */
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "out", "--force"));
	assert_int_equal(hash_run(&folder, "out"), whole);
	remove_run(&folder, "out");
	expect_untouched();
}

/* --- too little of something --------------------------------------------------------------- */

/* Does the program die of so little memory before it has looked at a word? In H5open(), then. */
static bool dies_at_once(unsigned long bytes)
{
	const struct process p = {
		.argv = WORDS("--version"), .folder = folder.path, .memory_bytes = bytes};
	struct ending e;
	bool dies;

	process_run(&p, HANG_SECONDS, &e);
	dies = e.signal == SIGSEGV;
	process_free(&e);
	return dies;
}

static void little_memory(void **state)
{
	const char *const *words = WORDS("run", "c.yaml", "--out", "out", "--set",
		"run.particles=2e7", "--set", "run.batch=2e7", "--set", "run.threads=1");
	struct process p = {.argv = words, .folder = folder.path, .memory_bytes = 400UL << 20};
	struct ending e;

	(void)state;
	if (be_quick())
		skip(); /* sanitizers need address space without end */
	process_run(&p, HANG_SECONDS, &e);
	assert_non_null(strstr(e.err, "MiB are free"));
	expect_ending(&e, SL_HOST_MEMORY, "GiB of memory", words);
	expect_untouched();
	/* whatever there is of it: a run, or a refusal, and what is committed is whole */
	p.argv = words = WORDS("run", "c.yaml", "--out", "out", "--resume", "--quiet");
	for (unsigned long mib = 24; mib <= 160; mib += 4) {
		p.memory_bytes = mib << 20;
		process_run(&p, HANG_SECONDS, &e);
		/* 127: not even the libraries could be loaded */
		if (e.code != SL_OK && e.code != SL_HOST_MEMORY && e.code != 127 &&
			!strstr(e.err, "HDF5 does not start") &&
			!(e.signal == SIGSEGV && dies_at_once(p.memory_bytes)))
			fail_msg("with %lu MiB: %d and %s", mib, e.code, e.err);
		process_free(&e);
		if (folder_has(&folder, "out"))
			expect(&folder, SL_OK, "", words);
		remove_run(&folder, "out");
	}
	expect_untouched();
}

static void little_disk(void **state)
{
	(void)state;
	/* a chroot or a container may have no mounts of its own, even for root */
	if (system("unshare -m mount -t tmpfs none /mnt 2>/dev/null") != 0)
		skip();
	assert_int_equal(mkdir(folder_path(&folder, "small"), 0777), 0);
	shell(SL_DISK, "are free",
		"exec unshare -m sh -c 'mount -t tmpfs -o size=2m none small || exit 77; "
		"$SLUICE run c.yaml --out small/out --set run.particles=1e6 --set run.batch=1e5 "
		"|| { rc=$?; test ! -e small/out && exit $rc; }'");
	/* what is on the disk already needs no room again */
	shell(0, "",
		"exec unshare -m sh -c 'mount -t tmpfs -o size=6m none small || exit 77; set -e;"
		"$SLUICE run c.yaml --out small/out --quiet --set run.particles=30000;"
		"rm small/out/t_000009.h5;"
		"head -c $(($(df --output=avail -B1 small | tail -1) - 1000000)) /dev/zero "
		">small/fill;"
		"$SLUICE run c.yaml --out small/out --quiet --set run.particles=30000 --resume;"
		"$SLUICE verify small/out --quiet'");
	assert_int_equal(rmdir(folder_path(&folder, "small")), 0);
	expect_untouched();
}

/* What cannot be printed is not said to be done. */
static void full_stdout(void **state)
{
	static const char *const lines[] = {"list", "list --json", "help", "--version",
		"plan c.yaml", "run c.yaml --print-config", "verify whole", "verify whole --json",
		"info whole/t_000000.h5", "run c.yaml --out out", "run c.yaml --out out --json"};
	char line[256];

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		snprintf(line, sizeof(line), "$SLUICE %s >/dev/full", lines[i]);
		shell(SL_DISK, "stdout: No space left on device", line);
		if (strstr(lines[i], "--out"))
			remove_run(&folder, "out");
	}
	shell(0, "", "$SLUICE run c.yaml --out out --quiet >/dev/full");
	assert_int_equal(hash_run(&folder, "out"), whole);
	remove_run(&folder, "out");
	expect_untouched();
}

/* --- where and how it is run --------------------------------------------------------------- */

static void expect_whole(const char *line)
{
	shell(0, "", line);
	if (hash_run(&folder, "out") != whole)
		fail_msg("%s: other bytes", line);
	remove_run(&folder, "out");
	expect_untouched();
}

static void surroundings(void **state)
{
	(void)state;
	expect_whole("$SLUICE run c.yaml --out out <&-");
	expect_whole("$SLUICE run c.yaml --out out >&-");
	expect_whole("$SLUICE run c.yaml --out out 2>&-");
	expect_whole("$SLUICE run c.yaml --out out <&- >&- 2>&-");
	expect_whole("env -i LD_LIBRARY_PATH=$LD_LIBRARY_PATH $SLUICE run c.yaml --out out");
	expect_whole("unset HOME; TMPDIR=/nowhere $SLUICE run c.yaml --out out");
	expect_whole("here=$PWD; cd /proc && $SLUICE run $here/c.yaml --out $here/out");
	expect_whole("here=$PWD; mkdir gone; cd gone; rmdir ../gone;"
		     "$SLUICE run $here/c.yaml --out $here/out");
	expect_whole("LC_ALL=C.UTF-8 $SLUICE run c.yaml --out out");
	expect_whole("locale -a 2>/dev/null | grep -q de_DE.utf8 && export LC_ALL=de_DE.UTF-8;"
		     "$SLUICE run c.yaml --out out");
	expect_whole("umask 077; $SLUICE run c.yaml --out out &&"
		     "test -z \"$(find out -perm /077)\"");
	expect_whole("umask 000; $SLUICE run c.yaml --out out");
	expect_whole("nice -n 19 $SLUICE run c.yaml --out ./out//");
}

/* --- progress ------------------------------------------------------------------------------ */

/* Runs with stderr on a terminal; returns what appeared there, to be freed. */
static char *on_terminal(const char *option)
{
	enum { BYTES = 4096 };
	int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK), hold;
	char line[256], *seen = (char *)calloc(1, BYTES);
	ssize_t n;

	assert_non_null(seen);
	assert_true(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
	/* kept open on our side too, or what was written is lost when the program ends */
	hold = open(ptsname(terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(hold >= 0);
	snprintf(line, sizeof(line), "$SLUICE run c.yaml --out out %s 2>%s", option,
		ptsname(terminal));
	shell(0, "", line);
	n = read(terminal, seen, BYTES - 1);
	seen[n > 0 ? n : 0] = '\0';
	close(hold);
	close(terminal);
	remove_run(&folder, "out");
	return seen;
}

static void progress(void **state)
{
	struct ending e;
	char *seen = on_terminal("");

	(void)state;
	assert_non_null(strstr(seen, "100.0 %  4 of 4 batches"));
	free(seen);
	seen = on_terminal("--set 'stop={when: rel_error(transmitted) < 0.5, min_batches: 2}'");
	assert_non_null(strstr(seen, "100.0 %  2 of 2 batches"));
	free(seen);
	seen = on_terminal("--set 'stop=rel_error(transmitted) < 0.5'");
	assert_non_null(strstr(seen, "100.0 %  4 of at most 4 batches"));
	free(seen);
	seen = on_terminal("--quiet");
	assert_string_equal(seen, "");
	free(seen);
	call(&folder, NULL, WORDS("run", "c.yaml", "--out", "out"), &e);
	assert_string_equal(e.err, "");
	assert_non_null(strstr(e.out, "transmitted"));
	process_free(&e);
	remove_run(&folder, "out");
	call(&folder, NULL, WORDS("run", "c.yaml", "--out", "out", "--quiet"), &e);
	assert_string_equal(e.err, "");
	assert_string_equal(e.out, "");
	process_free(&e);
	call(&folder, NULL, WORDS("verify", "out", "--quiet"), &e);
	assert_int_equal(e.code, SL_OK);
	assert_string_equal(e.out, "");
	process_free(&e);
	remove_run(&folder, "out");
	expect_untouched();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(help_of_keys),
		cmocka_unit_test(help_of_words),
		cmocka_unit_test(help_of_all),
		cmocka_unit_test(lists),
		cmocka_unit_test(json),
		cmocka_unit_test(replays),
		cmocka_unit_test(infos),
		cmocka_unit_test(infos_of_mcpl),
		cmocka_unit_test(print_config),
		cmocka_unit_test(any_directory),
		cmocka_unit_test(plans),
		cmocka_unit_test(refused),
		cmocka_unit_test(bad_configuration),
		cmocka_unit_test(emulator),
		cmocka_unit_test(settings),
		cmocka_unit_test(locked),
		cmocka_unit_test(little_memory),
		cmocka_unit_test(little_disk),
		cmocka_unit_test(full_stdout),
		cmocka_unit_test(surroundings),
		cmocka_unit_test(progress),
	};

	return cmocka_run_group_tests(tests, begin, folder_end);
}
