package main

// This file gives goroutines labels that no Go program has: pointers to nothing, lengths without end,
// and chains of buckets that lead back to themselves. The recorder must survive all of them.

import (
	"sync"
	"unsafe"

	_ "runtime/pprof"
)

// setLabels sets the labels of this goroutine without a look at them.
//
//go:linkname setLabels runtime/pprof.runtime_setProfLabel
func setLabels(labels uintptr)

const nowhere = 0x7fff_ffff_e000 // the last page of the address space is never mapped

// forgery is outside of the heap, so that the garbage collector ignores pointers to it.
var forgery [512]uint64

func at(i int) uint64 { return uint64(uintptr(unsafe.Pointer(&forgery[i]))) }

// forge builds the structures and returns pointers for runtime_setProfLabel.
func forge() []uintptr {
	const strings, list, bucket, hmap, variable = 0, 64, 128, 200, 210
	for i := 0; i < 16; i++ { // 16 keys and values: nowhere, endless, at nil
		forgery[strings+4*i] = []uint64{nowhere, at(0), 0, at(1) + 3}[i%4]
		forgery[strings+4*i+1] = []uint64{5, 1 << 62, 1, 1<<63 + 8}[i%4]
		forgery[strings+4*i+2] = at(i)
		forgery[strings+4*i+3] = 1<<40 + uint64(i)
	}
	forgery[list], forgery[list+1], forgery[list+2] = at(strings), 1<<60, 1<<60
	forgery[list+4], forgery[list+5] = nowhere, 3
	forgery[list+8], forgery[list+9] = 1<<63+8, 1<<63
	forgery[bucket] = 0x0908070605080706 // all slots are full
	copy(forgery[bucket+1:], forgery[strings:strings+32])
	forgery[bucket+33] = at(bucket) // a cycle
	forgery[hmap], forgery[hmap+1], forgery[hmap+2], forgery[hmap+3] = 1<<60, 0xffff, at(bucket), at(bucket)
	forgery[hmap+4], forgery[hmap+5], forgery[hmap+6], forgery[hmap+7] = 9, 0xff00, nowhere, 1<<63
	forgery[variable], forgery[variable+1], forgery[variable+2] = at(hmap), at(hmap+4), nowhere
	pointers := []uintptr{nowhere, 1<<63 + 16, 1 << 50}
	for _, i := range []int{list, list + 4, list + 8, variable, variable + 1, variable + 2, strings, hmap, bucket} {
		pointers = append(pointers, uintptr(at(i)))
	}
	return pointers
}

// forged runs n goroutines for each forgery, which have it before start and set it again after.
func forged(n int, start chan bool, begun, ended *sync.WaitGroup) {
	for _, pointer := range forge() {
		for i := 0; i < n; i++ {
			begun.Add(1)
			ended.Add(1)
			go func(pointer uintptr) {
				defer ended.Done()
				setLabels(pointer)
				begun.Done()
				<-start
				setLabels(pointer)
				setLabels(0)
				changes.Add(2)
			}(pointer)
		}
	}
}
