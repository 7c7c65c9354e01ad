// Package lint holds the rules of this repository as tests: who may import
// whom, how long files and functions are, that what is exported is documented,
// and that nothing unfinished or of one machine is left behind.
package lint
