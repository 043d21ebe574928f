// SPDX-License-Identifier: GPL-2.0
/*
 * The memory limit of lib/memory_limit.h. lib/command.c sets it before the command runs, and for
 * its option.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/memory_limit.h"
#include "lib/opts.h"

#define MIB	 (1ull << 20)
#define BASE	 (512 * MIB)
#define PER_BYTE 64 /* of input: traces up to Go 1.21, which are read completely, need 14 */
#define SMALLEST (16 * MIB)

static uint64_t limit; /* 0: none */
static bool set;       /* by the user */

static void apply(uint64_t size)
{
	struct rlimit r;

#ifdef __SANITIZE_ADDRESS__
	return; /* the shadow memory counts, and exceeds any limit */
#endif
	if (getrlimit(RLIMIT_DATA, &r))
		return;
	r.rlim_cur = size < r.rlim_max ? size : r.rlim_max;
	if (!setrlimit(RLIMIT_DATA, &r))
		limit = r.rlim_cur;
}

/* Of the container, if it has a limit. */
static uint64_t machine(void)
{
	uint64_t bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE), group;
	FILE *f = fopen("/sys/fs/cgroup/memory.max", "re");

	if (f) {
		if (fscanf(f, "%" SCNu64, &group) == 1 && group < bytes)
			bytes = group;
		fclose(f);
	}
	return bytes;
}

/* Size of the file that a word of the command line names, as FILE or --option=FILE. */
static uint64_t size_of(const char *word)
{
	const char *value = strchr(word, '=');
	struct stat st;

	if (!strcmp(word, "-"))
		return fstat(STDIN_FILENO, &st) || !S_ISREG(st.st_mode) ? 0 : (uint64_t)st.st_size;
	if (word[0] == '-' && value)
		word = value + 1;
	return stat(word, &st) || !S_ISREG(st.st_mode) ? 0 : (uint64_t)st.st_size;
}

void memory_limit__default(int argc, char **argv)
{
	uint64_t half = machine() / 2, size = 0, wanted;

	for (int i = 1; i < argc; i++)
		if (__builtin_add_overflow(size, size_of(argv[i]), &size))
			size = UINT64_MAX;
	if (!size || __builtin_mul_overflow(size, PER_BYTE, &wanted) ||
	    __builtin_add_overflow(wanted, BASE, &wanted) || wanted > half)
		wanted = half;
	apply(wanted);
}

bool memory_limit__set(const char *size)
{
	uint64_t bytes;

	if (!opts__size(size, SMALLEST, INT64_MAX, &bytes))
		return false;
	apply(bytes);
	set = true;
	return true;
}

bool memory_limit__is_set(void)
{
	return set;
}

uint64_t memory_limit__bytes(void)
{
	return limit;
}

void memory_limit__explain(struct error *error, const char *name)
{
	if (error->code != -ENOMEM || !limit)
		return;
	snprintf(error->text, sizeof(error->text),
		 "%s%smemory limit of %" PRIu64 "M exceeded; raise it with --max-memory",
		 name ? name : "", name ? ": " : "", limit >> 20);
}
