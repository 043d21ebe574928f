// SPDX-License-Identifier: GPL-2.0
/*
 * SHA-256 of files: see digest.h. GnuTLS computes it, with the instructions of the CPU for it.
 */
#include "ship/digest.h"

#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <unistd.h>

#define STEP_BYTES (4u << 20) /* about 10 ms */
#define READ_BYTES (64u << 10)

int digest__begin(struct digest *d)
{
	gnutls_hash_hd_t hash;

	digest__end(d);
	if (gnutls_hash_init(&hash, GNUTLS_DIG_SHA256))
		return -ENOMEM;
	*d = (struct digest){ hash, 0 };
	return 0;
}

static void format(const unsigned char *raw, struct digest_text *ret)
{
	for (unsigned int i = 0; i < DIGEST_LEN; i++)
		snprintf(ret->hex + 2 * i, 3, "%02x", raw[i]);
	base64__encode(ret->base64, raw, DIGEST_LEN);
}

int digest__step(struct digest *d, int fd, uint64_t size, struct digest_text *ret)
{
	unsigned char data[READ_BYTES], raw[DIGEST_LEN];
	uint64_t end = size - d->at < STEP_BYTES ? size : d->at + STEP_BYTES;
	ssize_t n;

	for (; d->at < end; d->at += (uint64_t)n) {
		n = pread(fd, data, end - d->at < sizeof(data) ? end - d->at : sizeof(data),
			  (off_t)d->at);
		if (n <= 0)
			return n ? -errno : -ENODATA;
		if (gnutls_hash(d->hash, data, (size_t)n))
			return -EIO;
	}
	if (d->at < size)
		return 0;
	gnutls_hash_deinit(d->hash, raw);
	d->hash = NULL;
	format(raw, ret);
	return 1;
}

void digest__end(struct digest *d)
{
	if (d->hash)
		gnutls_hash_deinit(d->hash, NULL);
	d->hash = NULL;
}
