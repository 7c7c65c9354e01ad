// Package upgrades rolls a cluster of processes from one build to the next and
// back, in every order, under load. The next build is the same one with the tag
// nextformat: it reads format level 2, which has a kind of entry and a number in
// the state that level 1 does not have.
package upgrades
