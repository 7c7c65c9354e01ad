// Package links breaks clusters inside one process, by their links and by
// their members, while consumers commit through client.RemoteStore, and demands
// the plain promises in the end: nothing acknowledged is lost or lowered, all
// members hold the same, and their logs agree entry by entry.
package links
