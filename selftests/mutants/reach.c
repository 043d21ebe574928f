// SPDX-License-Identifier: GPL-2.0
/*
 * Records which functions of the library a unit test calls, in the instrumented build for `make mutants`,
 * where the compiler inserts a call at the start of each function (-finstrument-functions).
 *
 * The file that MUTANTS_REACH names gets a byte 1 at the offset that the function has in
 * libgotrace.so. It is mapped, so that a child which is killed has left its functions too. Without
 * MUTANTS_REACH nothing is recorded. The file's reader is selftests/reference/cmd/mutants/reach.go.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define SELF __attribute__((no_instrument_function))

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

static char *reached;

SELF __attribute__((constructor)) static void map_file(void)
{
	const char *path = getenv("MUTANTS_REACH");
	int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
	size_t size = (size_t)(etext - __ehdr_start);
	void *map;

	if (fd < 0 || ftruncate(fd, (off_t)size))
		return;
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (map != MAP_FAILED)
		reached = map;
}

SELF void __cyg_profile_func_enter(void *function, void *site)
{
	const char *at = function;

	if (reached && at >= __ehdr_start && at < etext)
		reached[at - __ehdr_start] = 1;
}

SELF void __cyg_profile_func_exit(void *function, void *site)
{
}
