// SPDX-License-Identifier: GPL-2.0
/*
 * What `gotrace ship` reads. The first byte selects: answers of a server, which bytes of the input split
 * into lines and parts; a file with keys; the journal, after its title or as a whole; names of files. What
 * is accepted is printable and within its limits, a failure has a reason, and the journal keeps what is
 * added to it, while another file stays as it is.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ship/answer.h"
#include "ship/credentials.h"
#include "ship/journal.h"
#include "ship/place.h"

#define TO    "https://h s3://b"
#define TITLE "# gotrace ship journal 1: " TO "\n"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool so)
{
	if (!so)
		abort();
}

static void require_printable(const char *text, size_t size)
{
	require(memchr(text, '\0', size));
	for (; *text; text++)
		require(*text >= ' ' && *text <= '~');
}

/* ---- answers ---- */

static void read_answer(const uint8_t *data, size_t size)
{
	static struct answer a;
	const uint8_t *end;
	size_t len;
	bool good = true;

	answer__begin(&a);
	while (good && size && *data != '\r') {
		end = memchr(data, '\n', size);
		len = end ? (size_t)(end + 1 - data) : size;
		good = answer__header(&a, (const char *)data, len);
		data += len;
		size -= len;
	}
	for (; good && size; data += len, size -= len) {
		len = 1 + *data * 20u < size ? 1 + *data * 20u : size;
		good = answer__body(&a, (const char *)data, len);
	}
	a.got.status = 500;
	if (good)
		answer__end(&a);
	else
		answer__fail(&a, "write error");
	require(a.kept <= ANSWER_BODY_KEPT && a.got.reason[0]);
	require(good || (!a.got.status && strstr(a.got.reason, "too large")));
	require_printable(a.got.checksum, sizeof(a.got.checksum));
	require_printable(a.got.sha256, sizeof(a.got.sha256));
	require_printable(a.got.code, sizeof(a.got.code));
	require_printable(a.got.reason, sizeof(a.got.reason));
}

/* ---- keys ---- */

static void read_keys(const uint8_t *data, size_t size)
{
	static struct credentials keys;
	struct error error = {};
	char *text = malloc(size + 1);
	int err;

	if (!text)
		return;
	memcpy(text, data, size);
	credentials__clear(&keys);
	err = credentials__parse(&keys, text, size, &error);
	require(err ? error.text[0] : keys.id[0] && keys.secret[0]);
	require_printable(keys.id, sizeof(keys.id));
	require_printable(keys.secret, sizeof(keys.secret));
	require_printable(keys.token, sizeof(keys.token));
	require_printable(error.text, sizeof(error.text));
	free(text);
}

/* ---- the journal ---- */

static char folder[] = "/tmp/fuzz-ship-XXXXXX";

static void remove_folder(void)
{
	rmdir(folder);
}

static int open_folder(void)
{
	static int fd = -1;

	if (fd < 0 && mkdtemp(folder)) {
		fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		atexit(remove_folder);
	}
	return fd;
}

static void write_file(int dir, const char *title, const uint8_t *data, size_t size)
{
	int fd = openat(dir, "j", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	require(fd >= 0 && write(fd, title, strlen(title)) == (ssize_t)strlen(title) &&
		write(fd, data, size) == (ssize_t)size);
	close(fd);
}

static bool is_kept(void *ctx, const char *name)
{
	return strcmp(name, "dropped");
}

static void require_same(int dir, const uint8_t *data, size_t size)
{
	static uint8_t again[1 << 20];
	int fd = openat(dir, "j", O_RDONLY | O_CLOEXEC);

	require(fd >= 0 && read(fd, again, sizeof(again)) == (ssize_t)size &&
		!memcmp(again, data, size));
	close(fd);
}

static void read_journal(const char *title, const uint8_t *data, size_t size)
{
	static const struct journal_file file = { "added", 17, 5 };
	struct error error = {};
	struct journal *j;
	int dir = open_folder(), err;

	write_file(dir, title, data, size);
	err = journal__open(&j, dir, "j", TO, &error);
	if (err) {
		require(err == -EEXIST && error.text[0] && !title[0]);
		require_same(dir, data, size);
		unlinkat(dir, "j", 0);
		return;
	}
	journal__has(j, &file);
	require(!journal__add(j, &file, "sum", &error));
	require(!journal__trim(j, 0, is_kept, NULL, &error));
	journal__close(j);
	require(!journal__open(&j, dir, "j", TO, &error) && journal__has(j, &file));
	journal__close(j);
	unlinkat(dir, "j", 0);
}

/* ---- names ---- */

static void read_name(const uint8_t *data, size_t size)
{
	struct place_parts parts;
	char name[300] = "";

	memcpy(name, data, size < sizeof(name) ? size : sizeof(name) - 1);
	if (!place__split(name, &parts))
		return;
	require_printable(parts.host, sizeof(parts.host));
	require_printable(parts.service, sizeof(parts.service));
	require_printable(parts.pid, sizeof(parts.pid));
	require_printable(parts.start, sizeof(parts.start));
	require(!strchr(parts.host, '/') && !strchr(parts.service, '/'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	switch (data[0] % 5) {
	case 0:
		read_answer(data + 1, size - 1);
		break;
	case 1:
		read_keys(data + 1, size - 1);
		break;
	case 2:
		read_journal(TITLE, data + 1, size - 1);
		break;
	case 3:
		read_journal("", data + 1, size - 1);
		break;
	default:
		read_name(data + 1, size - 1);
	}
	return 0;
}
