// Package conn is the client's end of a node's stream: one long-lived
// connection that any number of callers share.
//
// Calls travel together: a writer takes all that wait into one message, up to
// Config.Batch bytes, and a reader hands each reply to its caller by id, in
// whatever order they come. No timer is involved: a single call leaves at once,
// and while one message is being written the next one fills.
//
// What is promised:
//   - A call's error says whether it was never sent (safe to send elsewhere,
//     as if it had not been made) or sent and not answered, which is
//     offset.ErrOutcomeUnknown. It is never sent twice.
//   - A connection on which nothing comes for Config.Silence while calls are
//     open is given up, and each of its calls ends. The server gives a sign of
//     life every 100 ms while calls are under way, and while a message takes
//     long to arrive there. Of an answer that takes long each part counts.
//   - Once the server says that it stops, new calls are refused unsent, and
//     those it took are awaited.
//   - At most Config.InFlight calls are open; further ones wait within their
//     context. A message in memory is bounded by Config.Batch and one call.
//
// A Conn owns exactly two goroutines, the writer and the reader; both end with
// the connection, and Close waits for them. Time is watched by a timer that
// runs only while calls are open. How bytes travel is up to Stream: by default to
// package frames.
package conn
