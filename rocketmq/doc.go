// Package rocketmq asks RocketMQ's brokers and name servers what Tidemark
// cannot know itself: the offsets that a broker holds, where its queues begin
// and end, and which brokers there are. It only reads; there is no request in
// it that changes a broker.
//
// It speaks the remoting protocol, whose frames DESIGN.md beside this file
// describes, and is tried against brokers 4.9.7 to 5.5.0. It is a leaf: it
// imports offset and offsetfile only and starts no goroutine. What it reads is
// untrusted: every length is checked before it is believed, and memory grows
// with the bytes that came, not with those that were announced.
package rocketmq
