// Package cases plays reported faults of other systems on clusters of this
// one, each under its number: files that brokers, tools and editors left,
// brokers of one name too many, failovers that lose or lower an answer,
// addresses that move. Durations and counts are those of the reports when SOAK
// is set, and seconds otherwise.
package cases
