//go:build !tidemark_mutants

package planted

// Is tells whether a mistake was chosen: never.
func Is(Mistake) bool { return false }

// Clock is what ApplyByClock reads.
func Clock() int64 { return 0 }
