// Lengthy gives the recorder texts of 1 MiB wherever a program supplies texts while it runs: types of tasks,
// regions, categories and messages of logs, labels, requests, and a mapping below as many folders as give a
// path of that length. See selftests/check/long_names.sh, which adds the names in its file.
//
//	lengthy FOLDER
//
// It speaks the handshake of package protocol; between "start" and "done", everything is done several times.
package main

import (
	"context"
	"net"
	"net/http"
	"os"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"syscall"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

const (
	length = 1 << 20
	inPath = length - 4096 // the HTTP server's limit is for the whole head of a request
	times  = 8
	folder = 255 // the longest name of a file
)

var long = strings.Repeat("n", length)

// deep is in a mapping's name.
func mapDeep(top string) {
	protocol.Check(os.Chdir(top))
	name := strings.Repeat("d", folder)
	for n := 0; n < length; n += folder + 1 {
		protocol.Check(syscall.Mkdir(name, 0o700))
		protocol.Check(syscall.Chdir(name))
	}
	fd, err := syscall.Open("mapped", syscall.O_RDWR|syscall.O_CREAT, 0o600)
	protocol.Must(fd, err)
	protocol.Check(syscall.Ftruncate(fd, 4096))
	_, err = syscall.Mmap(fd, 0, 4096, syscall.PROT_READ, syscall.MAP_PRIVATE)
	protocol.Check(err)
}

func serve() (url string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	protocol.Check(err)
	go http.Serve(listener, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	return "http://" + listener.Addr().String() + "/"
}

func request(url string) {
	answer, err := http.Get(url + long[:inPath])
	protocol.Check(err)
	answer.Body.Close()
}

func annotate() {
	ctx, task := trace.NewTask(context.Background(), long)
	trace.WithRegion(ctx, long, func() { trace.Log(ctx, long, long) })
	task.End()
	done := make(chan bool)
	go pprof.Do(ctx, pprof.Labels(long, long, "k", long, long+"2", "v"), func(context.Context) {
		close(done)
	})
	<-done
}

func main() {
	if len(os.Args) > 1 {
		mapDeep(os.Args[1])
	}
	url := serve()
	protocol.Ready()
	for i := 0; i < times; i++ {
		annotate()
		request(url)
		named()
	}
	protocol.Done(nil)
}
