// SPDX-License-Identifier: GPL-2.0
/*
 * What names and clocks say of a trace, and which files an argument stands for: sql/source.h.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "unit/scratch.h"
#include "sql/source.h"

static void is(const char *path, const char *host, const char *service)
{
	struct source s;

	assert_int_equal(source__init(&s, path, NULL, NULL), 0);
	if (host)
		assert_string_equal(s.host, host);
	else
		assert_null(s.host);
	if (service)
		assert_string_equal(s.service, service);
	else
		assert_null(s.service);
	assert_string_equal(s.file, path);
	source__deinit(&s);
}

TEST(names_of_files)
{
	is("/a/web1-api-77-20261127T040000.000Z.trace", "web1", "api");
	is("web1.local-api_2-1-20261127T040000.000Z-slow.trace", "web1.local", "api_2");
	is("web1-api-x77-20261127T040000.000Z.trace", NULL, NULL);
	is("web1-api-77.trace", NULL, NULL);
	is("web1-api.trace", NULL, NULL);
	is("web1.trace", NULL, NULL);
	is("web1-api-77-x.parquet", NULL, NULL);
	is("x.trace", NULL, NULL);
}

TEST(names_of_folders)
{
	is("/d/host=web2/service=api/x.trace", "web2", "api");
	is("service=api/host=web2/x.trace", "web2", "api");
	is("/d/host=web2", NULL, NULL); /* it is the file */
	is("/d/host=/x.trace", NULL, NULL);
	is("/d/host=other/web1-api-77-20261127T040000.000Z.trace", "web1", "api");
}

TEST(given_names)
{
	struct source s;

	assert_int_equal(source__init(&s, "host=a/x.trace", "b", "c"), 0);
	assert_string_equal(s.host, "b");
	assert_string_equal(s.service, "c");
	source__deinit(&s);
}

TEST(other_bytes)
{
	struct source s;

	assert_int_equal(
		source__init(&s, "host=\xc3\xa4\xff/service=\xc3/\xef\xbf\xbd.trace", NULL, NULL),
		0);
	assert_string_equal(s.host, "\xc3\xa4\\xff");
	assert_string_equal(s.service, "\\xc3");
	assert_string_equal(s.file, "host=\xc3\xa4\\xff/service=\\xc3/\xef\xbf\xbd.trace");
	source__deinit(&s);
}

static void hour_is(int64_t wall, int64_t day, int64_t hour)
{
	const struct source s = { .wall_ns = wall };
	int64_t got_day, got_hour;

	assert_true(source__hour(&s, &got_day, &got_hour));
	assert_int_equal(got_day, day);
	assert_int_equal(got_hour, hour);
}

TEST(hours)
{
	const int64_t h = 3600000000000;
	const struct source unknown = { .wall_ns = ROW_NULL };
	int64_t day, hour;

	hour_is(0, 0, 0);
	hour_is(h - 1, 0, 0);
	hour_is(25 * h, 1, 1);
	hour_is(-1, -1, 23);
	hour_is(-24 * h, -1, 0);
	hour_is(-24 * h - 1, -2, 23);
	hour_is(INT64_MAX, 106751, 23);
	assert_false(source__hour(&unknown, &day, &hour));
}

TEST(the_clock)
{
	struct trace_sync sync = {
		.clock = { .known = true, .time = 1000, .sec = 7200, .nsec = 5 },
	};
	struct trace_event ev = trace_event__sync(1300, &sync, NULL);
	struct source s;

	assert_int_equal(source__init(&s, "x", NULL, NULL), 0);
	assert_int_equal(s.wall_ns, ROW_NULL);
	assert_int_equal(source__note(&s, &ev), 0);
	assert_int_equal(s.wall_ns, 7200000000305);
	source__deinit(&s);
}

static void make(const char *folder, const char *name)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	close(fd);
}

TEST(files)
{
	char path[256], pattern[256], link[256];
	const char *folder = scratch_dir();
	struct source_files s = {};
	struct error error = {};

	snprintf(path, sizeof(path), "%s/sub", folder);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(source_files__add(&s, folder, &error), -ENOENT);
	make(folder, "b.trace");
	make(folder, "a.trace.gz");
	make(folder, "c.txt");
	make(folder, ".hidden.trace");
	make(path, "d.trace.zst");
	error = (struct error){};
	assert_int_equal(source_files__add(&s, folder, &error), 0);
	assert_int_equal(s.n, 3);
	assert_false(s.parquet);
	assert_string_equal(s.path[0] + strlen(folder), "/a.trace.gz");
	assert_string_equal(s.path[1] + strlen(folder), "/b.trace");
	assert_string_equal(s.path[2] + strlen(folder), "/sub/d.trace.zst");
	snprintf(pattern, sizeof(pattern), "%s/*.txt", folder);
	assert_int_equal(source_files__add(&s, pattern, &error), 0); /* whatever it is */
	assert_int_equal(s.n, 4);
	snprintf(pattern, sizeof(pattern), "%s/*.none", folder);
	assert_int_equal(source_files__add(&s, pattern, &error), -ENOENT);
	snprintf(link, sizeof(link), "%s/link", folder); /* followed as an argument only */
	assert_int_equal(symlink(path, link), 0);
	assert_int_equal(source_files__add(&s, link, &error), 0);
	assert_int_equal(s.n, 5);
	assert_int_equal(source_files__add(&s, folder, &error), 0);
	assert_int_equal(s.n, 8);
	make(path, "e.parquet");
	error = (struct error){};
	assert_int_equal(source_files__add(&s, path, &error), -EINVAL); /* both kinds */
	source_files__deinit(&s);
}
