//go:build linux

package disk

import (
	"math/rand/v2"
	"syscall"
	"time"
)

// Behaviour is how a disk answers. The zero value is a sound disk.
type Behaviour struct {
	// SyncMin and SyncMax are between what a sync takes, each drawn.
	SyncMin, SyncMax time.Duration
	// A sync that begins within the first StallFor of each StallEvery of the
	// machine's clock waits until that is over, so that disks stall together.
	StallFor, StallEvery time.Duration
	// Hang: what changes the disk does not come back, and neither do syncs, until
	// the disk behaves otherwise. Whoever waits can't be killed before.
	Hang bool
	// Write, Sync and Read are what changes, syncs and reads fail with; 0: they
	// don't.
	Write, Sync, Read syscall.Errno
	// ReadOf limits Read to what is read of files of that name; empty: all, and
	// nothing can be opened.
	ReadOf string
}

// Met counts the calls that were not answered as a sound disk does.
type Met struct {
	// Slow syncs took longer, Stalled ones met a window.
	Slow, Stalled int
	// Hung calls did not come back in their time.
	Hung int
	// Failed calls were answered with an error of the Behaviour.
	Failed int
	// Full calls were answered with ENOSPC by the tmpfs below.
	Full int
}

// kind is what is asked of a disk.
type kind uint8

const (
	read kind = iota
	write
	sync
)

// admit returns when the disk may do what is asked, or the error to answer.
func (d *Disk) admit(k kind) syscall.Errno { return d.admitOf(k, "") }

// admitOf does so for the file of that name.
func (d *Disk) admitOf(k kind, name string) syscall.Errno {
	for hung := false; ; hung = true {
		b, off, changed := d.behaviour()
		if off && k != read {
			return syscall.EIO
		}
		if !b.Hang || k == read {
			return d.answer(b, k, name)
		}
		if !hung {
			d.note(func(m *Met) { m.Hung++ })
		}
		<-changed
	}
}

func (d *Disk) answer(b Behaviour, k kind, name string) syscall.Errno {
	if errno := [...]syscall.Errno{b.Read, b.Write, b.Sync}[k]; errno != 0 && (k != read || b.ReadOf == "" || b.ReadOf == name) {
		d.note(func(m *Met) { m.Failed++ })
		return errno
	}
	if k == sync {
		d.delay(b)
	}
	return 0
}

// delay takes as long as a sync of such a disk does.
func (d *Disk) delay(b Behaviour) {
	if b.SyncMax > 0 {
		d.note(func(m *Met) { m.Slow++ })
		time.Sleep(b.SyncMin + rand.N(b.SyncMax-b.SyncMin+1))
	}
	if b.StallEvery > 0 {
		if in := time.Duration(time.Now().UnixNano()) % b.StallEvery; in < b.StallFor {
			d.note(func(m *Met) { m.Stalled++ })
			time.Sleep(b.StallFor - in)
		}
	}
}
