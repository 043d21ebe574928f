/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The keys that sign requests: from the environment, or from a file of this user.
 *
 * They are never printed, and no option takes them, since every user can read command lines.
 * Used by transfer.c.
 */
#ifndef SHIP_CREDENTIALS_H
#define SHIP_CREDENTIALS_H

#include <stddef.h>

#include "lib/error.h"

#define CREDENTIALS_SIZE 4096 /* a session token has 1 to 2 KiB */

struct credentials {
	char id[128], secret[256];
	char token[CREDENTIALS_SIZE]; /* of temporary keys; "": none */
};

/*
 * Reads `path`, which has the lines of the files of other S3 clients ("aws_access_key_id = ..."),
 * of which the section [default] counts; NULL: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and
 * AWS_SESSION_TOKEN. 0, or a negative errno and the reason: keys are missing, or another user can
 * read the file.
 */
int credentials__read(struct credentials *ret, const char *path, struct error *error);
/* The same of the `len` bytes of such a file. They are changed, and text[len] must be writable. */
int credentials__parse(struct credentials *ret, char *text, size_t len, struct error *error);
void credentials__clear(struct credentials *c);

#endif
