/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel, libbpf's part of it, the module and the rings, for tests of capture/probes.c; and the
 * program that is probed.
 */
#ifndef UNIT_PROBES_FIXTURE_H
#define UNIT_PROBES_FIXTURE_H

#define UNUSED __attribute__((unused))

#include <pthread.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "unit/test.h"
#include "capture/detach.h"
#include "capture/kernel_probes.h"
#include "capture/kmod.h"
#include "capture/probes.h"
#include "capture/rings.h"
#include "capture/pid_ns.h"
#include "capture/sampler.h"

#include "unit/fake_skeleton.h"
#include "gotrace.skel.h"

#define LINKS 64

struct bpf_link {
	const struct bpf_program *program;
	size_t sites;
	unsigned int destroyed;
};

static struct {
	const char *release; /* of the kernel */
	struct gt_pid_ns pid_ns;
	int no_pid_ns;
	/* links */
	struct bpf_link link[LINKS];
	unsigned int links, attach_fails; /* at this link, from 1 on */
	int attach_error;
	unsigned long offset[4]; /* of the last uprobe_multi */
	const char *path;
	__u64 cookie[4];
	/* threads */
	bool no_threads;
	unsigned int threads, joins;
	/* module, rings, kernel events, samples */
	int module_error, rings_error, finish_error, kernel_error, kernel_attach_error,
		sampler_error;
	bool kfuncs, no_rings;
	unsigned int kernels, samplers, hz, selected;
	struct gt_counters counters[2];
	gt_u64 skipped;

	struct site site[200];
	struct site_list sites;
	struct gt_config config;
	struct probes_opts opts;
	struct probes *s;
	struct error err;
} t;

/* ---- the kernel and libbpf ---- */

int uname(struct utsname *name)
{
	strcpy(name->release, t.release);
	return 0;
}

int pid_ns__find(struct gt_pid_ns *ret, struct error *err)
{
	*ret = t.pid_ns;
	return t.no_pid_ns ? error__set(err, t.no_pid_ns, "no namespace") : 0;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *ctx)
{
	if (t.no_threads)
		return EAGAIN;
	t.threads++;
	fn(ctx);
	return 0;
}

int pthread_join(pthread_t thread, void **result)
{
	t.joins++;
	return 0;
}

int bpf_program__set_expected_attach_type(struct bpf_program *program, enum bpf_attach_type type)
{
	program->type = (int)type;
	return 0;
}

static struct bpf_link *make_link(const struct bpf_program *program, size_t sites)
{
	if (t.links + 1 == t.attach_fails) {
		errno = t.attach_error;
		return NULL;
	}
	assert_true(program->autoload);
	t.link[t.links] = (struct bpf_link){ program, sites, 0 };
	return &t.link[t.links++];
}

int bpf_program__fd(const struct bpf_program *program)
{
	return program->autoload ? 7 : -ENOENT;
}

struct bpf_link *bpf_program__attach(const struct bpf_program *program)
{
	return make_link(program, 0);
}

struct bpf_link *bpf_program__attach_uprobe_multi(const struct bpf_program *program, pid_t pid,
						  const char *path, const char *pattern,
						  const struct bpf_uprobe_multi_opts *opts)
{
	assert_int_equal(pid, 42);
	if (strcmp(path, "/proc/self/fd/11") != 0)
		assert_string_equal(path, "/proc/self/fd/9");
	t.path = path;
	for (size_t i = 0; i < opts->cnt && i < 4; i++) {
		t.offset[i] = opts->offsets[i];
		t.cookie[i] = opts->cookies[i];
	}
	return make_link(program, opts->cnt);
}

struct bpf_link *bpf_program__attach_uprobe_opts(const struct bpf_program *program, pid_t pid,
						 const char *path, size_t offset,
						 const struct bpf_uprobe_opts *opts)
{
	t.offset[0] = offset;
	t.cookie[0] = opts->bpf_cookie;
	return make_link(program, 1);
}

int bpf_link__destroy(struct bpf_link *link)
{
	if (link)
		link->destroyed++;
	return 0;
}

void detach__links(struct bpf_link **link, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		link[i]->destroyed++;
}

int bpf_map_lookup_elem(int fd, const void *key, void *value)
{
	assert_int_equal(fd, 77);
	memcpy(value, t.counters, sizeof(t.counters));
	return 0;
}

/* ---- the rest of capture ---- */

int kmod__open(struct kmod **ret, struct error *err)
{
	return t.module_error ? error__set(err, t.module_error, "no module") : 0;
}

STUB(bool, kmod__has_kfuncs, (const struct kmod *), t.kfuncs)
STUB_VOID(kmod__close, (struct kmod *))

int rings__start(struct rings *r, uint32_t size)
{
	*r = (struct rings){ .cpus = 2, .n = 2, .size = size, .counters = 77 };
	r->job[1].fd = 31;
	return t.rings_error;
}

int rings__start_none(struct rings *r)
{
	t.no_rings = true;
	*r = (struct rings){ .cpus = 2, .counters = 77 };
	return 0;
}

STUB(int, rings__use, (const struct rings *, struct bpf_object *), 0)

int rings__reset(const struct rings *r)
{
	assert_int_equal(r->counters, 77);
	return -E2BIG;
}

int rings__forget_slots(const struct rings *r)
{
	assert_int_equal(r->counters, 77);
	return 0;
}

STUB(int, rings__finish, (struct rings *), t.finish_error)
STUB_VOID(rings__destroy, (struct rings *))

int kernel_probes__open(struct kernel_probes **ret, const struct gt_config *config,
			const struct gt_pid_ns *pid_ns, const struct rings *rings,
			unsigned int sets, bool sockets, struct error *err)
{
	if (t.kernel_error)
		return error__set(err, t.kernel_error, "no kernel events");
	assert_int_equal(config->tgid, 42);
	assert_memory_equal(pid_ns, &t.pid_ns, sizeof(*pid_ns));
	assert_int_equal(sets, (t.opts.sets & (SITE_SET(KERNEL) | SITE_SET(FAULT))) |
				       (config->syscall_at ? SITE_SET(SYSCALL) : 0));
	t.kernels++;
	*ret = (struct kernel_probes *)&t;
	return 0;
}

int kernel_probes__attach(struct kernel_probes *k, struct error *err)
{
	return t.kernel_attach_error ? error__set(err, t.kernel_attach_error, "not attached") : 0;
}

STUB_VOID(kernel_probes__detach, (struct kernel_probes *))

void kernel_probes__add_skipped(const struct kernel_probes *k, gt_u64 lost[GT_KIND_END])
{
	lost[GT_WAKING] += t.skipped;
}

void kernel_probes__forget_skipped(struct kernel_probes *k)
{
	t.skipped = 0;
}

void kernel_probes__select(struct kernel_probes *k, unsigned int sets)
{
	t.selected = sets;
}

STUB(int, kernel_probes__present, (const struct kernel_probes *), 0)

void kernel_probes__destroy(struct kernel_probes *k)
{
	t.kernels -= k != NULL;
}

int sampler__open(struct sampler **ret, const struct gt_config *config,
		  const struct gt_pid_ns *pid_ns, const struct rings *rings, struct error *err)
{
	assert_memory_equal(pid_ns, &t.pid_ns, sizeof(*pid_ns));
	t.samplers++;
	*ret = (struct sampler *)&t;
	return t.sampler_error;
}

int sampler__attach(struct sampler *s, unsigned int hz, struct error *err)
{
	t.hz = hz;
	return 0;
}

STUB_VOID(sampler__throttled, (struct sampler *, struct private_cpu_samples *))
STUB_VOID(sampler__detach, (struct sampler *))
STUB_VOID(sampler__destroy, (struct sampler *))

/* ---- helpers ---- */

static void add_site(enum gt_probe probe, uint64_t offset)
{
	struct site *site = &t.site[t.sites.n++];

	site->probe = probe;
	site->offset = offset;
	site->cookie = 3;
	strcpy(site->func, "f");
	t.sites.has[probe] = true;
}

static int set_up(void **state)
{
	memset(&t, 0, sizeof(t));
	memset(&fake, 0, sizeof(fake));
	t.release = "6.12.0-1-amd64";
	t.pid_ns = (struct gt_pid_ns){ .address = 0xffff888000000000, .level = 2 };
	t.module_error = -ENOENT;
	t.config.g_goid = 152;
	t.sites.site = t.site;
	add_site(GT_PROBE_EXECUTE, 0x100);
	add_site(GT_PROBE_EXECUTE, 0x200);
	add_site(GT_PROBE_PARK, 0x300);
	add_site(GT_PROBE_SYSCALL_ENTER, 0x400);
	t.opts = (struct probes_opts){ .pid = 42,
				       .path = "/proc/self/fd/9",
				       .config = &t.config,
				       .sites = &t.sites,
				       .stack_depth = 24,
				       .sets = SITE_SET(SCHED) | SITE_SET(KERNEL),
				       .ring_size = 1 << 20 };
	return 0;
}

static int tear_down(void **state)
{
	probes__destroy(t.s);
	assert_int_equal(t.kernels, 0);
	for (unsigned int i = 0; i < t.links; i++)
		assert_int_equal(t.link[i].destroyed, 1);
	assert_int_equal(t.threads, t.joins);
	return 0;
}

FIXTURE(set_up, tear_down)

static int open_it(void)
{
	return probes__open(&t.s, &t.opts, &t.err);
}

UNUSED static int open_and_attach(void)
{
	int code = open_it();

	return code ? code : probes__attach(t.s, &t.err);
}

UNUSED static const struct bpf_program *find(const char *name)
{
	for (unsigned int i = 0; i < fake.programs; i++)
		if (!strcmp(fake.program[i].name, name))
			return &fake.program[i];
	fail_msg("no program %s", name);
	return NULL;
}

UNUSED static unsigned int loaded(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < fake.programs; i++) {
		n += fake.program[i].autoload;
		assert_false(fake.program[i].autoattach);
	}
	return n;
}

#endif
