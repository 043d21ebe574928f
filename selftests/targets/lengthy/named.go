package main

//go:noinline
func named() {
	done := make(chan bool)
	go func() { close(done) }()
	<-done
}
