// SPDX-License-Identifier: GPL-2.0
/*
 * The directory of a continuous recording: names, the index, its limit, and what others may have
 * put there.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "unit/test.h"
#include "flight/finisher.h"
#include "unit/trace_bytes.h"
#include "writer/output_file.h"

#define TITLE "# gotrace-bpf index 1: file\tbytes\tevents\tstart\tfrom_ns\tto_ns\n"
#define DAY   (86400 * 1000000000ull)

static const char *at(const char *name)
{
	static char path[8][200];
	static unsigned int i;
	char *p = path[i++ % 8];

	snprintf(p, sizeof(path[0]), "%s/dir/%s", scratch_dir(), name);
	return p;
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_int_equal(chmod(path, 0600), 0);
}

static struct folder *open_folder(uint64_t keep)
{
	struct error error = {};
	struct folder *f = NULL;

	assert_int_equal(folder__open(&f, scratch("dir"), keep, &error), 0);
	return f;
}

static int fresh(void **state)
{
	char command[200];

	snprintf(command, sizeof(command), "rm -rf '%s/dir'", scratch_dir());
	return system(command);
}

FIXTURE(fresh, NULL)

static void refused(const char *reason)
{
	struct error error = {};
	struct folder *f = NULL;

	assert_true(folder__open(&f, scratch("dir"), 0, &error) < 0);
	assert_null(f);
	assert_non_null(strstr(error.text, reason));
}

static void add(struct folder *f, const char *name, uint64_t bytes)
{
	struct folder_file file = {
		.bytes = bytes, .events = 7, .from = 5, .to = 9, .wall_ns = DAY + 1
	};
	struct error error = {};

	snprintf(file.name, sizeof(file.name), "%s", name);
	if (folder__add(f, &file, &error))
		fail_msg("%s", error.text);
}

static bool is_there(const char *name)
{
	struct stat st;

	return !lstat(at(name), &st);
}

TEST(names)
{
	struct file_target target = { "/usr/bin/../we ird/prog\nram-1 (deleted)", 42 };
	char name[FILE_NAME_SIZE], long_name[300];

	file_name__make(name, &target, 3 * DAY / 2 + 123999999, "");
	assert_non_null(strstr(name, "-prog_ram_1-42-19700102T120000.123Z.trace"));
	assert_true(file_name__is_ours(name));
	file_name__make(name, &target, 0, "../x y");
	assert_non_null(strstr(name, "-42-19700101T000000.000Z-_._x_y.trace"));
	assert_true(file_name__is_ours(name));
	memset(long_name, 'a', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	target.program = long_name;
	file_name__make(name, &target, UINT64_MAX, long_name);
	assert_true(file_name__is_ours(name));
	assert_false(file_name__is_ours("../x.trace"));
	assert_false(file_name__is_ours("a/x.trace"));
	assert_false(file_name__is_ours(".trace"));
	assert_false(file_name__is_ours(".x.trace"));
	assert_false(file_name__is_ours("x.trac"));
	assert_false(file_name__is_ours("x y.trace"));
	assert_false(file_name__is_ours(""));
}

TEST(index_of_files)
{
	struct folder *f = open_folder(0);

	assert_false(is_there(FOLDER_INDEX));
	write_file(at("a.trace"), "1");
	add(f, "a.trace", 1);
	assert_content(at(FOLDER_INDEX),
		       TITLE "a.trace\t1\t7\t1970-01-02T00:00:00.000000001Z\t5\t9\n");
	write_file(at("b.trace"), "22");
	add(f, "b.trace", 2);
	folder__close(f);
	f = open_folder(0);
	assert_int_equal(unlink(at("a.trace")), 0); /* by the user */
	write_file(at("c.trace"), "333");
	add(f, "c.trace", 3);
	folder__close(f);
	assert_content(at(FOLDER_INDEX),
		       TITLE "b.trace\t2\t7\t1970-01-02T00:00:00.000000001Z\t5\t9\n"
			     "c.trace\t3\t7\t1970-01-02T00:00:00.000000001Z\t5\t9\n");
}

/* Two recorders use the directory: none of them overwrites the lines of the other. */
TEST(shared)
{
	struct folder *f = open_folder(0), *other = open_folder(0);
	struct bytes b;

	for (int i = 0; i < 20; i++) {
		char name[20];

		snprintf(name, sizeof(name), "%d.trace", i);
		write_file(at(name), "");
		add(i % 2 ? f : other, name, 1);
	}
	folder__close(f);
	folder__close(other);
	b = bytes__read(at(FOLDER_INDEX));
	b.data[b.len] = '\0';
	for (int i = 0; i < 20; i++) {
		char line[20];

		snprintf(line, sizeof(line), "\n%d.trace\t", i);
		assert_non_null(strstr((char *)b.data, line));
	}
	free(b.data);
}

/* A user who can read the directory can lock it. That delays nothing: the lock is a file that only we can open. */
TEST(locked_by_others)
{
	struct folder *f = open_folder(0);
	int dir = open(scratch("dir"), O_RDONLY | O_DIRECTORY);
	struct stat st;

	assert_int_equal(flock(dir, LOCK_EX | LOCK_NB), 0);
	write_file(at("a.trace"), "a");
	add(f, "a.trace", 1);
	close(dir);
	assert_int_equal(stat(at(".index.lock"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	folder__close(f);
}

/* One that others can open, or a link, is no lock. */
TEST(a_planted_lock)
{
	struct folder_file file = { .name = "a.trace", .bytes = 1 };
	struct folder *f = open_folder(0);
	struct error error = {};

	write_file(at("a.trace"), "a");
	write_file(at(".index.lock"), "");
	assert_int_equal(chmod(at(".index.lock"), 0644), 0);
	assert_int_equal(folder__add(f, &file, &error), -EPERM);
	assert_non_null(strstr(error.text, ".index.lock is not a regular file"));
	assert_int_equal(unlink(at(".index.lock")), 0);
	assert_int_equal(symlink("a.trace", at(".index.lock")), 0);
	assert_int_equal(folder__add(f, &file, &error), -ELOOP);
	assert_int_equal(unlink(at(".index.lock")), 0);
	add(f, "a.trace", 1);
	folder__close(f);
}

TEST(limit)
{
	struct folder *f = open_folder(4000);

	write_file(at("stranger.trace"), "not listed");
	for (int i = 0; i < 4; i++) {
		static const char *const name[] = { "0.trace", "1.trace", "2.trace", "3.trace" };

		write_file(at(name[i]), "x");
		add(f, name[i], 1000);
	}
	folder__close(f);
	assert_false(is_there("0.trace"));
	assert_true(is_there("1.trace") && is_there("2.trace") && is_there("3.trace"));
	assert_true(is_there("stranger.trace"));
	f = open_folder(4000);
	write_file(at("4.trace"), "x");
	add(f, "4.trace", UINT64_MAX); /* more than the limit: nothing remains */
	folder__close(f);
	assert_content(at(FOLDER_INDEX), TITLE);
	assert_false(is_there("1.trace") || is_there("4.trace"));
	assert_true(is_there("stranger.trace"));
}

/* A link of a listed name is no file of ours: neither it nor its target is removed. */
TEST(links)
{
	struct folder *f = open_folder(4000);

	write_file(at("0.trace"), "x");
	add(f, "0.trace", 3000);
	write_file(scratch("outside"), "outside");
	assert_int_equal(unlink(at("0.trace")), 0);
	assert_int_equal(symlink("../outside", at("0.trace")), 0);
	write_file(at("1.trace"), "x");
	add(f, "1.trace", 3000);
	assert_true(is_there("0.trace"));
	assert_content(scratch("outside"), "outside");

	assert_int_equal(unlink(at(FOLDER_INDEX)), 0);
	assert_int_equal(symlink("../outside", at(FOLDER_INDEX)), 0);
	refused("index.tsv: Too many levels of symbolic links");
	folder__close(f);
	assert_content(scratch("outside"), "outside");
}

TEST(invalid_index)
{
	static const char *const line[] = {
		"../x.trace\t1\t7\t1970-01-02T00:00:00.000000001Z\t5\t9\n",
		"x.trace\t1\t7\t1970-01-02T00:00:00.000000001Z\t5\n",
		"x.trace\t1\t7\t1970-01-02T00:00:00.000000001Z\t5\t9\t\n",
		"x.trace\t-1\t7\t1970-01-02T00:00:00.000000001Z\t5\t9\n",
		"x.trace\t1\t99999999999999999999\t1970-01-02T00:00:00.000000001Z\t5\t9\n",
		"x.trace\t1\t7\tyesterday\t5\t9\n",
		"x.trace\t1\t7\t1970-01-02T00:00:00.0000001Z\t5\t9\n",
		"x.trace\n",
		"\n\n",
	};
	char text[300];

	folder__close(open_folder(0));
	for (size_t i = 0; i < sizeof(line) / sizeof(*line); i++) {
		snprintf(text, sizeof(text), "%s%s", TITLE, line[i]);
		write_file(at(FOLDER_INDEX), text);
		refused("line 2 is invalid");
	}
	write_file(at(FOLDER_INDEX), "");
	refused("is not an index");
	write_file(at(FOLDER_INDEX), TITLE);
	assert_int_equal(chmod(at(FOLDER_INDEX), 0620), 0);
	refused("only this user, or the owner of the directory, can write");
	assert_int_equal(unlink(at(FOLDER_INDEX)), 0);
	assert_int_equal(mkfifo(at(FOLDER_INDEX), 0600), 0);
	refused("is not a regular file");
	assert_int_equal(unlink(at(FOLDER_INDEX)), 0);
	write_file(at(FOLDER_INDEX), TITLE);
	assert_int_equal(truncate(at(FOLDER_INDEX), 9 << 20), 0);
	refused("File too large");
}

/* The oldest files are removed, whatever the limit, and the index lists the others. */
TEST(room)
{
	struct folder *f = open_folder(0);

	assert_int_equal(folder__make_room(f, 1), -ENOENT);
	write_file(at("stranger.trace"), "not listed");
	assert_int_equal(folder__make_room(f, 1), -ENOENT);
	for (int i = 0; i < 4; i++) {
		char name[20];

		snprintf(name, sizeof(name), "%d.trace", i);
		write_file(at(name), "x");
		add(f, name, 1000);
	}
	assert_int_equal(folder__make_room(f, 1001), 0);
	assert_false(is_there("0.trace") || is_there("1.trace"));
	assert_content(at(FOLDER_INDEX),
		       TITLE "2.trace\t1000\t7\t1970-01-02T00:00:00.000000001Z\t5\t9\n"
			     "3.trace\t1000\t7\t1970-01-02T00:00:00.000000001Z\t5\t9\n");
	assert_int_equal(folder__make_room(f, UINT64_MAX), 0);
	assert_content(at(FOLDER_INDEX), TITLE);
	assert_true(is_there("stranger.trace"));
	folder__close(f);
}

/* Files that the index lacks are listed later; until then the limit holds for them. */
TEST(index_that_fails)
{
	struct folder_file file = { .bytes = 2000, .events = 7, .from = 5, .to = 9, .wall_ns = 1 };
	struct folder *f = open_folder(4000);
	struct error error = {};

	write_file(at(FOLDER_INDEX), "other");
	for (int i = 0; i < 3; i++) {
		snprintf(file.name, sizeof(file.name), "%d.trace", i);
		write_file(at(file.name), "x");
		assert_int_equal(folder__add(f, &file, &error), -EBADMSG);
	}
	assert_false(is_there("0.trace") || is_there("1.trace"));
	assert_content(at(FOLDER_INDEX), "other");
	assert_int_equal(unlink(at(FOLDER_INDEX)), 0);
	write_file(at("3.trace"), "x");
	add(f, "3.trace", 1000);
	assert_content(at(FOLDER_INDEX),
		       TITLE "2.trace\t2000\t7\t1970-01-01T00:00:00.000000001Z\t5\t9\n"
			     "3.trace\t1000\t7\t1970-01-02T00:00:00.000000001Z\t5\t9\n");
	folder__close(f);
}

/* A directory that was removed is created again; one whose parent is missing is not. */
TEST(removed)
{
	struct file_target target = { "prog", 42 };
	struct folder_file file = { .wall_ns = DAY };
	struct folder *f = open_folder(0);
	struct trace_file *out;

	assert_false(folder__is_removed(f));
	assert_int_equal(rmdir(at("")), 0);
	assert_true(folder__is_removed(f));
	write_file(scratch("dir"), "a file");
	assert_int_equal(folder__create(f, &target, "", &file, &out), -ENOTDIR);
	assert_int_equal(unlink(scratch("dir")), 0);
	assert_int_equal(folder__create(f, &target, "", &file, &out), 0);
	assert_int_equal(trace_file__append(out, "1", 1), 0);
	assert_int_equal(trace_file__commit(out), 0);
	trace_file__destroy(out);
	assert_content(at(file.name), "1");
	add(f, file.name, 1);
	assert_true(is_there(FOLDER_INDEX));
	assert_false(folder__is_removed(f));
	folder__close(f);
}

TEST(not_a_directory)
{
	write_file(scratch("dir"), "a file");
	refused("Not a directory");
	assert_content(scratch("dir"), "a file");
}

/* Files are completed in the order in which they were taken; a failure does not end the others. */
TEST(finisher)
{
	struct folder *folder = open_folder(0);
	struct finisher *f = finisher__create(folder);
	struct file_target target = { "prog", 42 };
	struct folder_file about[9], last = { .wall_ns = 9 * DAY };
	struct error error = {};
	struct trace_file *file;
	unsigned int taken = 0;

	for (int i = 0; i < 9; i++) {
		about[i] = (struct folder_file){ .wall_ns = (uint64_t)i * DAY };
		assert_int_equal(folder__create(folder, &target, "", &about[i], &file), 0);
		assert_int_equal(trace_file__append(file, "12345", 5), 0);
		while (finisher__is_full(f))
			usleep(1000);
		taken += !finisher__take(f,
					 &(struct finisher_job){ .file = file, .about = about[i] });
	}
	assert_int_equal(taken, 9);
	assert_int_equal(finisher__wait(f, &error), 0);
	for (int i = 0; i < 9; i++)
		assert_content(at(about[i].name), "12345");
	assert_int_equal(folder__create(folder, &target, "", &last, &file), 0);
	assert_int_equal(mkdir(at(last.name), 0700), 0);
	assert_int_equal(finisher__take(f, &(struct finisher_job){ .file = file, .about = last }),
			 0);
	assert_int_equal(finisher__wait(f, &error), -EISDIR);
	assert_non_null(strstr(error.text, "cannot complete"));
	finisher__destroy(f);
	folder__close(folder);
}
