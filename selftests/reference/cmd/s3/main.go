// Command s3 tests `gotrace ship`: a small S3 server that checks signatures on its own, a proxy that
// makes faults, and a client that shows what a server has.
//
//	s3 serve -listen 127.0.0.1:PORT DIR                    one folder per bucket, objects in memory
//	s3 proxy -listen 127.0.0.1:PORT -to URL [-rate R] [-kinds KIND,...] [-seed N] LOG
//	s3 list  -at URL -bucket BUCKET                        "SHA256 KEY" of each object, sorted
//	s3 head  -at URL -bucket BUCKET KEY                    the headers of an object
//	s3 clock                                               "STATUS MAX-ERROR ERROR" of adjtimex(2)
//
// Keys are those of the environment, as for gotrace ship. serve and proxy print "ready" and run until
// they are killed.
package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"syscall"
	"time"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 {
		log.Fatal("usage: s3 serve|proxy|list|head|clock OPTION...")
	}
	verb := os.Args[1]
	flags := flag.NewFlagSet(verb, flag.ExitOnError)
	listen := flags.String("listen", "", "address")
	to := flags.String("to", "", "proxy: URL of the server")
	rate := flags.Float64("rate", 1, "proxy: share of requests with a fault")
	kinds := flags.String("kinds", "", "proxy: kinds of faults; empty: all that pass")
	seed := flags.Int64("seed", 1, "proxy: selects the faults")
	cert := flags.String("cert", "", "proxy: write a certificate here, and speak TLS")
	at := flags.String("at", "", "list, head: URL of the server")
	bucket := flags.String("bucket", "", "list, head: the bucket")
	flags.Parse(os.Args[2:])

	switch verb {
	case "serve":
		serve(*listen, "", newServer(flags.Arg(0)))
	case "proxy":
		serve(*listen, *cert, newProxy(*to, *kinds, *rate, *seed, flags.Arg(0)))
	case "list":
		list(*at, *bucket)
	case "head":
		head(*at, *bucket, flags.Arg(0))
	case "clock":
		var t syscall.Timex
		state, err := syscall.Adjtimex(&t)
		if err != nil {
			log.Fatal(err)
		}
		status := "synchronized"
		if state == 5 || t.Status&0x40 != 0 { // TIME_ERROR, STA_UNSYNC
			status = "unsynchronized"
		}
		fmt.Println(status, t.Maxerror, t.Esterror)
	default:
		log.Fatalf("unknown command %s", verb)
	}
}

func serve(address, cert string, handler http.Handler) {
	server := &http.Server{Addr: address, Handler: handler, ReadHeaderTimeout: time.Minute}
	listener := listener(address, cert)
	fmt.Println("ready")
	log.Fatal(server.Serve(listener))
}
