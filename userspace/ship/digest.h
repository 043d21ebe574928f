/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SHA-256 of files, in steps, so that a large file does not delay others. Used by transfer.c.
 */
#ifndef SHIP_DIGEST_H
#define SHIP_DIGEST_H

#include <stdint.h>

#include "lib/base64.h"

#define DIGEST_LEN	  32
/* The SHA-256 of no bytes, hexadecimal */
#define DIGEST_OF_NOTHING "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

struct digest_text {
	char hex[2 * DIGEST_LEN + 1];
	char base64[BASE64_SIZE(DIGEST_LEN)];
};

struct digest {
	void *hash; /* of GnuTLS; NULL: none is open */
	uint64_t at;
};

/* Begins with the first byte, also after an unfinished one. 0 or -ENOMEM. */
int digest__begin(struct digest *d);
/*
 * Reads on, up to `size` bytes of the file. 1: complete, in *ret, and nothing is open any more; 0:
 * to be continued; or a negative errno, -ENODATA: the file is shorter.
 */
int digest__step(struct digest *d, int fd, uint64_t size, struct digest_text *ret);
void digest__end(struct digest *d);

#endif
