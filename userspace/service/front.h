/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The front of 'gotrace-bpf serve': the process that answers HTTP clients, without privileges.
 *
 *     GET /                                     a page with the links below
 *     GET /metrics                              OpenMetrics
 *     GET /targets                              JSON
 *     GET /debug/pprof/                         an index, as that of net/http/pprof
 *     GET /debug/pprof/trace?seconds=N&pid=P    a trace, as that of net/http/pprof
 *
 * It has no data of its own: each answer is a result of the supervisor, requested through
 * service/channel.h. Upstream: gotrace-bpf/front_process.c, which listens, forks and calls front__run().
 * Downstream: libmicrohttpd, which parses HTTP; see front.c for its limits, sandbox.c for what
 * confines the process.
 */
#ifndef SERVICE_FRONT_H
#define SERVICE_FRONT_H

#include <stdbool.h>
#include <sys/types.h>

#include "lib/error.h"

#define FRONT_TRACE_SECONDS 600		  /* longest trace that a client may request */
#define FRONT_ALIVE_NS	    5000000000ull /* between two CHANNEL_ALIVE of the front */

struct own_socket;

struct front_opts {
	uid_t uid;		 /* if the caller is root: change to this user (front_user.h) */
	gid_t gid;		 /* as uid */
	unsigned int request_ms; /* time for a client to send a request; 0: 10 s. For tests. */
	unsigned int answer_ms;	 /* time for the supervisor to answer; 0: 10 s. For tests. */
	bool strict;		 /* see struct sandbox_opts */
};

/*
 * Listens on a loopback address or a Unix socket: "127.0.0.1:PORT", "[::1]:PORT", "localhost:PORT"
 * (the former), "unix:PATH" (see own_socket.h). Port 0 chooses one. A message reports the address.
 * Returns a descriptor, or a negative errno and the reason. -EINVAL: it is not such an address. A Unix
 * socket is in *ret, too, for its removal; otherwise ret->fd is -1.
 */
int front__listen(const char *address, struct own_socket *ret, struct error *error);

/*
 * Serves clients until the supervisor closes the channel, in a process of its own. Takes both
 * descriptors and closes all others except stderr. 0, or a negative errno: the reason has been
 * reported. The process must then exit with _exit().
 */
int front__run(int listen_fd, int channel_fd, const struct front_opts *opts);

#endif
