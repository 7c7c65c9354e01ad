// Package disk is a disk whose answers a test decides: a file system served by
// the test's own process over FUSE, above a small tmpfs. It can be slow, hang,
// fail, be full, and lose power, in which case all that was not synced is lost,
// in whole or in parts.
//
// It needs root, /dev/fuse and the right to mount (in a container
// CAP_SYS_ADMIN), and neither loop devices nor the device mapper.
package disk
