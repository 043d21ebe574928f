// SPDX-License-Identifier: GPL-2.0
/*
 * The spool and its journal: which files are to be sent, in which order, and what is remembered of them.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "unit/test.h"
#include "ship/spool.h"
#include "unit/trace_bytes.h"

#define A "h-p-1-20261127T000001.000Z.trace"
#define B "h-p-1-20261127T000002.000Z.trace"
#define C "z-p-1-20261127T000000.000Z.trace"

static const char *at(const char *name)
{
	static char path[2][300];
	static unsigned int next;
	char *p = path[next++ % 2];

	snprintf(p, sizeof(path[0]), "%s/dir/%s", scratch_dir(), name);
	return p;
}

static void write_file(const char *name, const char *text)
{
	FILE *f = fopen(at(name), "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_int_equal(chmod(at(name), 0600), 0);
}

static int fresh(void **state)
{
	char command[300];

	snprintf(command, sizeof(command), "rm -rf '%s/dir' && mkdir -m 700 '%s/dir'",
		 scratch_dir(), scratch_dir());
	return system(command);
}

FIXTURE(fresh, NULL)

static struct spool open_spool(void)
{
	struct spool s;

	assert_int_equal(spool__open(&s, scratch("dir"), NULL), 0);
	return s;
}

static struct journal *open_journal(const struct spool *s)
{
	struct error error = {};
	struct journal *j;

	if (journal__open(&j, s->dir, JOURNAL_NAME, "https://h s3://b/", &error))
		fail_msg("%s", error.text);
	return j;
}

TEST(oldest_first)
{
	struct spool s = open_spool();
	struct journal *j = open_journal(&s);

	write_file(B, "22");
	write_file(A, "1");
	write_file(C, "");
	write_file(A ".partial", "x");
	write_file("index.tsv", "x");
	write_file("other.trace", "x");
	assert_int_equal(mkdir(at("h-p-1-20261127T000003.000Z.trace"), 0700), 0);
	assert_int_equal(symlink(A, at("h-p-1-20261127T000004.000Z.trace")), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(spool__scan(&s, j, NULL), 0);
		assert_int_equal(s.n, 3);
		assert_int_equal(s.other_names, 1);
		assert_string_equal(s.file[0]->name, C);
		assert_string_equal(s.file[1]->name, A);
		assert_string_equal(s.file[2]->name, B);
		assert_int_equal(s.file[2]->bytes, 2);
		assert_int_equal(s.count[SPOOL_WAITING], 3);
	}
	assert_true(spool__has(&s, B) && !spool__has(&s, "other.trace"));
	spool__set(&s, s.file[0], SPOOL_SENDING);
	assert_int_equal(spool__first(&s), 1);
	spool__set(&s, s.file[1], SPOOL_ACCEPTED);
	assert_int_equal(spool__first(&s), 2);
	spool__set(&s, s.file[0], SPOOL_WAITING);
	assert_int_equal(spool__first(&s), 0);
	journal__close(j);
	spool__close(&s);
}

TEST(removed_files)
{
	struct spool s = open_spool();
	struct journal *j = open_journal(&s);

	write_file(A, "1");
	write_file(B, "2");
	write_file(C, "3");
	assert_int_equal(spool__scan(&s, j, NULL), 0);
	spool__set(&s, s.file[0], SPOOL_ACCEPTED);
	spool__set(&s, s.file[1], SPOOL_SENDING);
	unlink(at(A));
	unlink(at(B));
	unlink(at(C));
	assert_int_equal(spool__scan(&s, j, NULL), 0);
	assert_int_equal(s.n, 1);    /* the one that is being sent stays */
	assert_int_equal(s.lost, 1); /* B: C was accepted */
	assert_true(spool__open_file(&s, s.file[0], NULL) < 0);
	spool__set(&s, s.file[0], SPOOL_ACCEPTED);
	assert_int_equal(spool__scan(&s, j, NULL), 0);
	assert_int_equal(s.n, 0);
	assert_int_equal(s.lost, 1);
	journal__close(j);
	spool__close(&s);
}

TEST(replaced_files)
{
	struct spool s = open_spool();
	struct journal *j = open_journal(&s);
	int fd;

	write_file(A, "1");
	assert_int_equal(spool__scan(&s, j, NULL), 0);
	fd = spool__open_file(&s, s.file[0], NULL);
	assert_true(fd >= 0);
	close(fd);
	spool__set(&s, s.file[0], SPOOL_ACCEPTED);
	write_file("new", "longer");
	assert_int_equal(rename(at("new"), at(A)), 0);
	assert_int_equal(spool__open_file(&s, s.file[0], NULL), -ENOENT);
	assert_int_equal(spool__remove(&s, s.file[0]), 0); /* not the new one */
	assert_int_equal(access(at(A), F_OK), 0);
	assert_int_equal(spool__scan(&s, j, NULL), 0);
	assert_int_equal(s.file[0]->state, SPOOL_WAITING);
	assert_int_equal(s.file[0]->bytes, 6);
	assert_int_equal(spool__remove(&s, s.file[0]), 0);
	assert_int_equal(access(at(A), F_OK), -1);
	journal__close(j);
	spool__close(&s);
}

static void add(struct journal *j, const struct spool_file *f)
{
	const struct journal_file about = { f->name, f->bytes, f->mtime_ns };

	assert_int_equal(journal__add(j, &about, "0123", NULL), 0);
}

TEST(remembered)
{
	struct spool s = open_spool();
	struct journal *j = open_journal(&s);
	struct stat st;

	write_file(A, "1");
	write_file(B, "2");
	assert_int_equal(spool__scan(&s, j, NULL), 0);
	add(j, s.file[0]);
	add(j, s.file[1]);
	journal__close(j);
	spool__close(&s);
	assert_int_equal(stat(at(JOURNAL_NAME), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(truncate(at(JOURNAL_NAME), st.st_size - 1),
			 0); /* B's line is incomplete */
	for (int i = 0; i < 2; i++) {
		s = open_spool();
		j = open_journal(&s);
		assert_int_equal(spool__scan(&s, j, NULL), 0);
		assert_int_equal(s.file[0]->state, SPOOL_ACCEPTED);
		assert_int_equal(s.file[1]->state, i ? SPOOL_ACCEPTED : SPOOL_WAITING);
		add(j, s.file[1]); /* in place of the incomplete line */
		journal__close(j);
		spool__close(&s);
	}
}

TEST(refused_journals)
{
	struct spool s = open_spool();
	struct journal *j = open_journal(&s), *other;

	assert_int_equal(journal__open(&other, s.dir, JOURNAL_NAME, "https://h s3://b/", NULL),
			 -EBUSY);
	journal__close(j);
	assert_int_equal(journal__open(&j, s.dir, JOURNAL_NAME, "https://h s3://c/", NULL),
			 -EEXIST);
	assert_int_equal(chmod(at(JOURNAL_NAME), 0620), 0);
	assert_int_equal(journal__open(&j, s.dir, JOURNAL_NAME, "https://h s3://b/", NULL), -EPERM);
	write_file(JOURNAL_NAME, "\n");
	assert_int_equal(journal__open(&j, s.dir, JOURNAL_NAME, "https://h s3://b/", NULL),
			 -EEXIST);
	unlink(at(JOURNAL_NAME));
	assert_int_equal(symlink("x", at(JOURNAL_NAME)), 0);
	assert_int_equal(journal__open(&j, s.dir, JOURNAL_NAME, "https://h s3://b/", NULL), -ELOOP);
	spool__close(&s);
}

static bool is_kept(void *ctx, const char *name)
{
	return !strcmp(name, ctx);
}

static off_t journal_size(void)
{
	struct stat st;

	assert_int_equal(stat(at(JOURNAL_NAME), &st), 0);
	return st.st_size;
}

TEST(trimmed)
{
	struct spool s = open_spool();
	struct journal *j = open_journal(&s);
	struct journal_file file = { A, 1, 2 };
	off_t size;

	assert_int_equal(journal__add(j, &file, "0123", NULL), 0);
	for (file.name = B; file.bytes < 990; file.bytes++)
		assert_int_equal(journal__add(j, &file, "0123", NULL), 0);
	size = journal_size();
	assert_int_equal(journal__trim(j, 1, is_kept, A, NULL), 0);
	assert_int_equal(journal_size(), size); /* not worth it yet */
	for (; file.bytes < 1010; file.bytes++)
		assert_int_equal(journal__add(j, &file, "0123", NULL), 0);
	assert_int_equal(journal__trim(j, 1, is_kept, A, NULL), 0);
	assert_true(journal_size() < 200);
	file = (struct journal_file){ C, 3, 4 };
	assert_int_equal(journal__add(j, &file, "0123", NULL), 0);
	journal__close(j);
	j = open_journal(&s);
	assert_true(journal__has(j, &file));
	assert_true(journal__has(j, &(struct journal_file){ A, 1, 2 }));
	assert_false(journal__has(j, &(struct journal_file){ A, 1, 3 }));
	assert_false(journal__has(j, &(struct journal_file){ B, 5, 2 }));
	journal__close(j);
	spool__close(&s);
}

TEST(writable_by_others)
{
	struct spool s;

	assert_int_equal(chmod(at(""), 0722), 0);
	assert_int_equal(spool__open(&s, scratch("dir"), NULL), -EPERM);
	spool__close(&s);
	assert_int_equal(spool__open(&s, at("missing"), NULL), -ENOENT);
	spool__close(&s);
}
