/* version.h - which program this is. */
#ifndef SL_PIPELINE_TEXT_VERSION_H
#define SL_PIPELINE_TEXT_VERSION_H

/* The version, "0.1.0". */
const char *sl_version(void);

/* The git commit at the time of configuration, with "-dirty" if files were changed; or "unknown". */
const char *sl_commit(void);

/* The date of that commit, "2026-01-31"; the day of the configuration if the commit is unknown. */
const char *sl_commit_date(void);

#endif
