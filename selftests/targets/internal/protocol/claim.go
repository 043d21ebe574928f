package protocol

// Claim is a number of events that a trace must have exactly; the done line of a target may carry
// a list of them as "expect", for selftests/reference/cmd/truth. Functions names the goroutines
// by the functions they were started with; several are added up. Event is one of
//
//	create destroy    of the goroutine
//	block stop        running->waiting, running->runnable, for one of Reasons
//	unblock           waiting->runnable after having blocked for one of Reasons, where ""
//	                  stands for coroutine switches and for blocked before the trace
//	syscall           running->syscall
//	syscall-end       syscall->running or ->runnable
//	syscall-blocked   syscall->runnable: it had lost its P
//	range             begins of the range named by Reasons, whoever's
//	task task-end     of the types of Reasons
//	region region-end of the names of Reasons
//	log               with a category of Reasons
//
// No Reasons means any reason.
type Claim struct {
	Name      string   `json:"name"`
	Functions []string `json:"functions,omitempty"`
	Event     string   `json:"event"`
	Reasons   []string `json:"reasons,omitempty"`
	Count     int      `json:"count"`
	Why       string   `json:"why"`
}
