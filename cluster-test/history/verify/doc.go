// Package verify checks recorded histories.
package verify
