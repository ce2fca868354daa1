/* version.h - which program this is. */
#ifndef SL_PIPELINE_TEXT_VERSION_H
#define SL_PIPELINE_TEXT_VERSION_H

/* The version, "0.1.0". */
const char *sl_version(void);

/*
 * The git commit at the time of configuration, with "-dirty" if files were changed; or "unknown".
 */
const char *sl_commit(void);

#endif
