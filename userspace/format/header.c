// SPDX-License-Identifier: GPL-2.0
/*
 * Parses the header of a trace: see format/header.h.
 *
 * v1/v1_parse.c reads versions up to 1.21, reader/decode.c later ones.
 */
#include "format/header.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "format/spec.h"

void header__make(unsigned int version, char ret[static TRACE_HEADER_LEN])
{
	char text[TRACE_HEADER_LEN + 1] = "";

	snprintf(text, sizeof(text), "go 1.%u trace", version);
	memcpy(ret, text, TRACE_HEADER_LEN);
}

int header__version(const void *data, size_t len)
{
	char header[TRACE_HEADER_LEN + 1] = "", expected[TRACE_HEADER_LEN];
	unsigned int version;

	if (len < TRACE_HEADER_LEN)
		return -1;
	memcpy(header, data, TRACE_HEADER_LEN);
	if (sscanf(header, "go 1.%3u trace", &version) != 1)
		return -1;
	header__make(version, expected);
	return memcmp(header, expected, TRACE_HEADER_LEN) ? -1 : (int)version;
}

/* The header before Go 1.5, which is version 0 here. There is no version "go 1.0". */
static bool is_unnumbered(const void *data, size_t len)
{
	return len >= 8 && !memcmp(data, "gotrace", 8);
}

/* Returns the number of the version, or -EPROTONOSUPPORT. */
static int parse(const void *data, size_t len)
{
	int version = header__version(data, len);

	return version < 0 || version > 99 ? -EPROTONOSUPPORT : version;
}

bool header__is_one(const void *data, size_t len)
{
	return is_unnumbered(data, len) || parse(data, len) >= 0;
}

bool header__is_v1(unsigned int version)
{
	return version == 0 || version == 5 || (version >= 7 && version <= 11) || version == 19 ||
	       version == 21;
}

static bool is_supported(unsigned int version)
{
	return version && (header__is_v1(version) || spec__version_known(version));
}

int header__read(struct input *in, unsigned int *ret_version, struct error *error)
{
	const unsigned char *data;
	size_t len;
	int err = input__need(in, TRACE_HEADER_LEN, &data, &len, error);
	int version;

	if (err)
		return err;
	if (!len)
		return error__set(error, -EPROTONOSUPPORT,
				  "%s: not a Go execution trace: the file is empty",
				  input__name(in));
	if (is_unnumbered(data, len)) {
		*ret_version = 0;
		return 0;
	}
	version = parse(data, len);
	if (version < 0)
		return error__set(error, version,
				  "%s: not a Go execution trace: no \"go 1.NN trace\" at its start",
				  input__name(in));
	if (!is_supported((unsigned int)version))
		return error__set(error, -EPROTONOSUPPORT, "%s: unknown trace version go 1.%d",
				  input__name(in), version);
	*ret_version = (unsigned int)version;
	return 0;
}
