// SPDX-License-Identifier: GPL-2.0
/*
 * What is known about a trace besides its events: see source.h. source_files.c finds the files.
 */
#include "sql/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flight/file_name.h"
#include "format/about.h"
#include "lib/unicode.h"

#define SECOND 1000000000ll

/*
 * Sets *ret, unless it is known, to `len` bytes, of which those that are not UTF-8 become \xNN: engines
 * accept no others, and two files must not get the same name. 0 or -ENOMEM.
 */
static int set(char **ret, const char *data, size_t len)
{
	const unsigned char *p = (const unsigned char *)data;
	size_t n = 0, took;
	uint32_t c;

	if (*ret || !len)
		return 0;
	*ret = malloc(4 * len + 1);
	if (!*ret)
		return -ENOMEM;
	for (; len; p += took, len -= took) {
		took = utf8__decode(p, len, &c);
		if (took == 1 && c == UNICODE_REPLACEMENT)
			n += (size_t)sprintf(*ret + n, "\\x%02x", *p);
		else
			n += utf8__encode(c, (unsigned char *)*ret + n);
	}
	(*ret)[n] = '\0';
	return 0;
}

/* HOST-PROGRAM-PID-TIME: the parts contain no hyphens. */
static int note_name(struct source *s, const char *name)
{
	size_t host = strcspn(name, "-"), program, pid;
	int err;

	if (!file_name__is_ours(name) || !name[host])
		return 0;
	program = strcspn(name + host + 1, "-");
	pid = strspn(name + host + 1 + program + !!name[host + 1 + program], "0123456789");
	if (name[host + 1 + program] != '-' || !pid || name[host + 1 + program + 1 + pid] != '-')
		return 0;
	err = set(&s->host, name, host);
	return err ?: set(&s->service, name + host + 1, program);
}

/* host=NAME and service=NAME in the path */
static int note_folders(struct source *s, const char *path)
{
	size_t len;
	int err = 0;

	for (; !err && *path; path += len + (path[len] == '/')) {
		len = strcspn(path, "/");
		if (!path[len])
			break;
		if (!strncmp(path, "host=", 5))
			err = set(&s->host, path + 5, len - 5);
		else if (!strncmp(path, "service=", 8))
			err = set(&s->service, path + 8, len - 8);
	}
	return err;
}

int source__init(struct source *s, const char *path, const char *host, const char *service)
{
	const char *slash = strrchr(path, '/');
	int err;

	*s = (struct source){ .wall_ns = ROW_NULL };
	s->path = strdup(path);
	err = s->path ? set(&s->file, path, strlen(path)) : -ENOMEM;
	if (!err && host)
		err = set(&s->host, host, strlen(host));
	if (!err && service)
		err = set(&s->service, service, strlen(service));
	err = err ?: note_name(s, slash ? slash + 1 : path);
	err = err ?: note_folders(s, path);
	if (err)
		source__deinit(s);
	return err;
}

void source__deinit(struct source *s)
{
	free(s->path);
	free(s->file);
	free(s->host);
	free(s->service);
	*s = (struct source){};
}

int source__note(struct source *s, const struct trace_event *first)
{
	struct about about = {};
	const char *slash, *name;
	int err;

	if (!first->sync)
		return 0;
	err = about__sync(&about, first);
	if (err)
		return err;
	if (about.has_wall)
		s->wall_ns = about.wall;
	slash = strrchr(about.program, '/');
	name = slash ? slash + 1 : about.program;
	return set(&s->service, name, strlen(name));
}

int source__read(struct source *s, const char *path, const char *host, const char *service,
		 const struct reader_opts *opts, struct error *error)
{
	struct reader *reader = NULL;
	struct error why = {};
	struct trace_event ev;
	struct input *in;
	int err;

	if (source__init(s, path, host, service))
		return error__set(error, -ENOMEM, "out of memory");
	err = input__open(&in, path, &why);
	err = err ?: reader__open(&reader, in, opts, &why);
	if (!err) {
		err = reader__next(reader, &ev, &why);
		if (err > 0)
			err = source__note(s, &ev);
	}
	reader__destroy(reader);
	if (!err)
		return 0;
	source__deinit(s);
	return why.text[0] ? error__about(error, err, path, &why) :
			     error__set(error, err, "out of memory");
}

bool source__hour(const struct source *s, int64_t *ret_day, int64_t *ret_hour)
{
	const int64_t hour = 3600 * SECOND;
	int64_t hours = s->wall_ns / hour - (s->wall_ns % hour < 0);

	if (s->wall_ns == ROW_NULL)
		return false;
	*ret_day = hours / 24 - (hours % 24 < 0);
	*ret_hour = hours - *ret_day * 24;
	return true;
}
