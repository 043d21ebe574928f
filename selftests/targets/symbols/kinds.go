package main

// Functions of all kinds for the program's text: generic ones, methods with wrappers (of embedded
// types, of values called by pointer, through interfaces, bound), closures, deferred and recovered
// ones, inlined ones three levels deep, a //line directive, and with cgo (cgo.go) C's and what C
// calls.

import (
	"fmt"
	"os"
	"sort"
	"strings"
)

type number interface{ ~int | ~float64 }

type list[K comparable, V number] struct {
	keys   []K
	values map[K]V
}

func (l *list[K, V]) add(key K, value V) {
	if _, ok := l.values[key]; !ok {
		l.keys = append(l.keys, key)
	}
	l.values[key] += value
}

func (l list[K, V]) each(f func(K, V)) {
	for _, key := range l.keys {
		f(key, l.values[key])
	}
}

func fold[T, R any](from []T, start R, f func(R, T) R) R {
	for _, v := range from {
		start = f(start, v)
	}
	return start
}

type adder interface{ add(string, int) }

type named struct {
	list[string, int]
	name string
}

func (n named) String() string { return n.name + strings.Repeat("!", outer(len(n.keys))) }

func outer(n int) int  { return middle(n) + 1 }
func middle(n int) int { return inner(n) * 2 }
func inner(n int) int {
	if n < 0 {
		panic("negative")
	}
	return n + 1
}

func guarded(f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	f()
	return nil
}

// pause blocks until another goroutine wakes it.
func pause() {
	c := make(chan int)
	go func() { c <- 1 }()
	<-c
}

func use() {
	n := &named{list[string, int]{values: map[string]int{}}, "a"}
	var a adder = n
	add := n.add
	a.add("b", 1)
	add("c", 2)
	floats := list[int, float64]{values: map[int]float64{}}
	floats.add(1, 2.5)
	sum := 0
	n.each(func(_ string, v int) { sum += v })
	floats.each(func(k int, _ float64) { sum += k })
	sum += fold([]string{"x", "yz"}, 0, func(s int, v string) int { return s + len(v) })
	err := guarded(func() { elsewhere(-sum) })
	done := make(chan struct{})
	go func(s fmt.Stringer) { _ = s.String(); close(done) }(n)
	<-done
	sort.Slice(n.keys, func(i, j int) bool { return n.keys[i] < n.keys[j] })
	if err == nil || useC(sum) != sum+1 {
		fmt.Fprintln(os.Stderr, "this program is broken")
		os.Exit(1)
	}
}

// The last one, since the directive affects all following lines.
//
//go:noinline
func elsewhere(n int) int {
//line elsewhere.y:1000
	return outer(n) + 3
}
