// Package library proves promises of package client on clusters in this
// process: how late a call comes back after its deadline, and that stores hold
// under everything being called at once. Durations are those of the reports
// when SOAK is set, and seconds otherwise: a minute of load on each store by
//
//	SOAK=1 go test -race -v -run TestEverythingAtOnce ./cluster-test/library
package library
