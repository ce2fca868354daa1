/*
 * manifest.c - libFuzzer target: reads arbitrary bytes as manifest.jsonl. The checksum of each line, if it has
 * one, is corrected first, because libFuzzer cannot find a valid checksum.
 */
#include "tests/fuzz/fuzz.h"

#include "pipeline/results/manifest.h"

/* Replaces the checksum at the end of a line, {... "crc32":"89abcdef"}, by that of the text before it. */
static void set_checksum(char *line, size_t bytes)
{
	static const char key[] = "\"crc32\":\"";
	char *at = (char *)memmem(line, bytes, key, sizeof(key) - 1);

	if (!at || (size_t)(line + bytes - at) < sizeof(key) - 1 + 8)
		return;
	fuzz_put_crc(at + sizeof(key) - 1, line, (size_t)(at - line));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sl_manifest m = {0};
	char *copy = (char *)malloc(size + 1), *next;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	for (char *line = copy; line < copy + size; line = next + 1) {
		next = (char *)memchr(line, '\n', (size_t)(copy + size - line));
		next = next ? next : copy + size;
		set_checksum(line, (size_t)(next - line));
	}
	fuzz_write("manifest.jsonl", copy, size);
	fuzz_check(sl_manifest_read(&fuzz_dir, &m));
	sl_manifest_free(&m);
	free(copy);
	return 0;
}
