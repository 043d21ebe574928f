// Package slowfs is a FUSE file system with a single file, of which reads and fsync are slow. The layouts are
// those of linux/fuse.h, in little-endian words.
package slowfs

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

const (
	mount = "/mnt"
	// Size of the file.
	Size = 1 << 30
	// Delay of each request.
	Delay = 10 * time.Millisecond

	fuseLookup, fuseForget, fuseGetattr, fuseOpen, fuseRead = 1, 2, 3, 14, 15
	fuseFsync                                               = 20
	fuseInit, fuseBatchForget                               = 26, 42
	fuseInHeader                                            = 40
	fileNode                                                = 2
)

// Start starts a process whose main calls Serve, in a mount namespace of its own, which ends with the process,
// and returns the path of the file.
func Start(cmd *exec.Cmd, start func(*exec.Cmd)) string {
	cmd.SysProcAttr.Unshareflags = syscall.CLONE_NEWNS
	out := protocol.Must(cmd.StdoutPipe())
	start(cmd)
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		protocol.Fail(fmt.Errorf("the slow file system: %q, %w", line, err))
	}
	return fmt.Sprintf("/proc/%d/root%s/file", cmd.Process.Pid, mount)
}

// Serve is the other process; it returns when the file system is unmounted.
func Serve() {
	fd, err := syscall.Open("/dev/fuse", syscall.O_RDWR, 0)
	if err != nil {
		protocol.Fail(fmt.Errorf("/dev/fuse: %w", err))
	}
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", fd)
	if err := syscall.Mount("gotrace", mount, "fuse", syscall.MS_RDONLY, options); err != nil {
		protocol.Fail(fmt.Errorf("fuse at %s: %w", mount, err))
	}
	fmt.Println("mounted")
	for request := make([]byte, 1<<20); ; {
		n, err := syscall.Read(fd, request)
		if err == syscall.EINTR || err == syscall.ENOENT {
			continue
		}
		if err != nil || n < fuseInHeader {
			return
		}
		op := binary.LittleEndian.Uint32(request[4:])
		if op == fuseForget || op == fuseBatchForget {
			continue
		}
		answer, errno := serve(op, request[:n])
		if _, err := syscall.Write(fd, reply(request, answer, errno)); err != nil && err != syscall.ENOENT {
			return
		}
	}
}

func serve(op uint32, request []byte) ([]byte, syscall.Errno) {
	switch op {
	case fuseInit: // 7.31, no read-ahead, reads are asynchronous
		return words(16, 7, 31, 0, 1), 0
	case fuseLookup:
		return append(words(10, fileNode, 0, 0, 0, 3600, 0, 3600), attributes(fileNode)...), 0
	case fuseGetattr:
		return append(words(4, 3600), attributes(binary.LittleEndian.Uint64(request[16:]))...), 0
	case fuseOpen:
		return words(4), 0
	case fuseFsync:
		time.Sleep(Delay)
		return nil, 0
	case fuseRead:
		time.Sleep(Delay)
		return make([]byte, binary.LittleEndian.Uint32(request[fuseInHeader+16:])), 0
	}
	return nil, syscall.ENOSYS
}

func attributes(node uint64) []byte {
	mode := uint32(syscall.S_IFDIR | 0o555)
	if node == fileNode {
		mode = syscall.S_IFREG | 0o444
	}
	return words(22, uint32(node), 0, Size, 0, Size/512, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, mode, 1)
}

func reply(request, answer []byte, errno syscall.Errno) []byte {
	header := words(4, uint32(16+len(answer)), uint32(-int32(errno)))
	copy(header[8:], request[8:16]) // the request's number
	return append(header, answer...)
}

// words is n words of 32 bits, starting with these.
func words(n int, first ...uint32) []byte {
	all := make([]byte, 4*n)
	for i, w := range first {
		binary.LittleEndian.PutUint32(all[4*i:], w)
	}
	return all
}
