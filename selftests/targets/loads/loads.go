// Loads is a Go program that loads a Go library (-buildmode=c-shared, ../library) and calls it, so that its
// process has two Go runtimes.
//
//	loads [-late] [-library] FILE
//
// It speaks the handshake of package protocol; the done line claims numbers of its own runtime, or of the
// library's.
package main

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stddef.h>

static int (*work)(void);

static const char *load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);

	if (library)
		work = (int (*)(void))dlsym(library, "Work");
	return work ? NULL : dlerror();
}

static int call(void)
{
	return work();
}
*/
import "C"

import (
	"flag"
	"runtime"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

const (
	rounds  = 200
	workers = 3 // of the library, in each round
)

func load(path string) {
	if why := C.load(C.CString(path)); why != nil {
		panic(C.GoString(why))
	}
}

func own(done chan<- bool) {
	time.Sleep(50 * time.Microsecond)
	done <- true
}

func claims(function string, count int) []protocol.Claim {
	functions := []string{function}
	return []protocol.Claim{
		{Name: "created", Functions: functions, Event: "create", Count: count, Why: "one go statement each"},
		{Name: "finished", Functions: functions, Event: "destroy", Count: count, Why: "all have returned"},
		{Name: "sleeps", Functions: functions, Event: "block", Reasons: []string{"sleep"}, Count: count,
			Why: "each sleeps once"},
	}
}

func main() {
	late := flag.Bool("late", false, "load the library after the start")
	library := flag.Bool("library", false, "claim what the library does")
	flag.Parse()

	if !*late {
		load(flag.Arg(0))
	}
	protocol.Ready()
	if *late {
		load(flag.Arg(0))
	}
	done := make(chan bool)
	for i := 0; i < rounds; i++ {
		go own(done)
		C.call()
		<-done
	}
	time.Sleep(10 * time.Millisecond)
	expect := claims("main.own", rounds)
	if *library {
		expect = claims("main.worker", workers*rounds)
	}
	protocol.Done(map[string]any{"go": runtime.Version(), "expect": expect})
}
