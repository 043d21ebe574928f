// SPDX-License-Identifier: GPL-2.0
/*
 * The header of a trace: trace/header.h.
 *
 * Versions up to 1.21 are read by trace/v1_parse.c, later ones by trace/decode.c.
 */
#include "trace/header.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/buf.h"
#include "trace/spec.h"

/* The version, or -EPROTONOSUPPORT. */
static int parse(const unsigned char *data, size_t len)
{
	char header[TRACE_HEADER_LEN + 1] = "", expected[TRACE_HEADER_LEN + 1] = "";
	struct buf b = buf__make(data, len);
	const void *bytes;
	int version;

	if (len >= 8 && !memcmp(data, "gotrace", 8))
		return 0;
	bytes = buf__take(&b, TRACE_HEADER_LEN);
	if (!bytes)
		return -EPROTONOSUPPORT;
	memcpy(header, bytes, TRACE_HEADER_LEN);
	if (sscanf(header, "go 1.%2d trace", &version) != 1)
		return -EPROTONOSUPPORT;
	snprintf(expected, sizeof(expected), "go 1.%d trace", version);
	return memcmp(header, expected, TRACE_HEADER_LEN) ? -EPROTONOSUPPORT : version;
}

bool header__is_one(const void *data, size_t len)
{
	return parse(data, len) >= 0;
}

bool header__is_v1(unsigned int version)
{
	return version == 0 || version == 5 || (version >= 7 && version <= 11) || version == 19 ||
	       version == 21;
}

int header__read(struct input *in, unsigned int *ret_version, struct error *err)
{
	const unsigned char *data;
	size_t len;
	int e = input__need(in, TRACE_HEADER_LEN, &data, &len, err);
	int version;

	if (e)
		return e;
	if (!len)
		return error__set(err, -EPROTONOSUPPORT, "%s is empty: no Go execution trace",
				  input__name(in));
	version = parse(data, len);
	if (version < 0)
		return error__set(err, version,
				  "%s is no Go execution trace (no \"go 1.NN trace\" at "
				  "its start)",
				  input__name(in));
	if (!header__is_v1((unsigned int)version) && !spec__version_known((unsigned int)version))
		return error__set(err, -EPROTONOSUPPORT, "%s has the unknown trace version go 1.%d",
				  input__name(in), version);
	*ret_version = (unsigned int)version;
	return 0;
}
