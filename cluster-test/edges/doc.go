// Package edges tries the limits of a cluster from outside, at the limit and one
// beyond it, and what a member does with more than it can take. The table in
// docs/testing.md names all limits, and the tests of those that are tried
// elsewhere.
package edges
