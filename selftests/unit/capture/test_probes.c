// SPDX-License-Identifier: GPL-2.0
/*
 * The probes of one recording: which programs are loaded, how they are attached, what is done
 * without the kernel's own events, and how all is taken away. The kernel, libbpf's part of it, the
 * module and the rings are this file's.
 */
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

struct bpf_link *bpf_program__attach(const struct bpf_program *program)
{
	return make_link(program, 0);
}

struct bpf_link *bpf_program__attach_uprobe_multi(const struct bpf_program *program, pid_t pid,
						  const char *path, const char *pattern,
						  const struct bpf_uprobe_multi_opts *opts)
{
	assert_int_equal(pid, 42);
	assert_string_equal(path, "/proc/self/fd/9");
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
			unsigned int sets, struct error *err)
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

static int open_and_attach(void)
{
	int code = open_it();

	return code ? code : probes__attach(t.s, &t.err);
}

static const struct bpf_program *find(const char *name)
{
	for (unsigned int i = 0; i < fake.programs; i++)
		if (!strcmp(fake.program[i].name, name))
			return &fake.program[i];
	fail_msg("no program %s", name);
	return NULL;
}

static unsigned int loaded(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < fake.programs; i++) {
		n += fake.program[i].autoload;
		assert_false(fake.program[i].autoattach);
	}
	return n;
}

/* ---- tests ---- */

TEST(versions)
{
	static const char *const old[] = { "6.9.9", "5.20.1", "x", "" };
	static const char *const has[] = { "6.10.0", "6.11-rc1", "7.0.1", "10.0" };

	for (int i = 0; i < 4; i++) {
		t.release = old[i];
		assert_false(probes__kernel_has_multi());
		t.release = has[i];
		assert_true(probes__kernel_has_multi());
	}
}

TEST(by_multi)
{
	assert_int_equal(open_and_attach(), 0);
	assert_true(probes__multi(t.s) && !probes__kfuncs(t.s) && probes__has_kernel(t.s));
	assert_int_equal(loaded(), 3);
	assert_true(find("process_exec")->autoload && find("execute")->autoload &&
		    find("park")->autoload);
	assert_int_equal(find("park")->type, -1);
	assert_int_equal(t.links, 3); /* of exec; both sites of one program; not of set syscall */
	assert_ptr_equal(t.link[0].program, find("process_exec"));
	assert_int_equal(t.link[1].sites + t.link[2].sites, 3);
	assert_int_equal(fake.rodata.config.tgid, 42);
	assert_int_equal(fake.rodata.config.rings, 2);
	assert_int_equal(fake.rodata.config.stack_depth, 24);
	assert_int_equal(fake.rodata.config.g_goid, 152); /* the layout's */
	assert_int_equal(fake.rodata.config.inlined_sites,
			 1); /* a cookie where there usually is none */
	assert_int_equal(probes__rings(t.s), 2);
	assert_int_equal(probes__ring_fd(t.s, 1), 31);
	assert_int_equal(probes__ring_bytes(t.s), 2 << 20);
	assert_true(probes__memory(t.s) > (2 << 20) + 2 * sizeof(struct gt_counters));
	assert_int_equal(t.hz, 0);
	assert_int_equal(t.samplers, 0);
}

TEST(sites_of_a_link)
{
	t.opts.sets = SITE_SET(SCHED);
	t.sites.has[GT_PROBE_PARK] = false;
	assert_int_equal(open_and_attach(), 0);
	assert_false(probes__has_kernel(t.s));
	assert_int_equal(t.links, 2);
	assert_int_equal(t.link[1].sites, 2);
	assert_int_equal(t.offset[0], 0x100);
	assert_int_equal(t.offset[1], 0x200);
	assert_int_equal(t.cookie[1], GT_COOKIE(GT_PROBE_EXECUTE, 3));
}

/* Parks and ends have no probes then. */
TEST(derived)
{
	t.opts.sets = SITE_SET(SCHED);
	t.opts.derives = true;
	t.opts.derived_ns = 1500;
	add_site(GT_PROBE_DESTROY, 0x500);
	assert_int_equal(open_and_attach(), 0);
	assert_int_equal(t.links, 2);
	assert_int_equal(t.link[1].sites, 2);
	assert_int_equal(fake.rodata.config.derives, 1);
	assert_int_equal(fake.rodata.config.derived_ns, 1500);
}

/* System calls have no probes if their tracepoints can be used, with or without set kernel. */
TEST(derived_calls)
{
	t.opts.sets = SITE_SET(SCHED) | SITE_SET(SYSCALL);
	t.opts.derives = true;
	add_site(GT_PROBE_SYSCALL_AT, 0x500);
	assert_int_equal(open_and_attach(), 0);
	assert_int_equal(t.kernels, 1);
	assert_int_equal(t.links, 2);
	assert_true(fake.rodata.config.syscall_at && probes__calls_only(t.s));
	assert_false(probes__has_kernel(t.s));
	probes__destroy(t.s);
	t.links = 0;
	t.opts.sets |= SITE_SET(KERNEL);
	assert_int_equal(open_and_attach(), 0);
	assert_int_equal(t.links, 2);
	assert_true(fake.rodata.config.syscall_at && probes__has_kernel(t.s));
	assert_false(probes__calls_only(t.s));
	probes__destroy(t.s);
	t.links = 0;
	t.opts.sets &= ~SITE_SET(KERNEL);
	t.kernel_error = -EPERM;
	assert_int_equal(open_and_attach(), 0);
	assert_int_equal(t.kernels, 0);
	assert_int_equal(t.links, 3); /* syscall_enter */
	assert_true(!fake.rodata.config.syscall_at && !probes__calls_only(t.s));
}

TEST(too_many_sites)
{
	while (t.sites.n < 2 + 128)
		add_site(GT_PROBE_EXECUTE, 0x1000 + t.sites.n);
	assert_int_equal(open_and_attach(), 0); /* 128 */
	probes__destroy(t.s);
	t.links = 0;
	t.s = NULL;
	add_site(GT_PROBE_EXECUTE, 0x5000);
	assert_int_equal(open_and_attach(), -E2BIG);
}

TEST(by_perf)
{
	t.opts.force_perf = true;
	assert_int_equal(open_and_attach(), 0);
	assert_false(probes__multi(t.s));
	assert_int_equal(t.links, 4);
	assert_int_equal(t.offset[0], 0x300);
	assert_int_equal(t.cookie[0], GT_COOKIE(GT_PROBE_PARK, 3));
	assert_int_equal(find("park")->type, 0);
	assert_int_equal(find("process_exec")->type, -1);
	assert_int_equal(find("process_exec_session")->type, -1);
	probes__destroy(t.s);
	t.links = 0;
	t.s = NULL;
	t.opts.force_perf = false;
	t.release = "6.9.0";
	assert_int_equal(open_and_attach(), 0);
	assert_int_equal(t.links, 4);
}

TEST(cannot_attach)
{
	static const struct {
		unsigned int link;
		int error;
		const char *text;
	} cases[] = {
		{ 1, EPERM, "sched_process_exec: not permitted; run as root" },
		{ 2, ESRCH, "process 42 ended while probes were being attached" },
		{ 3, EACCES, "cannot attach a probe to f: not permitted" },
		{ 2, EINVAL, "cannot attach a probe to f: Invalid argument" },
	};

	for (int i = 0; i < 4; i++) {
		t.attach_fails = cases[i].link;
		t.attach_error = cases[i].error;
		assert_int_equal(open_and_attach(), -cases[i].error);
		if (!strstr(t.err.text, cases[i].text))
			fail_msg("%s", t.err.text);
		assert_int_equal(t.links, cases[i].link - 1);
		tear_down(NULL);
		set_up(NULL);
	}
}

/* Set kernel is left out where it cannot be had, if that is allowed. */
TEST(without_kernel)
{
	t.kernel_error = -EPERM;
	assert_int_equal(open_it(), -EPERM);
	assert_string_equal(t.err.text, "no kernel events");
	t.err.text[0] = 0;
	t.opts.kernel_optional = true;
	assert_int_equal(open_and_attach(), 0);
	assert_false(probes__has_kernel(t.s));
	probes__destroy(t.s);
	t.links = 0;
	t.kernel_error = 0;
	assert_int_equal(open_and_attach(), 0);
	assert_true(probes__has_kernel(t.s));
	probes__destroy(t.s);
	t.links = 0;
	t.kernel_attach_error = -EIO;
	assert_int_equal(open_and_attach(), 0);
	assert_int_equal(t.kernels, 0);
	assert_false(probes__has_kernel(t.s));
	probes__destroy(t.s);
	t.links = 0;
	t.s = NULL;
	t.opts.kernel_optional = false;
	t.no_threads = true; /* then it is opened here */
	assert_int_equal(open_and_attach(), -EIO);
	assert_string_equal(t.err.text, "not attached");
}

TEST(samples)
{
	t.opts.sample_hz = 99;
	assert_int_equal(open_and_attach(), 0);
	assert_int_equal(t.samplers, 1);
	assert_int_equal(t.hz, 99);
	probes__destroy(t.s);
	t.links = 0;
	t.s = NULL;
	fake.load_error = -EINVAL; /* nothing more is tried */
	assert_int_equal(open_it(), -EINVAL);
	assert_int_equal(t.samplers, 1);
	fake.load_error = 0;
	t.sampler_error = -EMFILE;
	assert_int_equal(open_it(), -EMFILE);
}

TEST(cannot_load)
{
	fake.load_error = -EACCES;
	assert_int_equal(open_it(), -EACCES);
	assert_non_null(strstr(t.err.text, "verifier rejects"));
	t.err.text[0] = 0;
	fake.load_error = -EPERM;
	assert_int_equal(open_it(), -EPERM);
	assert_non_null(strstr(t.err.text, "not permitted; run as root"));
	t.err.text[0] = 0;
	fake.load_error = 0;
	fake.open_error = -EINVAL;
	assert_int_equal(open_it(), -EINVAL);
	assert_non_null(strstr(t.err.text, "cannot open the BPF programs: Invalid argument"));
	t.err.text[0] = 0;
	t.release = "5.15.0-130-generic";
	assert_int_equal(open_it(), -EINVAL);
	assert_non_null(strstr(t.err.text, "the kernel is older than Linux 6.1"));
	t.release = "6.12.0-1-amd64";
	t.err.text[0] = 0;
	fake.open_error = 0;
	t.finish_error = -ENOMEM;
	assert_int_equal(open_it(), -ENOMEM);
	assert_non_null(strstr(t.err.text, "cannot create a ring buffer"));
	t.err.text[0] = 0;
	t.rings_error = -EPERM;
	assert_int_equal(open_it(), -EPERM);
	assert_non_null(strstr(t.err.text, "cannot create the ring buffers"));
	t.err.text[0] = 0;
	t.no_pid_ns = -ENOTSUP;
	assert_int_equal(open_it(), -ENOTSUP);
	assert_string_equal(t.err.text, "no namespace");
}

TEST(module)
{
	size_t with_module;

	gotrace_bpf__elf_bytes(&with_module);
	t.module_error = 0;
	assert_int_equal(open_it(), 0); /* which no program can call */
	assert_true(fake.elf_bytes != with_module);
	assert_false(probes__kfuncs(t.s));
	assert_int_equal(fake.rodata.config.kfuncs, 0);
	probes__destroy(t.s);
	t.kfuncs = true;
	assert_int_equal(open_it(), 0);
	assert_true(probes__kfuncs(t.s));
	assert_int_equal(fake.rodata.config.kfuncs, 1);
	assert_int_equal(fake.elf_bytes, with_module); /* programs that know the module */
	assert_false(t.no_rings);
}

/* Records that go to a session of the module need it. */
TEST(to_the_module)
{
	t.opts.session = 17;
	assert_int_equal(open_it(), -ENOENT);
	assert_string_equal(t.err.text, "no module");
	t.err.text[0] = 0;
	t.module_error = 0;
	assert_int_equal(open_it(), -ENOTSUP);
	assert_non_null(strstr(t.err.text, "gotrace-bpf doctor"));
	t.err.text[0] = 0;
	t.kfuncs = true;
	assert_int_equal(open_and_attach(), 0);
	assert_true(t.no_rings);
	assert_int_equal(fake.rodata.config.session, 17);
	assert_int_equal(probes__rings(t.s), 0);
	assert_ptr_equal(t.link[0].program, find("process_exec_session"));
	assert_false(find("process_exec")->autoload);
	probes__destroy(t.s);
	t.links = 0;
	t.opts.sets |= SITE_SET(FAULT);
	assert_int_equal(open_it(), 0);
	probes__destroy(t.s);
	t.s = NULL;
	t.release = "6.11.9";
	assert_int_equal(open_it(), -ENOTSUP);
	assert_non_null(strstr(t.err.text, "without event set fault"));
}

/* Each link is destroyed once, even if probes__detach() is called twice. */
TEST(detaches)
{
	assert_int_equal(open_and_attach(), 0);
	probes__detach(t.s);
	for (int i = 0; i < 3; i++)
		assert_int_equal(t.link[i].destroyed, 1);
	probes__detach(t.s);
	probes__destroy(t.s);
	t.s = NULL;
	for (int i = 0; i < 3; i++)
		assert_int_equal(t.link[i].destroyed, 1);
}

/* Texts that were sent, and what threads run, are forgotten, with what is in the shared maps. */
TEST(resets)
{
	assert_int_equal(open_and_attach(), 0);
	probes__start_slots(t.s);
	probes__detach(t.s);
	memset(&fake.rodata, 0xff, sizeof(fake.rodata)); /* all that is mapped */
	t.skipped = 3;
	assert_int_equal(probes__reset(t.s), -E2BIG);
	assert_int_equal(t.skipped, 0);
	for (size_t i = 0; i < sizeof(fake.rodata); i++)
		assert_int_equal(fake.rodata.bytes[i], 0);
}

TEST(counters)
{
	struct gt_counters got;

	t.counters[0].lost[3] = 5;
	t.counters[1].lost[3] = 7;
	t.counters[1].read_errors = 2;
	t.skipped = 4;
	assert_int_equal(open_it(), 0);
	memset(&got, 1, sizeof(got));
	assert_int_equal(probes__counters(t.s, &got), 0);
	assert_int_equal(got.lost[3], 12);
	assert_int_equal(got.lost[0], 0);
	assert_int_equal(got.lost[GT_WAKING], 4);
	assert_int_equal(got.read_errors, 2);
}
