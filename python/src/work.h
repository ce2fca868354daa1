/*
 * work.h - what jobs do, in their threads: calls of the pipeline that fill in the outcome of the
 * job.
 */
#ifndef SL_PYTHON_WORK_H
#define SL_PYTHON_WORK_H

#include "python/src/job.h"

/* Each is a struct sl_py_job.work; "run" and the others are their names in Python. */
enum sl_status sl_py_work_run(struct sl_py_job *job);     /* text: run.json; facts: directory */
enum sl_status sl_py_work_check(struct sl_py_job *job);   /* reads and resolves a configuration */
enum sl_status sl_py_work_plan(struct sl_py_job *job);    /* text: that of sluice plan */
enum sl_status sl_py_work_compare(struct sl_py_job *job); /* text: JSON; facts: its tables */
enum sl_status sl_py_work_replay(struct sl_py_job *job);  /* text: JSON of the history */
enum sl_status sl_py_work_verify(struct sl_py_job *job);  /* text: JSON of the counts */
enum sl_status sl_py_work_convert(struct sl_py_job *job); /* text: notes */
enum sl_status sl_py_work_info(struct sl_py_job *job);    /* text: that of sluice info */

#endif
