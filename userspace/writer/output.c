// SPDX-License-Identifier: GPL-2.0
/*
 * Opens and completes output files for the commands of both programs: see output.h.
 *
 * Downstream: writer/output_file.c. This file adds the error messages and --force.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/command.h"
#include "lib/log.h"
#include "lib/progress.h"
#include "writer/output.h"

static int cannot_open(struct error *error, const char *path, enum file_kind kind, int err)
{
	static const char *const kinds[] = {
		[FILE_TRACE] = "a trace",
		[FILE_RAW] = "a raw file",
		[FILE_INDEX] = "an index",
		[FILE_TEXT] = "a trace in text form",
		[FILE_STATS] = "a --stats file",
		[FILE_DESCRIPTION] = "a description of events",
		[FILE_PROFILE] = "a profile",
		[FILE_EXPORT] = "an export that can be recognized",
		[FILE_REPORT] = "a page of gotrace report",
		[FILE_PACKED] = "a packed trace",
	};
	const char *why = strerror(-err);

	if (err == -EBUSY)
		why = "another gotrace-bpf is writing it";
	else if (err == -ENXIO)
		why = "it has no reader; start the reader first";
	else if (err == -EEXIST)
		why = "its .partial file is not a regular file; remove that first";
	else if (err == -ENOLINK)
		why = "a symbolic link in the path belongs to another user and is in a "
		      "world-writable directory; pass the name of the file itself";
	if (err == -EMEDIUMTYPE)
		return error__set(error, err,
				  "cannot write %s: it exists and is not %s; use --force to "
				  "replace it",
				  path, kinds[kind]);
	return error__set(error, err, "cannot write %s: %s",
			  strcmp(path, "-") ? path : "standard output", why);
}

/* Length of the directory in PATH, with the slash. Kept files are in it unless PATH is a link. */
static int dir_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (int)(slash + 1 - path) : 0;
}

/* What is written to a terminal, or to a pager, would mix with the line that shows the progress. */
static void keep_terminal_clear(const char *path)
{
	struct stat st;

	if (!strcmp(path, "-") && (fstat(STDOUT_FILENO, &st) || !S_ISREG(st.st_mode)))
		progress__forbid();
}

int output__open(struct trace_file **ret, const char *path, enum file_kind kind,
		 struct error *error)
{
	int err = trace_file__open(ret, path, command__forced() ? FILE_ANY : kind);
	const char *kept;
	bool replaced;

	if (err)
		return cannot_open(error, path, kind, err);
	keep_terminal_clear(path);
	kept = trace_file__kept(*ret, &replaced);
	if (kept)
		log__msg("%s.partial, left by a killed process, is kept as %.*s%s%s", path,
			 dir_length(path), path, kept,
			 replaced ? ", replacing the oldest of nine" : "");
	return 0;
}

/* Only a person can use a suggestion: a script's log stays as it was. */
static bool suggests(const char *path)
{
	return isatty(STDERR_FILENO) && strcmp(path, "-");
}

void output__suggest(const char *path)
{
	if (suggests(path))
		log__msg("next: 'gotrace latency %s', 'gotrace view %s' (in a browser) or 'go tool "
			 "trace %s'",
			 path, path, path);
}

void output__suggest_use(const char *path, const char *before, const char *after)
{
	if (suggests(path))
		log__msg("next: %s%s%s", before, path, after);
}

static int append(void *to, const void *data, size_t len)
{
	return trace_file__append(to, data, len);
}

void output__buffer(struct outbuf *o, struct trace_file *file, const char *name)
{
	*o = (struct outbuf){ .write = append,
			      .to = file,
			      .name = strcmp(name, "-") ? name : "standard output" };
}

int output__commit(struct outbuf *o, struct trace_file *file, struct error *error)
{
	int err = outbuf__flush(o, error);

	if (err)
		return err;
	err = trace_file__commit(file);
	return err ? error__set(error, err, "cannot write %s: %s", o->name, strerror(-err)) : 0;
}
