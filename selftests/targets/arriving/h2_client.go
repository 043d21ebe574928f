// HTTP/2 by hand: one stream at a time, whose answer is a frame of headers and one of data.
package main

import (
	"encoding/binary"
	"fmt"
	"syscall"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

const (
	frameHead = 9
	headers   = 1
	settings  = 4
	endStream = 1 // flags
	ack       = 1
	endOfAll  = 5 // of the headers and the stream
)

func frame(kind, flags byte, stream uint32, payload []byte) []byte {
	b := []byte{byte(len(payload) >> 16), byte(len(payload) >> 8), byte(len(payload)), kind, flags, 0, 0, 0, 0}
	binary.BigEndian.PutUint32(b[5:], stream)
	return append(b, payload...)
}

func greet(fd int) {
	text := append([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(settings, 0, 0, nil)...)
	protocol.Must(syscall.Write(fd, append(text, frame(settings, ack, 0, nil)...)))
	time.Sleep(100 * time.Millisecond) // until the server has read it
}

var pending []byte // read, but not interpreted

// NextFrame returns the kind, the flags and the stream of the next frame.
func nextFrame(fd int) (kind, flags byte, stream uint32) {
	for {
		if len(pending) >= frameHead {
			end := frameHead + int(pending[0])<<16 + int(pending[1])<<8 + int(pending[2])
			if len(pending) >= end {
				kind, flags, stream = pending[3], pending[4], binary.BigEndian.Uint32(pending[5:])
				pending = pending[end:]
				return
			}
		}
		got := protocol.Must(syscall.Read(fd, buffer[:]))
		if got == 0 {
			protocol.Fail(fmt.Errorf("the server has closed the connection"))
		}
		pending = append(pending, buffer[:got]...)
	}
}

// Stream returns how long the client waits for the end of the answer.
func stream(fd int, id uint32) int64 {
	// GET, http, a path and an authority, as names of the static table
	block := []byte{0x82, 0x86, 0x04, 6}
	block = append(append(block, "/score"...), 0x01, 9)
	text := frame(headers, endOfAll, id, append(block, "localhost"...))
	return send(fd, text, func() bool {
		kind, flags, of := nextFrame(fd)
		return of == id && kind <= headers && flags&endStream != 0
	})
}
