//go:build !linux

package main

// slacken does nothing: timers have a slack that can be set on Linux alone.
func slacken() {}
