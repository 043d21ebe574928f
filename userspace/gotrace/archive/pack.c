// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace pack: makes a packed trace. See pack/archive.h.
 */
#include "pack/archive.h"
#include "gotrace/command.h"
#include "gotrace/filter.h"

int do_pack(int argc, char **argv, struct error *error)
{
	static const struct filter filter = {
		.verb = "pack",
		.args = "FILE [-o OUT]",
		.doc = "Writes a trace in a form that takes a fraction of the space, often a "
		       "quarter of what zstd -9 needs. All commands read packed traces as "
		       "they are; gotrace unpack returns the original file, byte for byte.",
		.makes = FILE_PACKED,
		.run = archive__write,
	};

	return filter__main(&filter, argc, argv, error);
}
