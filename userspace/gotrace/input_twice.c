// SPDX-License-Identifier: GPL-2.0
/*
 * Traces that a command reads twice: see input_twice.h. The trace itself is opened by open.c.
 */
#include "input_twice.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether it begins like a trace, plain or compressed; otherwise it need not be copied. */
static bool begins_well(const char *data, size_t len)
{
	static const char *const begins[] = { "go 1.", "gotrace", "\x1f\x8b", "\x28\xb5\x2f\xfd" };

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (len >= strlen(begins[i]) && !memcmp(data, begins[i], strlen(begins[i])))
			return true;
	return false;
}

static int copy(FILE *from, FILE *to)
{
	char buffer[65536];
	bool first = true;
	size_t n;

	while ((n = fread(buffer, 1, sizeof(buffer), from))) {
		if (fwrite(buffer, 1, n, to) != n)
			return -errno;
		if (first && !begins_well(buffer, n))
			break;
		first = false;
	}
	return ferror(from) || fflush(to) ? -errno : 0;
}

/* A pipe can be read only once: copy its data to an unnamed file, which becomes stdin. */
static int copy_to_stdin(const char *path, struct error *error)
{
	FILE *from = strcmp(path, "-") ? fopen(path, "re") : stdin, *to = tmpfile();
	int err = from && to ? copy(from, to) : -errno;

	if (!err && dup2(fileno(to), STDIN_FILENO) < 0)
		err = -errno;
	if (from && from != stdin)
		fclose(from);
	if (to)
		fclose(to);
	lseek(STDIN_FILENO, 0, SEEK_SET);
	return err ? error__set(error, err,
				"%s: cannot copy the input in order to read it twice: %s", path,
				strerror(-err)) :
		     0;
}

int input_twice__begin(const char *path, const char **ret, off_t *ret_start, struct error *error)
{
	bool is_stdin = !strcmp(path, "-");
	struct stat st;
	int err;

	*ret_start = 0;
	*ret = path;
	if (is_stdin ? fstat(STDIN_FILENO, &st) : stat(path, &st))
		return 0; /* the following open reports the reason */
	if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) {
		if (is_stdin)
			*ret_start = lseek(STDIN_FILENO, 0, SEEK_CUR);
		return 0;
	}
	err = copy_to_stdin(path, error);
	*ret = "-";
	return err;
}

void input_twice__again(const char *path, off_t start)
{
	if (!strcmp(path, "-"))
		lseek(STDIN_FILENO, start, SEEK_SET);
}
