/* load.c - loads the shared object of an external model. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "model_interface.h"
#include "pipeline/external/external.h"

/*
 * A model calls functions of this program. Those of the executable are visible to it; the extension
 * module of Python, which has no such place, makes its own visible here.
 */
static void show_functions(void)
{
	Dl_info self;

	if (dladdr(__extension__(void *) sl_external_load, &self) && self.dli_fname)
		(void)dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

/* Checks what the object exports, and adds the model. */
static enum sl_status add(
	const char *path, const struct sl_external *external, const struct sl_model **model)
{
	const struct sl_model *m = external ? external->model : NULL;

	if (!external)
		return sl_fail(SL_BAD_INPUT,
			"%s: is no model, as it lacks the symbol sl_external; make it with sluice model build",
			path);
	if (strcmp(external->interface, SL_MODEL_INTERFACE) != 0)
		return sl_fail(SL_BAD_INPUT,
			"%s: was built for another version of the program (interface %.16s, this one "
			"has " SL_MODEL_INTERFACE "); build it again with sluice model build",
			path, external->interface);
	if (!m->help || !m->species)
		return sl_fail(SL_BAD_INPUT,
			"%s: SL_MODEL() lacks .help or .species; add it, and build again", path);
	if (!sl_model_add(m))
		return sl_fail(SL_USAGE,
			"%s: the program has a model %s, or already %d models; use another name",
			path, m->name, SL_MODELS_MAX);
	if (model)
		*model = m;
	return SL_OK;
}

enum sl_status sl_external_load(const char *path, const struct sl_model **model)
{
	char full[SL_PATH_BYTES + 2], built[SL_PATH_BYTES];
	const size_t n = strlen(path);
	void *object;

	if (n > 2 && strcmp(path + n - 2, ".h") == 0 && access(path, R_OK) == 0) {
		SL_TRY(sl_external_build(path, NULL, built));
		path = built;
	}
	/* without a slash, dlopen() would look in the folders of the system */
	snprintf(full, sizeof(full), "%s%s", strchr(path, '/') ? "" : "./", path);
	show_functions();
	object = dlopen(full, RTLD_NOW | RTLD_LOCAL);
	if (!object)
		return sl_fail(SL_BAD_INPUT,
			"%s: cannot be loaded (%s); name a file that sluice model build has made",
			path, dlerror());
	return add(path, (const struct sl_external *)dlsym(object, "sl_external"), model);
}

enum sl_status sl_external_load_list(const char *list, char separator)
{
	char path[SL_PATH_BYTES];

	while (list && *list) {
		const char *end = strchrnul(list, separator);

		snprintf(path, sizeof(path), "%.*s", (int)(end - list), list);
		if (path[0])
			SL_TRY(sl_external_load(path, NULL));
		list = end + (*end != '\0');
	}
	return SL_OK;
}
