// SPDX-License-Identifier: GPL-2.0
/*
 * The files of programs: see program_files.h.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "lib/hash.h"
#include "selection/program_files.h"

#define ENTRIES	  1024
#define SOON	  3	       /* failures without a delay */
#define DELAY	  100000000ull /* ns; doubled by each failure */
#define DELAY_MAX 10000000000ull

struct program_files {
	struct program_entry entry[ENTRIES];
};

struct program_files *program_files__create(void)
{
	return calloc(1, sizeof(struct program_files));
}

void program_files__destroy(struct program_files *t)
{
	free(t);
}

bool program_file__of_process(pid_t pid, struct program_file *ret)
{
	struct statx st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	/* The file may be on a file system of another user, which need not answer. */
	if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_BASIC_STATS, &st))
		return false;
	*ret = (struct program_file){
		.dev = makedev(st.stx_dev_major, st.stx_dev_minor),
		.ino = st.stx_ino,
		.size = st.stx_size,
		.modified = (uint64_t)st.stx_mtime.tv_sec * 1000000000 + st.stx_mtime.tv_nsec,
	};
	return true;
}

struct program_entry *program_files__get(struct program_files *t, const struct program_file *file)
{
	struct program_entry *e = &t->entry[hash__bytes(file, sizeof(*file)) % ENTRIES];

	if (memcmp(&e->file, file, sizeof(*file)))
		*e = (struct program_entry){ .file = *file };
	return e;
}

void program_entry__failed(struct program_entry *e, uint64_t now)
{
	uint64_t delay = DELAY;

	e->failures++;
	if (e->failures < SOON)
		return;
	for (unsigned int i = SOON; i < e->failures && delay < DELAY_MAX; i++)
		delay *= 2;
	e->retry = now + (delay < DELAY_MAX ? delay : DELAY_MAX);
}

void program_entry__recorded(struct program_entry *e)
{
	e->failures = 0;
	e->retry = 0;
}
