// Command tidemarkd is a member of a Tidemark cluster: it wires package node
// to the network, the clock, the log and the metrics, and does nothing else.
//
// Options come from flags, the environment (TIDEMARK_…) and a YAML file, in
// this order; --print-config shows what came of them. Whatever is wrong with
// them ends the start before anything is written. The exit codes are in
// exit.go and in docs/configuration.md.
package main

import (
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

func main() {
	slacken()
	floor := heapFloor()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	code := program(os.Args[1:], os.Stdout, os.Stderr, signals)
	runtime.KeepAlive(floor)
	os.Exit(code)
}
