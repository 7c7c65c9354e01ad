package main

import "github.com/schollz/progressbar/v3"

// bar shows on standard error how far something of n steps is, if that is a terminal.
func (s *session) bar(what string, n int) *progressbar.ProgressBar {
	return progressbar.NewOptions(n,
		progressbar.OptionSetWriter(s.err),
		progressbar.OptionSetVisibility(s.terminal),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowCount(),
		progressbar.OptionClearOnFinish(),
	)
}

// counter shows how much of something has come, where nobody knows how much there is.
func (s *session) counter(what string) *progressbar.ProgressBar { return s.bar(what, -1) }
