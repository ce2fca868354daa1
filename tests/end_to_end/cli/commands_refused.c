/*
 * commands_refused.c - invalid command lines: every case ends with its exit code and message, and
 * no file is touched.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/program/commands_check.h"

struct refusal {
	int code;
	const char *says;
	const char *words[8];
};

static const struct refusal refusals[] = {
	{SL_USAGE, "no command", {"sluice"}},
	{SL_USAGE, "rum: unknown command, did you mean run; see", {"sluice", "rum"}},
	{SL_USAGE, "run needs CONFIG; see sluice help run", {"sluice", "run"}},
	{SL_USAGE, "plan needs CONFIG", {"sluice", "plan"}},
	{SL_USAGE, "verify needs DIR", {"sluice", "verify"}},
	{SL_USAGE, "info needs FILE|DIR", {"sluice", "info"}},
	{SL_USAGE, "run takes 1 operand, not 2", {"sluice", "run", "c.yaml", "c.yaml"}},
	{SL_USAGE, "list takes 0 operands, not 1", {"sluice", "list", "models"}},
	{SL_USAGE, "help takes 1 operand, not 2", {"sluice", "help", "run", "plan"}},
	{SL_USAGE, "version takes 0 operands", {"sluice", "version", "x"}},
	{SL_USAGE,
		"--completion 'csh': there is no completion for this shell; use bash, zsh or fish",
		{"sluice", "help", "--completion", "csh"}},
	{SL_USAGE, "--completion: the option needs a value", {"sluice", "help", "--completion"}},
	{SL_USAGE, "help --completion prints all commands and options, so it takes no word",
		{"sluice", "help", "run", "--completion", "bash"}},
	{SL_USAGE, "help --man 'run.seed': only commands have a manual page",
		{"sluice", "help", "run.seed", "--man"}},
	{SL_USAGE, "--markdown, --man and --completion exclude each other",
		{"sluice", "help", "--man", "--markdown"}},
	{SL_USAGE, "--man has no effect on run", {"sluice", "run", "c.yaml", "--man"}},
	{SL_USAGE, "--nothing: unknown option", {"sluice", "run", "c.yaml", "--nothing"}},
	{SL_USAGE, "-x: unknown option", {"sluice", "run", "c.yaml", "-xy"}},
	{SL_USAGE, "--quiet=1: the option takes no value",
		{"sluice", "run", "c.yaml", "--quiet=1"}},
	{SL_USAGE, "--set: the option needs a value", {"sluice", "run", "c.yaml", "--set"}},
	{SL_USAGE, "--out: the option needs a value", {"sluice", "run", "c.yaml", "--out"}},
	{SL_USAGE, "'=' is missing between key and value",
		{"sluice", "run", "c.yaml", "--set", "run.seed"}},
	{SL_USAGE, "is not of the form key=value", {"sluice", "run", "c.yaml", "--set", "=7"}},
	{SL_DISK, "run.json", {"sluice", "info", "."}},
	{SL_BAD_INPUT, "c.yaml: the suffix belongs to no format", {"sluice", "info", "c.yaml"}},
	{SL_USAGE, "--json has no effect on info", {"sluice", "info", "c.yaml", "--json"}},
	{SL_USAGE, "--resume has no effect on plan", {"sluice", "plan", "c.yaml", "--resume"}},
	{SL_USAGE, "verify reads no configuration, so it takes no settings; remove run.seed=2",
		{"sluice", "verify", ".", "--set", "run.seed=2"}},
	{SL_USAGE, "replay needs CONFIG", {"sluice", "replay", "--id", "1"}},
	{SL_USAGE, "replay needs --id N (id of the particle, from 0); add",
		{"sluice", "replay", "c.yaml"}},
	{SL_USAGE, "--id: the option needs a value", {"sluice", "replay", "c.yaml", "--id"}},
	{SL_USAGE, "--id x: the value must be a whole",
		{"sluice", "replay", "c.yaml", "--id", "x"}},
	{SL_USAGE, "--id 7x: the value must be a whole",
		{"sluice", "replay", "c.yaml", "--id", "7x"}},
	{SL_USAGE, "--id -1: the value must be a whole",
		{"sluice", "replay", "c.yaml", "--id", "-1"}},
	{SL_USAGE, "--id 0.5: the value must be a whole",
		{"sluice", "replay", "c.yaml", "--id", "0.5"}},
	{SL_USAGE, "--id 1e30: the value must be a whole",
		{"sluice", "replay", "c.yaml", "--id", "1e30"}},
	{SL_USAGE, "(the run has 10000, from 0 to 9999)",
		{"sluice", "replay", "c.yaml", "--id", "1e4"}},
	{SL_USAGE, "--id has no effect on run (it is an option of replay)",
		{"sluice", "run", "c.yaml", "--id", "0"}},
	{SL_USAGE, "--quiet has no effect on replay",
		{"sluice", "replay", "c.yaml", "--id", "0", "--quiet"}},
	{SL_USAGE,
		"the option for run.threads=2 says how a run computes or where it writes; replay "
		"takes settings by --set only",
		{"sluice", "replay", "c.yaml", "--id", "0", "--threads", "2"}},
	{SL_USAGE, "run.sede", {"sluice", "replay", "c.yaml", "--id", "0", "--set", "run.sede=7"}},
	{SL_USAGE, "list reads no configuration, so it takes no settings; remove run.threads=2",
		{"sluice", "list", "--threads", "2"}},
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
	{SL_USAGE, "run.mode: fused needs a device, but this run computes on the CPU",
		{"sluice", "run", "c.yaml", "--mode", "fused", "--device", "cpu"}},
	{SL_USAGE, "'x' is not a backend of scan", {"sluice", "run", "c.yaml", "--scan", "x"}},
	{SL_USAGE, "'x' is not a backend of compact",
		{"sluice", "run", "c.yaml", "--compact", "x"}},
	{SL_USAGE, "'x' is not a backend of sort", {"sluice", "run", "c.yaml", "--sort", "x"}},
	{SL_USAGE, "'x' is not a backend of deflate",
		{"sluice", "run", "c.yaml", "--deflate", "x"}},
	{SL_USAGE, "primitives.scan: 'naive' runs on a device, but this run computes on the CPU",
		{"sluice", "run", "c.yaml", "--scan", "naive", "--device", "cpu"}},
	{SL_USAGE, "primitives.sort: 'cpu' runs on the host",
		{"sluice", "run", "c.yaml", "--sort", "cpu", "--device", "emulated"}},
	{SL_USAGE, "primitives.scan: 'blok=1' is not a tuning parameter",
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

TEST(invalid_command_lines_are_refused)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		expect(&folder, refusals[i].code, refusals[i].says, refusals[i].words);
		expect_untouched();
	}
}

/* All errors are reported at once, and no output folder is made. */
TEST(invalid_configurations_are_refused)
{
	write_text(&folder, "bad.yaml", "run: {particles: 0, sede: 1}\nmodel: {slap: {}}\n");
	shell(SL_USAGE, "bad.yaml:1:18: run.particles",
		"$SLUICE run bad.yaml --out out || { rc=$?; test ! -e out && exit $rc; }");
	expect(&folder, SL_USAGE, "run.sede: unknown key; use seed",
		WORDS("run", "bad.yaml", "--out", "out"));
	expect(&folder, SL_USAGE, "slap", WORDS("plan", "bad.yaml", "--out", "out"));
	unlink(folder_path(&folder, "bad.yaml"));
	expect_untouched();
}

/*
 * An invalid SL_EMULATOR is reported as an error of the environment variable, also if the run does not
 * use the emulated device.
 */
TEST(invalid_emulator_settings_are_refused)
{
	shell(SL_USAGE, "SL_EMULATOR: \"block=4\" is not a setting",
		"SL_EMULATOR=block=4 $SLUICE plan c.yaml --device emulated");
	shell(SL_USAGE, "SL_EMULATOR: \"block=4\" is not a setting",
		"SL_EMULATOR=block=4 $SLUICE plan c.yaml --device cpu");
	expect_untouched();
}

/* Processes that mpirun starts would all compute the same run; parts of it are different runs. */
TEST(several_processes_need_mpi_or_parts)
{
	char *version = output_of(&folder, WORDS("version"));

	if (strstr(version, "built without MPI")) {
		shell(SL_USAGE,
			"one of 4 processes that were started for MPI, but this program was "
			"built without MPI",
			"OMPI_COMM_WORLD_SIZE=4 $SLUICE run c.yaml --out out");
		shell(SL_USAGE, "one of 4 processes", "PMI_SIZE=4 $SLUICE run c.yaml --out out");
		shell(SL_USAGE, "one of 4 processes",
			"PMIX_RANK=1 SLURM_NTASKS=4 $SLUICE run c.yaml --out out");
		shell(SL_OK, "",
			"OMPI_COMM_WORLD_SIZE=4 $SLUICE run c.yaml --out out --part 1/4 --quiet && rm -r out");
		shell(SL_OK, "",
			"OMPI_COMM_WORLD_SIZE=1 $SLUICE run c.yaml --out out --quiet && rm -r out");
	}
	free(version);
	expect_untouched();
}

BEFORE_TESTS()
{
	commands_begin();
}
