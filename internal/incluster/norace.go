//go:build !race

package incluster

const slower = 1
