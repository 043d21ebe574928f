// SPDX-License-Identifier: GPL-2.0
/*
 * Opens output files, for all commands of both programs: see output.h.
 */
#include <errno.h>
#include <string.h>

#include "lib/command.h"
#include "lib/log.h"
#include "trace/output.h"

static int cannot_open(struct error *err, const char *path, enum file_kind kind, int code)
{
	static const char *const kinds[] = {
		[FILE_TRACE] = "trace",	       [FILE_RAW] = "raw file",
		[FILE_INDEX] = "index",	       [FILE_TEXT] = "trace as text",
		[FILE_STATS] = "--stats file", [FILE_DESCRIPTION] = "description of events",
	};
	const char *why = strerror(-code);

	if (code == -EBUSY)
		why = "another gotrace-bpf is writing it";
	else if (code == -ENXIO)
		why = "nobody reads it; start its reader first";
	else if (code == -EEXIST)
		why = "its .partial is no regular file; remove that first";
	else if (code == -ENOLINK)
		why = "a symbolic link on the way belongs to another user and is in a directory "
		      "that all can write; name the file itself";
	if (code == -EMEDIUMTYPE)
		return error__set(err, code,
				  "cannot write %s: it exists and is no %s; --force replaces it",
				  path, kinds[kind]);
	return error__set(err, code, "cannot write %s: %s",
			  strcmp(path, "-") ? path : "the standard output", why);
}

/* PATH's directory, with the slash: the kept file lies there unless PATH is a link. */
static int dir_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (int)(slash + 1 - path) : 0;
}

int output__open(struct trace_file **ret, const char *path, enum file_kind kind, struct error *err)
{
	int code = trace_file__open_as(ret, path, command__forced() ? FILE_ANY : kind);
	const char *kept;
	bool replaced;

	if (code)
		return cannot_open(err, path, kind, code);
	kept = trace_file__kept(*ret, &replaced);
	if (kept)
		log__msg("%s.partial of a killed process is kept as %.*s%s%s", path,
			 dir_length(path), path, kept,
			 replaced ? ", in place of the oldest of nine" : "");
	return 0;
}
