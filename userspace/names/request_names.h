/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of requests, made of the texts that the probes have read. What identifies a user is left
 * out of a name, as far as it can be recognized.
 *
 * Used by sequence/open_requests.c, which has the texts of each request. Independent of the sequencer.
 */
#ifndef NAMES_REQUEST_NAMES_H
#define NAMES_REQUEST_NAMES_H

#include <stddef.h>

#include "gotrace/request.h"

#define REQUEST_NAME_MAX  256 /* bytes; longer names are cut */
#define REQUEST_NAME_SIZE (REQUEST_NAME_MAX + 1)
#define REQUEST_OTHER	  "other" /* once there are too many names */

#define REQUEST_PARTS	  3 /* the two texts of the begin, and the best of later ones */
#define REQUEST_BETTER	  2

/* Not terminated; of any bytes. Empty: it was empty or not recorded. */
struct request_part {
	const char *text;
	size_t len;
};

/*
 * Writes the name, of at least one byte, printable and terminated, into `ret`, which has
 * REQUEST_NAME_SIZE bytes. Returns its length.
 */
size_t request_name__make(enum gt_preset preset, const struct request_part part[REQUEST_PARTS],
			  char *ret);

#endif
