// Package dump prints log entries, snapshots and backups for people and their scripts:
// one JSON object a line, one line for each request, key and other part.
//
// It is a microscope for files that may be damaged. What can't be believed is
// not printed; the error says where that begins. Numbers of 64 bits are
// strings, since many readers of JSON round them; bytes of names that are not
// UTF-8 are printed as U+FFFD.
package dump
