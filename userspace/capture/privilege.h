/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Drops privileges as soon as they are no longer needed.
 */
#ifndef CAPTURE_PRIVILEGE_H
#define CAPTURE_PRIVILEGE_H

/*
 * Purposes for which capabilities are kept. The section PRIVILEGES of the manual has the same list.
 */
#define PRIVILEGE_READ                                                                             \
	(1u << 0) /* reading the target's memory, also after losses: CAP_SYS_PTRACE */
/* opening files that the target has mapped: CAP_CHECKPOINT_RESTORE, CAP_DAC_READ_SEARCH */
#define PRIVILEGE_MODULES (1u << 1)
/* signals to a command that may have changed its user: CAP_KILL */
#define PRIVILEGE_COMMAND (1u << 2)
/* renaming in a folder of another user: CAP_DAC_OVERRIDE, CAP_FOWNER */
#define PRIVILEGE_FOLDER  (1u << 3)
/*
 * Opening perf events for another window: CAP_PERFMON, and for uprobes also CAP_SYS_ADMIN, which the
 * kernel requires since 6.16 ("perf: Revert to requiring CAP_SYS_ADMIN for uprobes"). Links of
 * uprobe_multi and tracepoints require none once the programs are loaded (verified on 6.18).
 */
#define PRIVILEGE_EVENTS  (1u << 4)
#define PRIVILEGE_UPROBES (1u << 5)
/* ptrace() by a new guardian of inline probes, in place of one that was killed: no capability more */
#define PRIVILEGE_INLINE  (1u << 6)
/* giving further files to the user of sudo, see writer/output_owner.h: CAP_CHOWN */
#define PRIVILEGE_OWNER	  (1u << 7)

/*
 * Drops every capability that is not for a purpose in `keep`, empties the bounding, inheritable and
 * ambient sets, and sets no_new_privs, for the calling thread and the threads that it creates
 * later. Can be called again with fewer purposes. Failures do not fail the recording.
 */
void privilege__drop(unsigned int keep);

/*
 * Makes system calls fail with EPERM that a recorder does not need once its probes are attached, but
 * that someone who took it over would: for all threads, for its children, and for ever. Requires
 * no_new_privs. ptrace() remains for a command that is started, which is traced for its exec
 * (PRIVILEGE_COMMAND in `keep`), and for PRIVILEGE_INLINE. Failures do not fail the recording.
 */
void privilege__forbid_calls(unsigned int keep);

#endif
