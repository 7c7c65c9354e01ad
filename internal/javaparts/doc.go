// Package javaparts runs real Java servers and programs in a test: Kafka and
// RocketMQ, resolved from Maven Central by the poms under interop/.
//
// What Maven resolves is kept under .cache/java, so that only the first run
// downloads. Servers run on the loopback interface, with small heaps, in
// temporary folders; each is ready when its start function returns, which asks
// it instead of waiting, and is killed with the test. Where java or mvn is not
// installed the test is skipped in one line; .ci/run takes that for a failure.
package javaparts
