// SPDX-License-Identifier: GPL-2.0
/*
 * Attaches an empty BPF program to each probe site of a running process that a recording has by
 * default, until SIGINT: the baseline that `make bench` compares the recorder with. Prints "recording", like the recorder, once attached.
 *
 *	empty PID
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "capture/probes_impl.h"
#include "target/infer/buildinfo.h"
#include "target/probe/site.h"
#include "target/process/process.h"
#include "target/symbols/pclntab.h"
#include "empty.skel.h"

static int find_sites(pid_t pid, struct process *proc, struct site_list *sites,
		      struct layout *layout, struct error *err)
{
	struct go_buildinfo info;
	struct elf_image *elf;
	struct pclntab *pt;
	int rc;

	rc = process__open(proc, pid, err);
	if (!rc)
		rc = elf_image__open(&elf, proc->exe_fd, proc->exe, err);
	if (!rc)
		rc = buildinfo__read(elf, &info, err);
	if (!rc)
		rc = pclntab__open(&pt, elf, &info.version, err);
	if (!rc)
		rc = layout__read(elf, pt, &info.version, NULL, layout, err);
	return rc ? rc : site_list__find(sites, elf, pt, layout, err);
}

int main(int argc, char **argv)
{
	unsigned long offsets[SITES_MAX];
	LIBBPF_OPTS(bpf_uprobe_multi_opts, opts, .offsets = offsets);
	struct site_list sites = {};
	struct empty_bpf *skel;
	struct error err = {};
	struct process proc;
	struct layout layout;
	struct probes_opts wanted = { .sites = &sites, .sets = SITE_SETS_DEFAULT };
	sigset_t stop;
	int sig;

	sigemptyset(&stop);
	sigaddset(&stop, SIGINT);
	sigprocmask(SIG_BLOCK, &stop, NULL);
	if (argc != 2 || find_sites(atoi(argv[1]), &proc, &sites, &layout, &err) ||
	    sites.n > SITES_MAX) {
		fprintf(stderr, "empty: %s\n", err.text);
		return 1;
	}
	wanted.derives = layout.derives_parks;
	for (size_t i = 0; i < sites.n; i++)
		if (probes__wants(&wanted, sites.site[i].probe))
			offsets[opts.cnt++] = sites.site[i].offset;
	skel = empty_bpf__open_and_load();
	if (!skel || !bpf_program__attach_uprobe_multi(skel->progs.empty, proc.pid,
						       proc.attach_path, NULL, &opts)) {
		perror("empty: attach");
		return 1;
	}
	fprintf(stderr, "gotrace-bpf: recording nothing\n");
	sigwait(&stop, &sig);
	return 0;
}
