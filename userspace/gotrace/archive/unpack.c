// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace unpack: returns the trace that was packed.
 *
 * lib/input.c unpacks whatever it reads, and checks its checksums; here the bytes are only copied.
 */
#include <errno.h>
#include <string.h>

#include "pack/archive.h"
#include "gotrace/command.h"
#include "gotrace/filter.h"

static int copy(struct input *in, struct outbuf *out, struct error *error)
{
	const unsigned char *data;
	size_t len;
	int err;

	if (!input__format(in) || strcmp(input__format(in), archive_format.name))
		return error__set(error, -EPROTONOSUPPORT,
				  "%s: not a packed trace, as gotrace pack writes it",
				  input__name(in));
	for (;;) {
		err = input__need(in, 1, &data, &len, error);
		if (err || !len)
			return err;
		err = outbuf__put(out, data, len, error);
		if (err)
			return err;
		input__consume(in, len);
	}
}

int do_unpack(int argc, char **argv, struct error *error)
{
	static const struct filter filter = {
		.verb = "unpack",
		.args = "FILE [-o OUT]",
		.doc = "Writes the trace from which gotrace pack made FILE, byte for byte. The "
		       "checksums in FILE are checked.",
		.makes = FILE_TRACE,
		.run = copy,
	};

	return filter__main(&filter, argc, argv, error);
}
