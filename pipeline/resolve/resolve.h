/*
 * resolve.h - turns plain values into choices: names become models, backends, fates and columns.
 *
 * Input: a configuration and its reader. Output: struct sl_choices, or problems that the reader
 * collects. Everything that can be refused without looking at memory and disk is refused here, all
 * problems in one report; pipeline/plan checks memory and disk. The only property of the machine
 * that is looked at is the device, because the backends depend on it.
 *
 *   choices/     the result, and look-ups of fates and columns
 *   condition/   keep and columns: the expression parser
 *   output/      what is written: sort key, histograms, image, MCPL, stop rule
 *   execution/   how it is computed: device, schedule, backends, mode
 */
#ifndef SL_PIPELINE_RESOLVE_RESOLVE_H
#define SL_PIPELINE_RESOLVE_RESOLVE_H

#include "pipeline/resolve/choices/choices.h"

/*
 * Fills *choices and adds all problems to r; sets run.particles of a model that reads all of its
 * files. Returns the verdict of r; without problems, SL_NO_DEVICE when the device that run.device
 * names cannot be used. The device becomes current for the calling thread. run.device: auto means
 * the first CUDA device, or the emulated device after sl_device_emulate(true).
 */
enum sl_status sl_resolve(struct sl_config *c, struct sl_reader *r, struct sl_choices *choices);

/* --- input files ------------------------------------------------------------------------------ */

struct sl_list_config;

/* The lists of the model list, or of the source of another model; NULL: there are none. */
struct sl_list_config *sl_lists_of(struct sl_config *c);

/* The key of a leaf in the section of the lists: "model.list.files", for messages. */
const char *sl_list_key(const struct sl_config *c, const char *leaf);

/*
 * For a model that reads particles: opens its files and records in *c how many particles they have
 * and which columns are constant. For a model whose particles start from lists: how many do. Wrong
 * names add problems; a damaged file is the result. Does nothing for other models.
 */
enum sl_status sl_resolve_inputs(struct sl_resolver *v);

#endif
