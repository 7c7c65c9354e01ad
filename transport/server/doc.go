// Package server is the edge that clients speak to: gRPC, Connect and JSON over
// HTTP on one port, over the small Service interface that package node
// implements. It checks limits, attaches the principal and bounds everything
// that a peer can make grow; what is allowed and what a request means is the
// Service's business.
//
// See DESIGN.md for the path of a request and the owner of each goroutine.
package server
