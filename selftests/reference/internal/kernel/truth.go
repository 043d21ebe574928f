package kernel

import (
	"fmt"
	"sort"
)

type call struct {
	function, name string
	result         int64
}

// Calls compares the system calls that a target reports with ours; function has the start functions
// of goroutines. Each call must have its end on the same thread, with the same name.
func Calls(items []Item, done *Done, function map[int64]string) (wrong []string) {
	counts := map[call]int{}
	open := map[int]Item{}
	for _, item := range items {
		if item.Time < done.From || item.Time > done.To {
			continue
		}
		switch item.Event {
		case "sys_enter":
			if before, ok := open[item.M]; ok {
				wrong = append(wrong, fmt.Sprintf("thread %d: %s begins at %d within %s", item.M, item.Syscall,
					item.Time, before.Syscall))
			}
			open[item.M] = item
		case "sys_exit":
			enter, ok := open[item.M]
			delete(open, item.M)
			if !ok {
				continue // it began before the work
			}
			if enter.Number != item.Number {
				wrong = append(wrong, fmt.Sprintf("thread %d: %s ends at %d as %s", item.M, enter.Syscall,
					item.Time, item.Syscall))
			}
			if enter.G != nil {
				counts[call{function[*enter.G], enter.Syscall, item.Result}]++
			}
		}
	}
	for _, c := range done.Calls {
		n := counts[call{c.Function, c.Name, c.Result}]
		if n != c.Count {
			wrong = append(wrong, fmt.Sprintf("%s: %s = %d %d times, not %d", c.Function, c.Name, c.Result, n, c.Count))
		}
	}
	return wrong
}

// Threads compares the threads that begin, end and get a name until the target is done. They
// disappear from /proc shortly before they leave their CPU for the last time. One that was
// preempted in between may not have run again when the recording ended: then it is in the system
// call exit, and off its CPU. One that begins while the target lists its threads may not be listed.
func Threads(items []Item, done *Done) (wrong []string) {
	there, names, ended, late := map[int]bool{}, map[int]string{}, map[int]bool{}, map[int]bool{}
	last, exits := map[int]Item{}, map[int]bool{}
	for _, t := range done.Before {
		there[t.ID] = true
	}
	for _, item := range items {
		last[item.M] = item
		if item.Event == "sys_enter" {
			exits[item.M] = item.Syscall == "exit"
		}
		if item.Time > done.To && item.Event != "ended" {
			continue
		}
		switch item.Event {
		case "created":
			there[item.M], names[item.M] = true, item.Name
			late[item.M] = item.Time >= done.Listed
			delete(ended, item.M)
		case "named":
			names[item.M] = item.Name
		case "ended":
			delete(there, item.M)
			ended[item.M] = true
		}
	}
	for _, t := range done.Ended {
		if exits[t.ID] && last[t.ID].Event == "off_cpu" && last[t.ID].Why == "preempted" {
			delete(there, t.ID)
			ended[t.ID] = true
		}
		if !ended[t.ID] || names[t.ID] != t.Name {
			wrong = append(wrong, fmt.Sprintf("thread %d (%s): ended %t, name %q", t.ID, t.Name, ended[t.ID], names[t.ID]))
		}
	}
	for _, t := range done.After {
		if !there[t.ID] {
			wrong = append(wrong, fmt.Sprintf("thread %d (%s) is there, ours is not", t.ID, t.Name))
		}
		if name, ok := names[t.ID]; ok && name != t.Name {
			wrong = append(wrong, fmt.Sprintf("thread %d: %q is %q", t.ID, t.Name, name))
		}
		delete(there, t.ID)
	}
	for _, id := range sortedInts(there) {
		if !late[id] {
			wrong = append(wrong, fmt.Sprintf("thread %d is gone, ours is not", id))
		}
	}
	return wrong
}

func sortedInts(m map[int]bool) (all []int) {
	for id := range m {
		all = append(all, id)
	}
	sort.Ints(all)
	return all
}
