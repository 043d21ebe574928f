// SPDX-License-Identifier: GPL-2.0
/*
 * Reads and writes of the target's goroutines on sockets, and when data arrived there.
 *
 * A request can be read before the runtime looks: it polls the network only when a thread looks for
 * work, which no thread does during a stop-the-world pause or while all Ps are busy. So the time of
 * arrival is that at which the kernel wakes those that wait for the socket to be readable, of which
 * one is epoll: tracepoint sock:sk_data_ready. Data may arrive before the connection is accepted, so
 * that it is not known yet whose it is: each connection that is established counts.
 *
 * An object of its own with sched.bpf.c, loaded with `record --requests`. Kernels before 6.3 lack
 * these tracepoints (capture/kernel_probes.c). The programs run for all sockets of the machine: for
 * those of other processes they end after one lookup. Downstream: userspace/sequence/state_request.c.
 */
#include "task.bpf.h"

struct sk_buff_head {
	u32 qlen;
} __attribute__((preserve_access_index));

struct sock {
	struct sk_buff_head sk_receive_queue;
} __attribute__((preserve_access_index));

struct connection {
	u64 id;	     /* never used again while the recording lasts */
	u64 arrived; /* when the first byte that is unread came; 0: all is read, or unknown */
	u64 latest;  /* when data came last */
	u64 owner;   /* g of the goroutine that was the first to read */
	u64 wrote;   /* 1: the owner has written since it read last */
};

/*
 * In the kernel's own struct sock, with which an entry ends. Writers: these programs. One entry of
 * 40 bytes for each connection that the target has read from, and for each that others have
 * established with the machine since the recording began.
 */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct connection);
} connections SEC(".maps");

static __always_inline struct connection *connection__get(struct sock *sk, bool create)
{
	struct connection *c;

	c = bpf_sk_storage_get(&connections, sk, NULL, create ? BPF_SK_STORAGE_GET_F_CREATE : 0);
	if (c && !c->id)
		c->id = bpf_ktime_get_ns();
	return c;
}

/* States of the kernel's TCP. */
#define TCP_ESTABLISHED 1
#define TCP_SYN_RECV	3

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(socket_established, struct sock *sk, int before, int state)
{
	if (before == TCP_SYN_RECV && state == TCP_ESTABLISHED)
		connection__get(sk, true);
	return 0;
}

SEC("tp_btf/sk_data_ready")
int BPF_PROG(socket_readable, struct sock *sk)
{
	struct connection *c = connection__get(sk, false);

	if (!c)
		return 0;
	c->latest = bpf_ktime_get_ns();
	if (!c->arrived)
		c->arrived = c->latest;
	return 0;
}

static __always_inline void emit_socket(const struct connection *c, u64 g, u64 arrived, u32 bytes,
					enum gt_socket_what what, u32 tid)
{
	emit (rec, GT_SOCKET, c->owner, 0, tid, sizeof(struct gt_socket)) {
		struct gt_socket *socket = (void *)(rec + 1);

		socket->connection = c->id;
		socket->caller = g;
		socket->arrived = arrived;
		socket->bytes = bytes;
		socket->what = what;
	}
}

/* The goroutine whose system call this is; 0: Go's code did not make it. */
static __always_inline u64 calling_goroutine(void)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());

	return REGS_PC(regs) == config.syscall_at ? REGS_G(regs) : 0;
}

/*
 * What is unread after a read has arrived when data came last, or earlier. Data that comes after the
 * first store sets the time itself, and none is overlooked, since the queue is looked at after it.
 */
static __always_inline u64 take_arrival(struct connection *c, struct sock *sk)
{
	u64 arrived = c->arrived;

	*(volatile u64 *)&c->arrived = 0;
	if (*(volatile u32 *)&sk->sk_receive_queue.qlen && !*(volatile u64 *)&c->arrived)
		c->arrived = c->latest;
	return arrived;
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(socket_read, struct sock *sk, int result)
{
	u32 tid = pid__current_of(config.tgid);
	u64 g = tid ? calling_goroutine() : 0;
	struct connection *c;
	bool own;

	c = g ? connection__get(sk, true) : NULL;
	if (!c)
		return 0;
	if (!c->owner)
		c->owner = g;
	own = c->owner == g;
	if (result > 0)
		emit_socket(c, g, take_arrival(c, sk), result,
			    own ? GT_SOCKET_READ : GT_SOCKET_AHEAD, tid);
	else if (own && c->wrote)
		emit_socket(c, g, 0, 0, GT_SOCKET_READ, tid);
	if (own)
		c->wrote = 0;
	return 0;
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(socket_written, struct sock *sk, int result)
{
	u32 tid = pid__current_of(config.tgid);
	struct connection *c = tid && result > 0 ? connection__get(sk, false) : NULL;

	if (!c || c->owner != calling_goroutine())
		return 0;
	c->wrote = 1;
	emit_socket(c, c->owner, 0, result, GT_SOCKET_WROTE, tid);
	return 0;
}
