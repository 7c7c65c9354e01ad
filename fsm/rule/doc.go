// Package rule is the rule of writing on Go maps, written to be read: what
// fsm/table must agree with, and what a log is replayed through where an answer
// is checked against it. It knows no trees, no generations, no shared bases and
// no bytes, and is nowhere near a running member.
package rule
