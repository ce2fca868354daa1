/*
 * image.h - resolves output.image and output.white: does the run make an image, and of what?
 */
#ifndef SL_PIPELINE_RESOLVE_OUTPUT_IMAGE_H
#define SL_PIPELINE_RESOLVE_OUTPUT_IMAGE_H

#include "pipeline/config/reader/reader.h"
#include "pipeline/resolve/choices/choices.h"

/*
 * Sets choices->image when output.image is true, and checks that keep and the columns fit. rules:
 * choices->rules are made. Call it after keep and the columns are resolved.
 */
void sl_resolve_image(
	const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices, bool rules);

#endif
