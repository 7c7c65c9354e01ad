// Package frames carries the messages of OffsetService.Stream over a connection
// that carries nothing else: after an HTTP/1.1 upgrade (RFC 9110, 7.8) on the port
// of the API, each message goes as one frame, in one write.
//
// A frame is the prefix that Connect and gRPC put before a message, and the message:
// a byte of flags, the length as four bytes, the highest first, then the bytes. The flag
// End marks the last frame, whose message is a tidemark.v1.Error, empty for a
// regular end.
//
// The same stream is served over HTTP/2 by Connect, for other clients. There each
// message passes several goroutines and frames on either side, which costs callers
// that share a client a fifth of all processor time (docs/performance.md).
package frames
