// SPDX-License-Identifier: GPL-2.0
/* Arbitrary bytes as a file, mainly gzip and zstd: the output must not depend on the read size. */
#include <stdint.h>
#include <stdlib.h>

#include "lib/input.h"

#define ENOUGH (4u << 20) /* bytes: small ones unpack to gigabytes */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct result {
	uint64_t len;
	uint32_t sum;
	int code;
};

static void add(struct result *r, const unsigned char *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		r->sum = r->sum * 31 + data[i];
	r->len += len;
}

static struct result read_by(const uint8_t *data, size_t size, size_t want)
{
	struct result r = {};
	const unsigned char *bytes;
	struct error err = {};
	struct input *in;
	size_t len;

	r.code = input__open_memory(&in, data, size, &err);
	if (r.code)
		return r;
	while (r.len < ENOUGH) {
		r.code = input__need(in, want, &bytes, &len, &err);
		if (r.code || !len)
			break;
		if (len > want)
			len = want;
		add(&r, bytes, len);
		input__consume(in, len);
		if (input__offset(in) != r.len)
			abort();
	}
	if (r.code && !err.text[0])
		abort();
	input__destroy(in);
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct result most = read_by(data, size, INPUT_WINDOW), some = read_by(data, size, 1 << 10);

	if (some.len >= ENOUGH)
		return 0;
	/* Of a broken stream a whole window may not be there, though its beginning is. */
	if (most.code != some.code || some.len < most.len ||
	    (!most.code && (most.len != some.len || most.sum != some.sum)))
		abort();
	return 0;
}
