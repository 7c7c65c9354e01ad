//go:build !unix

package ports

// reserve has no way here: two processes may find the same port.
func reserve(int) (release func(), ok bool) { return func() {}, true }
