/*
 * terminal.c - no byte of a file of others reaches the terminal as a control character or as invalid UTF-8:
 * the contents and names of files in messages and in what commands print.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/base/printable.h"
#include "stages/formats/common/crc_trailer.h"
#include "stages/formats/hdf5/hdf5_file.h"
#include "tests/support/formats/mcpl_lists.h"
#include "tests/support/formats/phase_space_files.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

/* An escape sequence, DEL, CSI as a character of C1 and as a byte, and a byte of Latin-1. */
#define EVIL "a\x1b[31m\x7f\xc2\x9b\x9b\xe9z"

static const char config[] = "run: {name: t, particles: 200, batch: 100}\n"
			     "model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, thickness: 0.1 cm}}\n"
			     "keep: transmitted\n";

/* Expects that what was printed is harmless, and that it shows the escape as a text. */
static void check(const char *text, bool shown, const char *const *words)
{
	uint32_t point;

	for (size_t n, at = 0; text[at]; at += n) {
		n = sl_utf8_decode((const unsigned char *)text + at, &point);
		if (n == 0 || (point < 0x20 && point != '\n' && point != '\t') ||
			(point >= 0x7f && point < 0xa0))
			fail_msg("sluice %s %s: byte %02x is printed: %s", words[1], words[2],
				(unsigned char)text[at], text);
	}
	if (shown && !strstr(text, "\\x1b[31m") && !strstr(text, "\\u001b[31m"))
		fail_msg("sluice %s %s does not show the text: %s", words[1], words[2], text);
}

/* Runs a command that prints the text to stdout or stderr. */
static void show(const char *const *words)
{
	struct ending e;

	call(&folder, NULL, words, &e);
	check(e.out, e.code == SL_OK, words);
	check(e.err, e.code != SL_OK, words);
	process_free(&e);
}

/* Runs a command that need not print the text. */
static void print(const char *const *words)
{
	struct ending e;

	call(&folder, NULL, words, &e);
	check(e.out, false, words);
	check(e.err, false, words);
	process_free(&e);
}

TEST(names_and_settings_are_printed_safely)
{
	write_text(&folder, EVIL ".yaml", "{");
	write_text(&folder, "key.yaml", "\"a\\e[31m\\x7f\\x9b\": 1\n");
	write_text(&folder, "value.yaml", "run: {name: \"a\\e[31m\\n\\x9b\"}\n");
	show(WORDS("run", EVIL ".yaml"));
	show(WORDS("run", "key.yaml"));
	show(WORDS("run", "value.yaml"));
	show(WORDS("run", "nothing" EVIL));
	show(WORDS("run", "c.yaml", "--set", EVIL "=1"));
	show(WORDS("run", "c.yaml", "--set", "keep=" EVIL));
	show(WORDS("run", "c.yaml", "--device", EVIL));
	show(WORDS("plan", "c.yaml", "--out", "out" EVIL));
	show(WORDS("info", "nothing" EVIL ".mcpl"));
	show(WORDS(EVIL, "a"));
	show(WORDS("run", "--" EVIL));
}

TEST(runs_are_printed_safely)
{
	struct sl_manifest m;
	struct sl_dir dir;

	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "out", "--quiet"));
	read_manifest(&folder, "out", &m);
	snprintf(m.line[1].file, sizeof(m.line[1].file), "%s", EVIL);
	assert_ok(sl_dir_open(folder_path(&folder, "out"), false, &dir));
	assert_ok(sl_manifest_write(&dir, &m));
	sl_dir_close(&dir);
	sl_manifest_free(&m);
	print(WORDS("verify", "out"));
	print(WORDS("convert", "out", "--to", "c.csv"));
	edit_run_json(&folder, "out", "\"state\": \"done", "\"state\": \"done\\u001b[31m\\u009b");
	show(WORDS("info", "out"));
	edit_run_json(&folder, "out", "\"name\": \"t\"", "\"name\": \"t\\u001b[31m\"");
	print(WORDS("status", "out"));
	edit_run_json(&folder, "out", "run:\\n", "\\\"a\\\\e[31m\\\": 1\\nrun:\\n");
	show(WORDS("verify", "out"));
	write_text(&folder, "out/run.json", "{\"a\": \"" EVIL "\", b\x1b[31m}");
	print(WORDS("status", "out"));
	print(WORDS("run", "c.yaml", "--out", "out", "--resume"));
	write_text(&folder, "out/LOCK", EVIL);
	print(WORDS("run", "c.yaml", "--out", "out", "--resume"));
}

/* Gives an object of an HDF5 file with a checksum line another name. */
static void rename_object(const char *file, const char *from, const char *to)
{
	size_t bytes;
	char *text;
	hid_t h;

	text = folder_read(&folder, file, &bytes);
	folder_write(&folder, file, text, bytes - SL_CRC_TRAILER_BYTES);
	free(text);
	h = H5Fopen(folder_path(&folder, file), H5F_ACC_RDWR, H5P_DEFAULT);
	assert_true(h >= 0);
	assert_true(H5Lmove(h, from, h, to, H5P_DEFAULT, H5P_DEFAULT) >= 0);
	H5Fclose(h);
	text = folder_read(&folder, file, &bytes);
	text = (char *)realloc(text, bytes + SL_CRC_TRAILER_BYTES);
	assert_non_null(text);
	sl_crc_trailer_add(text, bytes);
	folder_write(&folder, file, text, bytes + SL_CRC_TRAILER_BYTES);
	free(text);
}

TEST(files_of_hdf5_are_printed_safely)
{
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--quiet", "--set", "columns={q: w * w}",
			"--set", "output.columns=[id, q]", "--set", "tallies=[w:4]"));
	rename_object("out/t.tallies", "w", EVIL);
	show(WORDS("info", "out/t.tallies"));
	rename_object(
		"out/t_000000.h5", "data/0/particles/photons/q", "data/0/particles/photons/" EVIL);
	print(WORDS("info", "out/t_000000.h5", "--head", "1"));
	show(WORDS("convert", "out/t_000001.h5", "--to", EVIL ".csv"));
}

/* Columns of csv, texts of MCPL and IAEA files. */
TEST(lists_are_printed_safely)
{
	static const struct iaea_facts iaea = {.n = 1};
	static const char *const comments[] = {EVIL "\nParticles: 7"};
	const struct sl_mcpl_header mcpl = {.version = 3, .comments = 1};
	char *text, *at, *edited;
	size_t bytes;

	write_text(&folder, "a.csv", "# " EVIL "\nid," EVIL "\n1,2\n");
	print(WORDS("info", "a.csv"));
	make_list(&folder, "a.mcpl", &mcpl, comments, NULL);
	show(WORDS("info", "a.mcpl"));
	make_iaea(&folder, "i", &iaea);
	text = folder_read(&folder, "i.IAEAheader", &bytes);
	at = strstr(text, "$RECORD_CONTENTS");
	edited = (char *)calloc(1, bytes + 64);
	assert_true(at && edited);
	sprintf(edited, "%.*s$BYTE_ORDER:\n" EVIL "\n%s", (int)(at - text), text, at);
	write_text(&folder, "i.IAEAheader", edited);
	free(edited);
	free(text);
	print(WORDS("info", "i.IAEAheader"));
}

TEST(outputs_are_not_changed)
{
	static const char good[] = "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"; /* of 2, 3 and 4 bytes */
	char name[64], *out;

	snprintf(name, sizeof(name), "%s.yaml", good);
	write_text(&folder, name, config);
	snprintf(name, sizeof(name), "out/%s", good);
	out = output_of(&folder, WORDS("plan", "c.yaml", "--out", name));
	assert_non_null(strstr(out, name));
	free(out);
}

BEFORE_EACH()
{
	write_text(&folder, "c.yaml", config);
}
