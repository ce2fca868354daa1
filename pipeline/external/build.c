/* build.c - compiles the header of an external model, by build.sh. */
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model_interface.h"
#include "pipeline/external/external.h"
#include "primitives/files/files.h"

extern char **environ;

enum { LEVELS_UP = 4, OUTPUT_BYTES = 1 << 16 };

/* The value of CMAKE_HOME_DIRECTORY in the cache of a build folder; false if it is no build folder. */
static bool find_sources(const char *folder, char include[SL_PATH_BYTES])
{
	static const char key[] = "\nCMAKE_HOME_DIRECTORY:INTERNAL=";
	char path[SL_PATH_BYTES + 32], *text;
	const char *at;
	size_t size;

	snprintf(path, sizeof(path), "%s/CMakeCache.txt", folder);
	if (access(path, R_OK) != 0 || sl_path_read(path, SIZE_MAX, &text, &size) != SL_OK)
		return false;
	at = strstr(text, key);
	if (at)
		snprintf(include, SL_PATH_BYTES, "%.*s", (int)strcspn(at + strlen(key), "\n"),
			at + strlen(key));
	sl_memory_give(SL_HOST, text);
	return at != NULL;
}

/*
 * The folder of the files that are compiled with a model: include/sluice/model above that of the
 * program or of the Python package; in a build folder, the sources.
 */
static enum sl_status find_include(char include[SL_PATH_BYTES])
{
	char folder[SL_PATH_BYTES];
	Dl_info self;
	ssize_t n = readlink("/proc/self/exe", folder, sizeof(folder) - 1);

	if (dladdr(__extension__(void *) sl_external_build, &self) && self.dli_fname &&
		strstr(self.dli_fname, ".so"))
		n = snprintf(folder, sizeof(folder), "%s", self.dli_fname);
	folder[n > 0 ? n : 0] = '\0';
	for (int up = 0; up < LEVELS_UP && strrchr(folder, '/'); up++) {
		*strrchr(folder, '/') = '\0';
		snprintf(include, SL_PATH_BYTES, "%.3800s/include/sluice/model", folder);
		if (access(include, R_OK) == 0 || find_sources(folder, include))
			return SL_OK;
	}
	return sl_fail(SL_USAGE,
		"the folder include/sluice/model was not found next to the program; install it with the program");
}

/* Runs the script, and sets text to its output without the last newline. */
static enum sl_status run(char *const *words, char text[OUTPUT_BYTES], bool *done)
{
	posix_spawn_file_actions_t actions;
	size_t used = 0;
	int ends[2], error, status = 1;
	pid_t process;
	ssize_t n;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return sl_fail(SL_HOST_MEMORY, "no pipe could be made; close other programs");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	error = posix_spawnp(&process, words[0], &actions, NULL, words, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	while (error == 0 && used < OUTPUT_BYTES - 1 &&
		(n = read(ends[0], text + used, OUTPUT_BYTES - 1 - used)) > 0)
		used += (size_t)n;
	close(ends[0]);
	while (used > 0 && text[used - 1] == '\n')
		used--;
	text[used] = '\0';
	if (error == 0 && waitpid(process, &status, 0) != process)
		status = 1;
	*done = error == 0 && status == 0;
	return SL_OK;
}

enum sl_status sl_external_build(const char *header, const char *to, char path[SL_PATH_BYTES])
{
	char text[OUTPUT_BYTES];
	char include[SL_PATH_BYTES], script[SL_PATH_BYTES + 32];
	const char *words[] = {
		"sh", script, header, to ? to : "cache", SL_MODEL_INTERFACE, include, NULL};
	const char *last;
	bool done = false;

	SL_TRY(find_include(include));
	snprintf(script, sizeof(script), "%s/pipeline/external/build.sh", include);
	SL_TRY(run((char *const *)(uintptr_t)words, text, &done));
	last = strrchr(text, '\n') ? strrchr(text, '\n') + 1 : text;
	if (!done)
		return sl_fail(SL_USAGE, "%s: %s", header, last);
	snprintf(path, SL_PATH_BYTES, "%.*s", SL_PATH_BYTES - 1, last);
	return SL_OK;
}
