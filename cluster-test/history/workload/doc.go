// Package workload is the clients of a history.
package workload
