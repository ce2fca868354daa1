/* physics_run.h - one run of a configuration of data/configs, whose tallies a test program checks. */
#ifndef SL_TESTS_SUPPORT_TALLIES_PHYSICS_RUN_H
#define SL_TESTS_SUPPORT_TALLIES_PHYSICS_RUN_H

#include "pipeline/text/yaml.h"

/* run.json of the run; set by physics_begin(). */
extern struct sl_yaml *report;

/*
 * For the setup of a group: runs the configuration of that name with full particles, or with quick of them if
 * is_quick(), for example "run.particles=1e6".
 */
void physics_begin(const char *config, const char *full, const char *quick);

/* The teardown of a group. */
void physics_end(void);

#endif
