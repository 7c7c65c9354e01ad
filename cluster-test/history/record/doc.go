// Package record keeps what clients called and what they were answered.
package record
