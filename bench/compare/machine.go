package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// Machine is what everything ran on.
type Machine struct {
	CPUs   int    `json:"cpus"`
	Model  string `json:"model"`
	Memory string `json:"memory"`
	Kernel string `json:"kernel"`
	// Files is the file system that the data lay on, as its magic number.
	Files string `json:"files"`
	Go    string `json:"go"`
}

// thisMachine describes the machine and the file system of a folder.
func thisMachine(dir string) Machine {
	m := Machine{CPUs: runtime.NumCPU(), Go: runtime.Version(), Model: field("/proc/cpuinfo", "model name"), Memory: field("/proc/meminfo", "MemTotal")}
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		m.Kernel = unix.ByteSliceToString(name.Release[:])
	}
	var files unix.Statfs_t
	if unix.Statfs(dir, &files) == nil {
		m.Files = fileSystem(int64(files.Type))
	}
	return m
}

// field is the first value of a name in a file of "name : value" lines.
func field(file, name string) string {
	text, _ := os.ReadFile(file) // it is for information only
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		key, value, ok := strings.Cut(s.Text(), ":")
		if ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func fileSystem(magic int64) string {
	names := map[int64]string{unix.EXT4_SUPER_MAGIC: "ext4", unix.XFS_SUPER_MAGIC: "XFS", unix.BTRFS_SUPER_MAGIC: "Btrfs", unix.TMPFS_MAGIC: "tmpfs, which syncs nothing", unix.OVERLAYFS_SUPER_MAGIC: "overlayfs"}
	if name := names[magic]; name != "" {
		return name
	}
	return fmt.Sprintf("file system %#x", magic)
}

// String tells it on one line.
func (m Machine) String() string {
	return fmt.Sprintf("%d CPUs (%s), %s of memory, Linux %s, %s, %s", m.CPUs, m.Model, m.Memory, m.Kernel, m.Files, m.Go)
}
