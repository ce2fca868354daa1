/*
 * constant_keys.c - sort keys of columns that have one value for all particles, with more survivors than a block of
 * the host (SL_HOST_BLOCK, 4096): the same bytes on the CPU and the emulated device, in id order.
 */
#include "stages/formats/formats.h"
#include "tests/support/runs/reference_run.h"

static const char text[] = "run: {name: t, seed: 7, particles: 9000, batch: 9000}\n"
			   "model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, thickness: 0.1 cm}}\n"
			   "keep: transmitted\n"
			   "key: [weight:8:0..2]\n"
			   "output: {format: mcpl, mcpl: {energy: 2 eV}}\n";

/* All particles of the list are photons of weight 1. */
static const char list_text[] = "run: {name: t, batch: 9000}\n"
				"model: {list: {files: [whole/*.mcpl]}}\n"
				"keep: listed\n"
				"key: [pdg:32]\n"
				"output: {format: npz}\n";

static void expect_same_bytes(const char *config, const char *key)
{
	static const char *const out[] = {"cpu", "emulated"};
	uint64_t hash[2];

	for (int k = 0; k < 2; k++) {
		expect(&folder, SL_OK, "",
			WORDS("run", config, "--device", out[k], "--out", out[k], "--quiet",
				"--set", key));
		expect(&folder, SL_OK, "", WORDS("verify", out[k], "--quiet"));
		hash[k] = hash_run(&folder, out[k]);
		remove_run(&folder, out[k]);
	}
	if (hash[0] != hash[1])
		fail_msg("%s, %s: other files on the CPU", config, key);
}

TEST(constant_keys_of_a_model)
{
	expect_same_bytes("c.yaml", "key=[weight:8:0..2]");
	expect_same_bytes("c.yaml", "key=[weight:float]");
	expect_same_bytes("c.yaml", "key=[w:4, weight:8:0..2]");
}

TEST(constant_keys_of_a_list)
{
	write_text(&folder, "list.yaml", list_text);
	expect_same_bytes("list.yaml", "key=[pdg:32]");
	expect_same_bytes("list.yaml", "key=[weight:float]");
	expect_same_bytes("list.yaml", "key=[userflags:32, w:4]");
}

BEFORE_TESTS()
{
	assert_ok(sl_formats_start());
	reference_run_begin(text);
}
