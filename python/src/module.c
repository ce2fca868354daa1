/*
 * module.c - the extension module sluice._native: jobs, columns, and files read as columns.
 *
 * It has what needs the library; what is pleasant to use is written in Python, in sluice/.
 */
#include "python/src/base/base.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/help/help.h"
#include "pipeline/results/results.h"
#include "pipeline/run/run.h"
#include "pipeline/text/text.h"
#include "primitives/device/device_block.h"
#include "primitives/emulator/settings.h"
#include "primitives/files/files.h"
#include "python/src/arrays/arrays.h"
#include "python/src/lists/lists.h"
#include "python/src/primitives/primitives.h"
#include "python/src/src.h"
#include "stages/formats/hdf5/hdf5.h"
#include "stages/formats/mcpl/mcpl.h"
#include "stages/formats/phase_space/phase_space.h"

/* --- files ------------------------------------------------------------------------------------ */

/* A file as a table in one block of memory. */
struct file_table {
	struct sl_table table;
	void *block; /* of sl_memory_get() */
	struct sl_mcpl_reading
		reading;          /* wide: real numbers have 8 bytes; at first whether they may */
	bool copies;              /* columns are copied, because the block has others too */
	struct sl_mcpl_head head; /* of a list, without its number of particles */
};

/* Reads an MCPL file of any program in memory, and keeps its header. */
static enum sl_status read_mcpl(const void *file, size_t bytes, struct file_table *f)
{
	bool recovered;

	SL_TRY(sl_py_mcpl_load(file, bytes, &f->reading, &f->table, &f->block));
	SL_TRY(sl_mcpl_head_read(file, bytes, &f->head, &recovered));
	f->head.fixed.particles = 0;
	sl_mcpl_head_finish(&f->head);
	return SL_OK;
}

/* The same for a list of another format, which becomes MCPL in memory first. */
static enum sl_status read_space(struct sl_phase_space *space, struct file_table *f)
{
	enum sl_status s;
	size_t bytes;
	void *file;

	SL_TRY(sl_phase_space_to_mcpl(space, &file, &bytes));
	s = read_mcpl(file, bytes, f);
	sl_memory_give(SL_HOST, file);
	return s;
}

/* Lists of any program, which need not have what this program writes. */
static enum sl_status read_list(const char *path, struct file_table *f)
{
	struct sl_phase_space *space = NULL;
	struct sl_map map;
	enum sl_status s;

	SL_TRY(sl_map_file(path, &map));
	if (sl_phase_space_is_foreign(path, &map))
		s = sl_phase_space_open(path, &map, &space);
	else
		s = read_mcpl(map.at, map.bytes, f);
	if (s == SL_OK && space)
		s = read_space(space, f);
	if (s == SL_OK && (sl_map_is_changed(&map, path) ||
				  (space && sl_phase_space_is_changed(space, path))))
		s = sl_fail(SL_BAD_INPUT,
			"the file was changed while it was read; read it again when its writer has "
			"ended");
	sl_phase_space_close(space);
	sl_unmap(&map);
	return sl_add_context(s, "%s", path);
}

/* only: NULL, or the names of the columns that are wanted, with commas between them. */
static enum sl_status read_table(const char *path, const char *only, struct file_table *f)
{
	const bool is_text = sl_path_ends_in(path, ".csv") || sl_path_ends_in(path, ".csv.gz");
	struct sl_survivors survivors;
	enum sl_status s;

	if (sl_path_ends_in(path, ".mcpl") || sl_path_ends_in(path, ".mcpl.gz") ||
		(!is_text && sl_phase_space_names_foreign(path))) {
		SL_TRY(read_list(path, f));
		f->table.only = only;
		f->copies = only != NULL;
		return SL_OK;
	}
	s = sl_survivors_read_columns(path, only, &survivors);
	if (s == SL_BAD_INPUT && is_text && sl_phase_space_names_foreign(path))
		return read_list(path, f);
	SL_TRY(s);
	f->reading.wide = false;
	f->table = survivors.table;
	f->block = survivors.block;
	return SL_OK;
}

/* Adds a column that views the block, or a copy of a constant one. False with an exception. */
static bool add_column(const struct file_table *f, uint32_t k, PyObject *block, PyObject *columns)
{
	const struct sl_table_column *c = &f->table.column[k];
	bool copied = c->constant || f->copies;
	void *data = c->data;

	if (copied && sl_py_copy_items(c, f->table.n, &data) != SL_OK)
		return PyErr_NoMemory() != NULL;
	return sl_py_table_put(columns, &f->table, k, f->reading.wide, copied ? NULL : block, data);
}

/* The bytes of the block up to the end of its last column. */
static size_t used_bytes(const struct file_table *f)
{
	size_t used = 0;

	for (uint32_t k = 0; k < f->table.n_columns; k++) {
		const struct sl_table_column *c = &f->table.column[k];
		size_t item = f->reading.wide ? sizeof(double) : sl_column_facts[c->column].bytes;
		size_t end = (size_t)((char *)c->data - (char *)f->block) + f->table.n * item;

		used = c->constant || end < used ? used : end;
	}
	return used;
}

/* (n, columns, rounded, header): rounded if the file has numbers of 8 bytes, read as 4. */
static PyObject *table_tuple(struct file_table *f)
{
	SL_PY_OWNED PyObject *block = sl_py_memory_of(f->block, used_bytes(f), NULL);
	SL_PY_OWNED PyObject *columns = block ? PyDict_New() : NULL;
	bool added = columns != NULL;

	for (uint32_t k = 0; added && k < f->table.n_columns; k++)
		if (sl_table_wants(&f->table, sl_table_name(&f->table, k)))
			added = add_column(f, k, block, columns);
	return added ? Py_BuildValue("(IOOy#)", (unsigned)f->table.n, columns,
			       f->reading.digits ? Py_True : Py_False, (const char *)f->head.bytes,
			       (Py_ssize_t)f->head.size)
	             : NULL;
}

static PyObject *read_file(PyObject *module, PyObject *args)
{
	struct file_table f = {.block = NULL};
	PyObject *made;
	const char *path, *only;
	int single;
	enum sl_status s;

	(void)module;
	if (!PyArg_ParseTuple(args, "szp", &path, &only, &single))
		return NULL;
	f.reading.wide = single == 0;
	Py_BEGIN_ALLOW_THREADS
	s = read_table(path, only, &f);
	Py_END_ALLOW_THREADS
	made = s == SL_OK ? table_tuple(&f) : sl_py_raise(s, sl_last_error(), NULL);
	if (s != SL_OK)
		sl_memory_give(SL_HOST, f.block);
	sl_mcpl_head_free(&f.head);
	return made;
}

/* --- the process ------------------------------------------------------------------------------ */

/*
 * Starts the processes that write HDF5 files. With the interpreter's lock held: other modules that
 * use the HDF5 library hold it too, so the fork finds the library at rest.
 */
static PyObject *start_writers(PyObject *module, PyObject *none)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	enum sl_status s = sl_h5_writers_start(cores > 2 ? (uint32_t)cores / 2 : 1);

	(void)module, (void)none;
	if (s != SL_OK)
		return sl_py_raise(s, sl_last_error(), NULL);
	Py_RETURN_NONE;
}

/* Before the interpreter ends: a run would go on while the memory of the process is taken apart. */
static PyObject *shut_down(PyObject *module, PyObject *none)
{
	(void)module, (void)none;
	Py_BEGIN_ALLOW_THREADS
	sl_py_turn_stop(SL_STOP_AT_ONCE);
	Py_END_ALLOW_THREADS
	Py_RETURN_NONE;
}

/* The text of sluice version. */
static PyObject *build_info(PyObject *module, PyObject *none)
{
	struct sl_text_memory t;
	PyObject *made;
	size_t bytes;
	char *text;

	(void)module, (void)none;
	if (sl_text_memory_begin(&t) != SL_OK)
		return PyErr_NoMemory();
	sl_version_print(t.out);
	if (sl_text_memory_end(&t, "the version", &text, &bytes) != SL_OK)
		return PyErr_NoMemory();
	made = PyUnicode_DecodeUTF8(text, (Py_ssize_t)bytes, "replace");
	free(text);
	return made;
}

/* [(name, type, unit, help)] of all columns. */
static PyObject *column_facts(PyObject *module, PyObject *none)
{
	PyObject *list = PyList_New(0);

	(void)module, (void)none;
	for (int c = 0; list && c < SL_COLUMN_COUNT; c++) {
		const struct sl_column_facts *f = &sl_column_facts[c];
		const struct sl_py_array like = sl_py_items_of((enum sl_column)c);

		if (!sl_is_named_column(c))
			sl_py_append(&list, Py_BuildValue("(ssss)", f->name, sl_py_type_name(&like),
						    sl_units[f->unit].text, f->help));
	}
	return list;
}

/* The names of all fates, in the order of the numbers in the column fate. */
static PyObject *fate_names(PyObject *module, PyObject *none)
{
	PyObject *list = PyList_New(0);

	(void)module, (void)none;
	for (int f = 0; list && f < SL_FATE_COUNT; f++)
		sl_py_append(&list, PyUnicode_FromString(sl_fate_facts[f].name));
	return list;
}

/*
 * Ends the process, as the program does, unless it fails with an exception. words: list of bytes.
 */
static PyObject *run_program(PyObject *module, PyObject *words)
{
	Py_ssize_t n = PyList_Size(words);
	char **argv = (char **)calloc((size_t)n + 1, sizeof(*argv));

	(void)module;
	if (!argv)
		return PyErr_NoMemory();
	for (Py_ssize_t i = 0; i < n; i++)
		argv[i] = PyBytes_AsString(PyList_GetItem(words, i));
	return PyLong_FromLong(sl_program_main((int)n, argv));
}

static PyMethodDef functions[] = {{"start", sl_py_start, METH_VARARGS, "Starts a job."},
	{"read", read_file, METH_VARARGS,
		"read(path, names, single): (n, columns, rounded, header) of a file."},
	{"bind", sl_py_bind, METH_VARARGS,
		"The class of columns, and the function that makes one."},
	{"concat", sl_py_concat, METH_O, "Memory of a device with the items of several columns."},
	{"dlpack", sl_py_dlpack, METH_VARARGS, "A capsule of a column of a device."},
	{"write_mcpl", sl_py_write_mcpl, METH_VARARGS, "Writes arrays as an MCPL file."},
	{"filter", sl_py_filter_call, METH_VARARGS, "Selects and sorts particles."},
	{"primitive", sl_py_primitive, METH_VARARGS, "Calls a primitive."},
	{"program", run_program, METH_O, "The program with these words; ends the process."},
	{"start_writers", start_writers, METH_NOARGS, "Starts the processes that write HDF5."},
	{"shut_down", shut_down, METH_NOARGS, "Ends the job that works, and starts no other."},
	{"build_info", build_info, METH_NOARGS, "The text of sluice version."},
	{"column_facts", column_facts, METH_NOARGS, "[(name, type, unit, help)] of all columns."},
	{"fate_names", fate_names, METH_NOARGS, "The names of all fates."}, {NULL, NULL, 0, NULL}};

/* The library has state of the process. The first interpreter has the number 0. */
static bool is_main_interpreter(void)
{
	if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0)
		return true;
	PyErr_SetString(PyExc_ImportError,
		"sluice works in the main interpreter of a process only, and this is a subinterpreter; "
		"import it in the main interpreter, or use processes (multiprocessing)");
	return false;
}

/* Called once for each interpreter. */
static int fill_module(PyObject *module)
{
	if (!is_main_interpreter())
		return -1;
	/* A misspelt setting of the environment must not be ignored. */
	if (sl_emulator_settings_problem()) {
		PyErr_SetString(PyExc_ImportError, sl_emulator_settings_problem());
		return -1;
	}
	if (!sl_py_job_type_make() || !sl_py_memory_make_type() ||
		PyModule_AddStringConstant(module, "version", sl_version()) < 0)
		return -1;
	sl_py_turn_reset();
	pthread_atfork(NULL, NULL, sl_py_turn_reset);
	pthread_atfork(NULL, NULL, sl_py_call_reset);
	pthread_atfork(NULL, NULL, sl_blocks_reset);
	return 0;
}

PyMODINIT_FUNC PyInit__native(void); /* called by the interpreter */
PyMODINIT_FUNC PyInit__native(void)
{
	static PyModuleDef_Slot slots[] = {
		{Py_mod_exec, (void *)(uintptr_t)fill_module}, {0, NULL}};
	static struct PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
		.m_name = "sluice._native",
		.m_doc = "The C functions that the package sluice calls.",
		.m_methods = functions,
		.m_slots = slots};

	return PyModuleDef_Init(&definition);
}
