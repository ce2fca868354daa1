/* small_disk.c - a run needs no room on the disk for files that it has written already. Other disks: faults/limits. */
#include <limits.h>
#include <stdio.h>

#include "tests/support/basic/small_disk.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

TEST(written_files_need_no_room)
{
	static const char fill[] =
		"rm small/out/t_000009.h5; head -c $(($(df --output=avail -B1 small | tail -1) "
		"- 1000000)) /dev/zero >small/fill";
	const char *const *run =
		WORDS("run", "c.yaml", "--out", "small/out", "--quiet", "--resume");
	const struct process p = {
		.argv = (const char *const[]){"sh", "-c", fill, NULL}, .folder = folder.path};
	char small[PATH_MAX];
	struct ending e;

	write_text(&folder, "c.yaml",
		"run: {name: t, seed: 7, particles: 30000, batch: 3000, threads: 2}\n"
		"model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, thickness: 0.1 cm}}\n"
		"keep: transmitted\n");
	snprintf(small, sizeof(small), "%s", folder_path(&folder, "small"));
	small_disk_mount(small, "size=6m");
	expect(&folder, SL_OK, "", run);
	process_run(&p, HANG_SECONDS, &e);
	expect_ending(&e, 0, "", p.argv);
	expect(&folder, SL_OK, "", run);
	expect(&folder, SL_OK, "", WORDS("verify", "small/out", "--quiet"));
	small_disk_unmount(small);
}
