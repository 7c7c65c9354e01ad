//go:build nextformat

package offset

// FormatLevel of a build with the tag nextformat: level 2 has one kind of request
// and one number in the state that level 1 does not have. No release has it; it
// is there to try upgrades before one is needed.
const FormatLevel = 2
