/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Opens files of /proc for reading, also in a process that may open no other files.
 *
 * Each path begins with "/proc/".
 */
#ifndef TARGET_PROCESS_PROC_H
#define TARGET_PROCESS_PROC_H

#include <dirent.h>
#include <stdio.h>
#include <sys/types.h>

struct stat;

/*
 * From now on this process uses `fd`, a directory, in place of /proc, so that a filter of system calls can
 * permit it and nothing else. proc__directory() opens it, with -errno on failure: where that is possible,
 * no path and no link leads out of it. proc__use() returns 0 or -errno, and needs /proc.
 */
int proc__directory(void);
int proc__use(int fd);

/* None may contain a link: "/proc/self", for example. */
int proc__open(const char *path); /* a descriptor or -errno */
FILE *proc__fopen(const char *path);
DIR *proc__opendir(const char *path);
ssize_t proc__readlink(const char *path, char *buf, size_t size);
/* As regular__stat(): of a link, what it refers to. 0 or -errno. */
int proc__stat(const char *path, struct stat *ret);

#endif
