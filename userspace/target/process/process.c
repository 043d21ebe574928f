// SPDX-License-Identifier: GPL-2.0
/*
 * A running process, inspected without stopping or modifying it.
 *
 * First step for a PID. Upstream: /proc. Downstream: live.c and snapshot.c read its memory through
 * it. The pidfd and the start time detect that a PID was reused.
 */
#include "target/process/process.h"

#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <linux/capability.h>

#include "lib/capability.h"
#include "target/process/proc.h"
#include "lib/regular.h"
#include "target/process/reader.h"

#define IOV_BATCH 1024 /* UIO_MAXIOV */

ssize_t process__read_file(pid_t pid, const char *name, char *buf, size_t size)
{
	size_t done = 0;
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = proc__open(path);
	if (fd < 0)
		return fd;
	while (done < size - 1 && (n = read(fd, buf + done, size - 1 - done)) > 0)
		done += (size_t)n;
	close(fd);
	buf[done] = 0;
	return (ssize_t)done;
}

/* Copies the value of "KEY:" in the text of /proc/PID/status. */
static bool status_field(const char *status, const char *key, char *ret, size_t size)
{
	size_t len = strlen(key);

	for (const char *p = status; p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL) {
		if (!strncmp(p, key, len) && p[len] == ':') {
			p += len + 1;
			p += strspn(p, " \t");
			snprintf(ret, size, "%.*s", (int)strcspn(p, "\n"), p);
			return true;
		}
	}
	return false;
}

bool process__status(pid_t pid, const char *file, const char *key, char *ret, size_t size)
{
	char status[8192];

	return process__read_file(pid, file, status, sizeof(status)) > 0 &&
	       status_field(status, key, ret, size);
}

#define START_TIME  22
#define START_STACK 28

/* A field of /proc/PID/stat, counted after the command, which may contain blanks and brackets. */
static uint64_t read_stat(pid_t pid, int which)
{
	char buf[1024], *p;

	if (process__read_file(pid, "stat", buf, sizeof(buf)) <= 0)
		return 0;
	p = strrchr(buf, ')');
	for (int field = 2; p && field < which; field++)
		p = strchr(p + 1, ' ');
	return p ? strtoull(p, NULL, 10) : 0;
}

static void read_cmdline(struct process *proc)
{
	ssize_t n = process__read_file(proc->pid, "cmdline", proc->cmdline, sizeof(proc->cmdline));

	while (n > 0 && !proc->cmdline[n - 1])
		n--;
	for (ssize_t i = 0; i < n; i++) {
		if (!isprint((unsigned char)proc->cmdline[i]) &&
		    !(proc->cmdline[i] & 0x80)) /* NUL separates arguments; UTF-8 is kept */
			proc->cmdline[i] = ' ';
	}
}

static int check_status(struct process *proc, struct error *error)
{
	char status[8192], field[256];

	if (process__read_file(proc->pid, "status", status, sizeof(status)) <= 0)
		return error__set(error, -ESRCH, "no process with PID %d", proc->pid);
	if (status_field(status, "Tgid", field, sizeof(field)) && atoi(field) != proc->pid)
		return error__set(error, -ESRCH, "PID %d is a thread; its process is %d", proc->pid,
				  atoi(field));
	if (status_field(status, "State", field, sizeof(field)) &&
	    (field[0] == 'Z' || field[0] == 'X'))
		return error__set(error, -ESRCH, "process %d has ended (it is a zombie)",
				  proc->pid);
	if (!status_field(status, "VmSize", field, sizeof(field)))
		return error__set(error, -ENOEXEC, "PID %d is a kernel thread, not a program",
				  proc->pid);
	if (status_field(status, "NSpid", field, sizeof(field)))
		proc->own_pid_ns = strchr(field, '\t');
	return 0;
}

bool process__runs_this_program(pid_t pid)
{
	struct stat own, other;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return !proc__stat("/proc/self/exe", &own) && !proc__stat(path, &other) &&
	       own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

static int open_exe(struct process *proc, struct error *error)
{
	struct stat st;
	ssize_t n;

	snprintf(proc->exe_path, sizeof(proc->exe_path), "/proc/%d/exe", proc->pid);
	n = readlink(proc->exe_path, proc->exe, sizeof(proc->exe) - 1);
	proc->exe[n > 0 ? n : 0] = 0;
	proc->exe_fd = regular__open(proc->exe_path, NULL);
	snprintf(proc->attach_path, sizeof(proc->attach_path), "/proc/self/fd/%d", proc->exe_fd);
	if (proc->exe_fd >= 0 && !regular__stat(proc->exe_fd, NULL, &st)) {
		proc->program_dev = st.st_dev;
		proc->program_ino = st.st_ino;
	}
	if (proc->exe_fd >= 0)
		return 0;
	/* With a name the process may be inspected, so that the mode of the file is the reason. */
	if (proc->exe_fd == -EACCES && n > 0 && !capability__has(CAP_DAC_READ_SEARCH) &&
	    !capability__has(CAP_DAC_OVERRIDE))
		return error__set(error, -EPERM,
				  "no permission to read the program of process %d: run as root, "
				  "or with CAP_DAC_READ_SEARCH",
				  proc->pid);
	if (proc->exe_fd == -EACCES || proc->exe_fd == -EPERM)
		return error__set(
			error, -EPERM, "no permission to inspect process %d: %s", proc->pid,
			capability__has(CAP_SYS_PTRACE) ?
				"it is in a user namespace in which this program has no "
				"privileges, or a security module forbids it" :
			geteuid() ? "run as root, or with CAP_SYS_PTRACE" :
				    "CAP_SYS_PTRACE is missing, for example in a container");
	if (proc->exe_fd == -ENOENT) /* the link has no file: the process is a zombie by now */
		return error__set(error, -ESRCH, "process %d ended", proc->pid);
	return error__set(error, proc->exe_fd, "cannot open the program of process %d: %s",
			  proc->pid, strerror(-proc->exe_fd));
}

int process__open(struct process *ret, pid_t pid, struct error *error)
{
	struct process proc = { .pid = pid, .pidfd = -1, .exe_fd = -1 };
	int err;

	if (pid <= 0)
		return error__set(error, -EINVAL, "%d is not a PID", pid);
	proc.start_time = read_stat(pid, START_TIME);
	proc.start_stack = read_stat(pid, START_STACK);
	err = check_status(&proc, error);
	if (!err) {
		proc.pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
		if (proc.pidfd < 0)
			err = error__set(error, -errno,
					 errno == ESRCH ? "no process with PID %d" :
							  "cannot open process %d",
					 pid);
	}
	if (!err)
		err = open_exe(&proc, error);
	if (!err && read_stat(pid, START_TIME) != proc.start_time)
		err = error__set(error, -ESRCH, "process %d ended", pid);
	if (err) {
		process__deinit(&proc);
		return err;
	}
	read_cmdline(&proc);
	*ret = proc;
	return 0;
}

void process__deinit(struct process *proc)
{
	if (proc->pidfd >= 0)
		close(proc->pidfd);
	if (proc->exe_fd >= 0)
		close(proc->exe_fd);
	map__deinit(&proc->ns_tids);
	map__deinit(&proc->host_tids);
	*proc = (struct process){ .pidfd = -1, .exe_fd = -1 };
}

/*
 * Whether a line of /proc/PID/maps maps file offset `offset` executable: 2 if it names the program,
 * 1 if only the inode matches.
 */
static int fits(const struct process *proc, char *line, uint64_t offset, ino_t ino, uint64_t *ret)
{
	uint64_t start, end, off, inode;
	int name_at = 0;
	char x;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*c%*c%c%*c %" SCNx64 " %*x:%*x %" SCNu64 " %n",
		   &start, &end, &x, &off, &inode, &name_at) < 5)
		return 0;
	line[strcspn(line, "\n")] = 0;
	if (x != 'x' || offset < off || offset - off >= end - start)
		return 0;
	*ret = start + (offset - off);
	if (name_at && !strcmp(line + name_at, proc->exe))
		return 2;
	return inode == ino ? 1 : 0;
}

/*
 * Finds the mapping of the executable page at offset `offset` of the program's file. On overlay
 * file systems the inode in maps is the lower file's, and a library on another file system may have
 * the program's inode: so the name decides, and the inode only if no name matches.
 */
static bool find_mapping(const struct process *proc, uint64_t offset, uint64_t *ret)
{
	char path[64], *line = NULL;
	uint64_t mapped;
	size_t size = 0;
	struct stat st;
	int best = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", proc->pid);
	f = fopen(path, "re");
	if (!f || regular__stat(proc->exe_fd, NULL, &st))
		st.st_ino = 0;
	while (f && best < 2 && getline(&line, &size, f) > 0) {
		int fit = fits(proc, line, offset, st.st_ino, &mapped);

		if (fit > best) {
			best = fit;
			*ret = mapped;
		}
	}
	free(line);
	if (f)
		fclose(f);
	return best > 0;
}

/* Uses maps, not auxv, which CAP_SYS_PTRACE does not make readable for other users. */
int process__find_bias(struct process *proc, const struct elf_image *elf, struct error *error)
{
	uint64_t vaddr, offset, mapped, page = (uint64_t)sysconf(_SC_PAGESIZE) - 1;

	if (!elf_image__text_segment(elf, &vaddr, &offset))
		return error__set(error, -ENOEXEC, "the program has no executable segment");
	if (!find_mapping(proc, offset & ~page, &mapped))
		return error__set(
			error, -EPROTO,
			"process %d has not mapped its program %s, or /proc/%d/maps cannot be read: "
			"it is still starting or called exec (try again), or CAP_SYS_PTRACE is missing (run as root)",
			proc->pid, proc->exe, proc->pid);
	proc->bias = mapped - (vaddr & ~page);
	return 0;
}

int process__read(const struct process *proc, uint64_t addr, void *buf, size_t len)
{
	struct iovec local = { buf, len }, remote = { (void *)addr, len };
	ssize_t n = reader__vm_read(proc->pid, &local, &remote, 1);

	if (n < 0)
		return -errno;
	return (size_t)n == len ? 0 : -EFAULT;
}

/* A call ends at the first of up to IOV_BATCH pieces that cannot be read; the caller skips it. */
static ssize_t read_batch(const struct process *proc, const uint64_t *addr, size_t n, char *buf,
			  size_t len)
{
	struct iovec remote[IOV_BATCH], local = { buf, n * len };
	ssize_t done;

	for (size_t i = 0; i < n; i++)
		remote[i] = (struct iovec){ (void *)addr[i], len };
	done = reader__vm_read(proc->pid, &local, remote, n);
	if (done < 0)
		return errno == EFAULT ? 0 : -errno;
	return done / (ssize_t)len;
}

int process__read_many(const struct process *proc, const uint64_t *addr, size_t n, void *buf,
		       size_t len, bool *ok)
{
	size_t at = 0;

	memset(ok, 0, n * sizeof(*ok));
	while (at < n) {
		size_t batch = n - at < IOV_BATCH ? n - at : IOV_BATCH;
		ssize_t got = read_batch(proc, addr + at, batch, (char *)buf + at * len, len);

		if (got < 0)
			return (int)got;
		memset(ok + at, true, (size_t)got);
		at += (size_t)got;
		if ((size_t)got < batch)
			at++;
	}
	return 0;
}

/* As read_batch(). */
static ssize_t read_ranges(const struct process *proc, const struct process_range *range, size_t n,
			   char *buf)
{
	struct iovec remote[IOV_BATCH], local = { buf, 0 };
	ssize_t done, i;

	for (i = 0; i < (ssize_t)n; i++) {
		remote[i] = (struct iovec){ (void *)range[i].addr, range[i].len };
		local.iov_len += range[i].len;
	}
	done = reader__vm_read(proc->pid, &local, remote, n);
	if (done < 0)
		return errno == EFAULT ? 0 : -errno;
	for (i = 0; i < (ssize_t)n && done >= (ssize_t)range[i].len; i++)
		done -= (ssize_t)range[i].len;
	return i;
}

int process__read_ranges(const struct process *proc, const struct process_range *range, size_t n,
			 void *buf, bool *ok)
{
	char *to = buf;
	size_t at = 0;

	memset(ok, 0, n * sizeof(*ok));
	while (at < n) {
		size_t batch = n - at < IOV_BATCH ? n - at : IOV_BATCH;
		ssize_t got = read_ranges(proc, range + at, batch, to);
		size_t end = at + (size_t)got + ((size_t)got < batch);

		if (got < 0)
			return (int)got;
		memset(ok + at, true, (size_t)got);
		while (at < end)
			to += range[at++].len;
	}
	return 0;
}

bool process__alive(const struct process *proc)
{
	struct pollfd p = { .fd = proc->pidfd, .events = POLLIN };

	return poll(&p, 1, 0) == 0;
}

bool process__is_same(const struct process *proc)
{
	struct stat now;

	return process__alive(proc) && !proc__stat(proc->exe_path, &now) &&
	       proc->program_ino == now.st_ino && proc->program_dev == now.st_dev &&
	       read_stat(proc->pid, START_TIME) == proc->start_time &&
	       read_stat(proc->pid, START_STACK) == proc->start_stack;
}

/* What has a program now had one before, and it was another one. */
bool process__was_replaced(const struct process *proc)
{
	struct stat now;

	return !process__is_same(proc) && process__alive(proc) && !proc__stat(proc->exe_path, &now);
}

int process__check_same(const struct process *proc, struct error *error)
{
	if (process__is_same(proc))
		return 0;
	return error__set(error, -ESRCH, "process %d ended or executed another program", proc->pid);
}

/* "NSpid: 4711 12 3": in our namespace, ..., in the target's. */
static void add_thread(struct process *proc, const char *tid)
{
	char field[256], name[64];
	const char *last;
	uint64_t host, ns;

	snprintf(name, sizeof(name), "task/%.20s/status", tid);
	if (!process__status(proc->pid, name, "NSpid", field, sizeof(field)))
		return;
	last = strrchr(field, '\t');
	host = strtoul(field, NULL, 10);
	ns = strtoul(last ? last + 1 : field, NULL, 10);
	if (host && ns && !map__put(&proc->host_tids, ns, (void *)host))
		map__put(&proc->ns_tids, host, (void *)ns);
}

/* Reads only new threads: reading one costs as much as listing ten. */
static void read_threads(struct process *proc)
{
	struct dirent *e;
	char path[64];
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", proc->pid);
	d = opendir(path);
	if (!d)
		return;
	while ((e = readdir(d))) {
		if (isdigit((unsigned char)e->d_name[0]) &&
		    !map__get(&proc->ns_tids, strtoul(e->d_name, NULL, 10)))
			add_thread(proc, e->d_name);
	}
	closedir(d);
}

static bool is_thread(const struct process *proc, uint32_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%" PRIu32, proc->pid, tid);
	return tid && !access(path, F_OK);
}

void process__begin_reading(const struct process *process)
{
	((struct process *)process)->listings = 0;
}

uint32_t process__host_tid(const struct process *process, uint64_t nstid)
{
	struct process *proc = (struct process *)process; /* modifies only the cache */
	uint32_t tid;

	if (!nstid || nstid > INT_MAX)
		return 0;
	tid = proc->own_pid_ns ? (uintptr_t)map__get(&proc->host_tids, nstid) : (uint32_t)nstid;
	if (is_thread(proc, tid))
		return tid;
	if (!proc->own_pid_ns)
		return 0;
	map__remove(&proc->ns_tids, tid); /* its TID may have been reused */
	map__remove(&proc->host_tids, nstid);
	if (proc->listings >= PROCESS_LISTINGS)
		return 0;
	proc->listings++;
	read_threads(proc);
	return (uintptr_t)map__get(&proc->host_tids, nstid);
}
