//go:build tidemark_break

package store

// breaks holds the switches that a release binary does not have.
type breaks struct {
	// NoSync leaves every sync of log, term and vote out: what was
	// acknowledged is lost with the machine's power. It exists only in builds
	// with the tag tidemark_break, for the demonstration that must fail.
	NoSync bool
}

func (b breaks) noSync() bool { return b.NoSync }
