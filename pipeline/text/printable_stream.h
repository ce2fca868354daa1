/*
 * printable_stream.h - the standard output of the program, without what a terminal would obey.
 */
#ifndef SL_PIPELINE_TEXT_PRINTABLE_STREAM_H
#define SL_PIPELINE_TEXT_PRINTABLE_STREAM_H

#include "primitives/base/status.h"

/*
 * Makes all that is written to stdout printable (primitives/base/printable.h), except line breaks
 * and tabs: commands print names and texts that are in files of others. SL_HOST_MEMORY if there is
 * no memory for it.
 */
enum sl_status sl_printable_stdout(void);

#endif
