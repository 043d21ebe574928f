// Package protocol is the handshake between a target and the test that records it, over the
// target's stdin and stdout, so that the recorder is attached before the work starts and until
// after it ended:
//
//	target: ready PID
//	test:   start
//	test:   stop, only if the target works until then
//	target: done JSON
//	test:   exit
//
// End of file on stdin counts as the expected line, so that a target ends when its test died, and
// `target < /dev/null` can be run by hand.
package protocol

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

var stdin = bufio.NewReader(os.Stdin)

// Ready announces the target and waits for "start".
func Ready() {
	fmt.Printf("ready %d\n", os.Getpid())
	await("start")
}

// Stop waits for "stop", if a target works until then.
func Stop() {
	await("stop")
}

// Done prints the results and waits for "exit".
func Done(result any) {
	fmt.Printf("done %s\n", Must(json.Marshal(result)))
	await("exit")
}

// Fail ends the target with a message.
func Fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// Check ends the target if there is an error.
func Check(err error) {
	if err != nil {
		Fail(err)
	}
}

// Must returns a value unless there is an error, which ends the target.
func Must[T any](value T, err error) T {
	Check(err)
	return value
}

func await(word string) {
	line, err := stdin.ReadString('\n')
	if err == nil && line != word+"\n" {
		Fail(fmt.Errorf("expected the line %q, got %q", word, line))
	}
}
