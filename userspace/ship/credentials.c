// SPDX-License-Identifier: GPL-2.0
/*
 * The keys that sign requests: see credentials.h.
 */
#include "ship/credentials.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/regular.h"
#include "service/config.h"

#define FILE_MAX 16384

/* False: it is too long, or contains a byte that could begin another header. */
static bool take(char *to, size_t size, const char *text)
{
	size_t len = text ? strlen(text) : 0;

	if (len >= size)
		return false;
	for (size_t i = 0; i < len; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return false;
	memcpy(to, text ?: "", len + 1);
	return true;
}

static int from_environment(struct credentials *ret, struct error *error)
{
	const struct {
		const char *name;
		char *to;
		size_t size;
		bool optional;
	} variable[] = {
		{ "AWS_ACCESS_KEY_ID", ret->id, sizeof(ret->id), false },
		{ "AWS_SECRET_ACCESS_KEY", ret->secret, sizeof(ret->secret), false },
		{ "AWS_SESSION_TOKEN", ret->token, sizeof(ret->token), true },
	};

	for (size_t i = 0; i < sizeof(variable) / sizeof(variable[0]); i++) {
		const char *text = getenv(variable[i].name);

		if (!variable[i].optional && (!text || !*text))
			return error__set(error, -ENOKEY,
					  "credentials are missing: set AWS_ACCESS_KEY_ID and "
					  "AWS_SECRET_ACCESS_KEY, or use --credentials FILE");
		if (!take(variable[i].to, variable[i].size, text))
			return error__set(error, -EINVAL,
					  "the value of %s is invalid: too long, or it contains "
					  "spaces",
					  variable[i].name);
	}
	return 0;
}

static int take_value(void *ctx, unsigned int line, const char *name, const char *value)
{
	struct credentials *c = ctx;

	(void)line;
	if (!strcmp(name, "aws_access_key_id"))
		return take(c->id, sizeof(c->id), value) ? 0 : -EINVAL;
	if (!strcmp(name, "aws_secret_access_key"))
		return take(c->secret, sizeof(c->secret), value) ? 0 : -EINVAL;
	if (!strcmp(name, "aws_session_token"))
		return take(c->token, sizeof(c->token), value) ? 0 : -EINVAL;
	return 0;
}

/* Line by line, since config__split() knows no sections. Its reasons would quote the line. */
static int parse_lines(struct credentials *ret, char *text, size_t len, struct error *error)
{
	char *stop = text + len, *end;
	bool is_default = true;
	unsigned int line = 1, ignored;

	for (; text < stop; text = end + 1, line++) {
		end = memchr(text, '\n', (size_t)(stop - text)) ?: stop;
		if (*text == '[')
			is_default = !strncmp(text, "[default]", strlen("[default]"));
		else if (is_default &&
			 config__split(text, (size_t)(end - text), take_value, ret, &ignored, NULL))
			return error__set(error, -EINVAL,
					  "line %u is invalid: expected NAME = VALUE", line);
	}
	return 0;
}

int credentials__parse(struct credentials *ret, char *text, size_t len, struct error *error)
{
	int err = parse_lines(ret, text, len, error);

	if (!err && (!ret->id[0] || !ret->secret[0]))
		err = error__set(error, -ENOKEY,
				 "aws_access_key_id or aws_secret_access_key is missing");
	return err;
}

static int check(int fd, struct error *error)
{
	struct stat st;

	if (fstat(fd, &st))
		return error__set(error, -errno, "%s", strerror(errno));
	/* The service manager gives a service its keys as a file of root, with an access list. */
	if ((st.st_uid && st.st_uid != geteuid()) || st.st_mode & 037 ||
	    (st.st_mode & 040 && st.st_gid))
		return error__set(error, -EPERM,
				  "other users may read it; it must belong to this user or root, "
				  "with mode 0600");
	return 0;
}

static int from_file(struct credentials *ret, int fd, struct error *error)
{
	char text[FILE_MAX + 1];
	ssize_t len;
	int err = check(fd, error);

	if (err)
		return err;
	len = pread(fd, text, sizeof(text), 0);
	if (len < 0)
		return error__set(error, -errno, "%s", strerror(errno));
	if (len > FILE_MAX)
		return error__set(error, -EFBIG, "the file is larger than 16 KiB");
	err = credentials__parse(ret, text, (size_t)len, error);
	explicit_bzero(text, sizeof(text));
	return err;
}

int credentials__read(struct credentials *ret, const char *path, struct error *error)
{
	struct error why = {};
	int fd, err;

	credentials__clear(ret);
	if (!path)
		return from_environment(ret, error);
	fd = regular__open(path, error);
	if (fd < 0)
		return fd;
	err = from_file(ret, fd, &why);
	close(fd);
	return err ? error__about(error, err, path, &why) : 0;
}

void credentials__clear(struct credentials *c)
{
	explicit_bzero(c, sizeof(*c));
}
