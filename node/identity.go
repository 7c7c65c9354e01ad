package node

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/tidemark-mq/tidemark/node/store"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/peer"
)

const (
	// memberFile holds the identity, lockFile the lock on the data folder.
	memberFile = "member.json"
	lockFile   = "member.lock"
)

// identity is who this member is: what member.json in the data folder says. It
// holds the folder against other processes until close. Its methods may be
// called from any goroutine; what changes it returns once that is on the disk.
type identity struct {
	dir  string
	lock *os.File

	mu  sync.Mutex // guards what follows
	now memberRecord
}

// openIdentity locks the data folder (making it, 0700), reads member.json, or
// mints a member id at the first start. beside are the names of what only a
// member that has run has in the folder: with one of them there, a missing
// member.json is an error. Errors name the file and the way out; they wrap
// offset.ErrDamaged or offset.ErrInvalid, or are a *store.LockedError.
// Addresses must have been checked before (checkAddresses), since this writes.
func openIdentity(dir, name string, beside ...string) (*identity, error) {
	if err := makeFolder(dir); err != nil {
		return nil, err
	}
	if err := onlyOurs(dir, beside); err != nil {
		return nil, err
	}
	lock, err := lockFolder(dir)
	if err != nil {
		return nil, err
	}
	i := &identity{dir: dir, lock: lock}
	if err := i.load(name, beside); err != nil {
		lock.Close()
		return nil, err
	}
	return i, nil
}

// load reads the identity or, where there is none and nothing that needs one,
// mints it.
func (i *identity) load(name string, beside []string) error {
	path := filepath.Join(i.dir, memberFile)
	r, err := readMember(path)
	if err == nil {
		if r.Name != name {
			return offset.Errorf(offset.ErrInvalid,
				"%s belongs to member %q, but this node is configured as %q: give it back its name, or a data folder of its own", path, r.Name, name)
		}
		i.now = r
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, other := range beside {
		if _, err := os.Lstat(filepath.Join(i.dir, other)); !errors.Is(err, fs.ErrNotExist) {
			return offset.Errorf(offset.ErrDamaged,
				"%s is missing, but %s beside it says that a member has run in %s: put %s back, or start with an empty data folder; the member then comes back as a new one (tidemark cluster remove and add)",
				path, other, i.dir, memberFile)
		}
	}
	return i.store(memberRecord{Name: name, Member: drawCluster().String()})
}

// NameIn returns the name of the member whose data folder dir is; "" if it is
// nobody's yet, or does not exist. It reads only, and needs no lock: a name
// never changes. The errors are those of Run over the folder.
func NameIn(dir string) (string, error) {
	r, err := readMember(filepath.Join(dir, memberFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return r.Name, err
}

// drawCluster draws 16 random bytes; a member id is as good a draw.
func drawCluster() (c offset.ClusterID) {
	rand.Read(c[:]) // never fails
	return c
}

// store writes a record and then makes it the current one.
func (i *identity) store(r memberRecord) error {
	if err := writeMember(i.dir, r); err != nil {
		return unusable(fmt.Errorf("keeping the member's identity: %w", err))
	}
	i.now = r
	return nil
}

// id is raft's server id, "name/member-id".
func (i *identity) id() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.now.Name + "/" + i.now.Member
}

// cluster is the cluster this member belongs to, zero for none yet. Once it is
// not zero, it never changes.
func (i *identity) cluster() offset.ClusterID {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.now.cluster
}

// founders are the voters that raft has to be bootstrapped with, in the same
// order on each founder; nil where this member was added later.
func (i *identity) founders() []peer.Founder {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.now.founders)
}

// drawing reports that this member has drawn its cluster, and does not know yet
// whether all founders have stored the draw.
func (i *identity) drawing() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.now.Drawing
}

// started reports that raft has run, or was about to, in this folder: its files
// must be there (store.Config.MustExist), and nothing is bootstrapped again.
func (i *identity) started() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.now.Started
}

// join makes the member one of a cluster: as a founder, with the voters of its
// first configuration, or, with nil, as one that is added. drawing is set by the
// member that has drawn it. It refuses to leave another cluster, and changes nothing
// when repeated.
func (i *identity) join(c offset.ClusterID, founders []peer.Founder, drawing bool) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.now.cluster == c:
		return nil
	case !i.now.cluster.IsZero():
		return offset.Errorf(offset.ErrForeignCluster, "%s/%s belongs to cluster %s", i.now.Name, i.now.Member, i.now.cluster)
	}
	r := i.now
	r.cluster, r.founders, r.Drawing = c, slices.Clone(founders), drawing
	return i.store(r)
}

// addresses are those that this member was at, as far as is noted: at the
// founding, and at its last start.
func (i *identity) addresses() (list []string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, f := range i.now.founders {
		if f.ID == i.now.Name+"/"+i.now.Member {
			list = append(list, f.Peer)
		}
	}
	if i.now.Peer != "" && !slices.Contains(list, i.now.Peer) {
		list = append(list, i.now.Peer)
	}
	return slices.DeleteFunc(list, func(addr string) bool { return addr == nowhere })
}

// noteAddress notes where this member is now.
func (i *identity) noteAddress(peer string) error {
	return i.update(func(r *memberRecord) bool { was := r.Peer; r.Peer = peer; return was != peer })
}

// settle notes that all founders have stored the draw.
func (i *identity) settle() error {
	return i.update(func(r *memberRecord) bool { was := r.Drawing; r.Drawing = false; return was })
}

// markStarted notes that raft starts; to be called once raft's store is made
// (and, with founders, bootstrapped), before raft starts.
func (i *identity) markStarted() error {
	return i.update(func(r *memberRecord) bool { was := r.Started; r.Started = true; return !was })
}

// update stores what change makes of the record, if it says that it changed.
func (i *identity) update(change func(*memberRecord) bool) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	r := i.now
	if !change(&r) {
		return nil
	}
	return i.store(r)
}

// close frees the folder.
func (i *identity) close() error { return i.lock.Close() }

// makeFolder makes the data folder if it is not there; its parent must be.
func makeFolder(dir string) error {
	err := os.Mkdir(dir, 0o700)
	switch {
	case errors.Is(err, fs.ErrExist):
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return offset.Errorf(offset.ErrInvalid, "the data folder %s is no folder", dir)
		}
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return offset.Errorf(offset.ErrInvalid, "the data folder %s cannot be made: make the folder above it, or correct the path", dir)
	case err != nil:
		return unusable(fmt.Errorf("making the data folder: %w", err))
	}
	return store.SyncFolder(filepath.Dir(dir))
}

// onlyOurs refuses a first start in a folder that somebody else uses, a mistyped
// one mostly, before anything is written there. What mkfs leaves, hidden files,
// and what a first start that was broken off leaves are no matter.
func onlyOurs(dir string, beside []string) error {
	list, err := os.ReadDir(dir)
	if err != nil {
		return unusable(fmt.Errorf("reading the data folder: %w", err))
	}
	var foreign []string
	for _, e := range list {
		switch name := e.Name(); {
		case name == memberFile:
			return nil
		case name == lockFile, name == "lost+found", strings.HasPrefix(name, "."), strings.HasSuffix(name, ".tmp"), slices.Contains(beside, name):
		default:
			foreign = append(foreign, strconv.Quote(name))
		}
	}
	if len(foreign) == 0 {
		return nil
	}
	return offset.Errorf(offset.ErrInvalid, "the data folder %s belongs to no member, and holds %s: name one of this member's own (--data), or empty it",
		dir, strings.Join(foreign[:min(len(foreign), 3)], ", "))
}

// unusable adds the way out to what opening, or writing, a file of the data
// folder failed with, where the operator has one.
func unusable(err error) error {
	var at *fs.PathError
	switch {
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return offset.Errorf(offset.ErrInvalid,
			"%v: the data folder (--data) and what is in it must be readable and writable for the user that tidemarkd runs as; correct that, or name another folder", err)
	case errors.Is(err, syscall.EISDIR) && errors.As(err, &at):
		return offset.Errorf(offset.ErrDamaged, "%s is a folder, where a file of this member belongs (%v): move it out of the data folder", at.Path, err)
	}
	return err
}

// lockFolder takes the folder for this process alone. The kernel frees it when
// the process ends, however that comes about.
func lockFolder(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, unusable(fmt.Errorf("locking the data folder: %w", err))
	}
	if busy, err := store.LockFile(f, true); err != nil {
		defer f.Close()
		if busy {
			return nil, &store.LockedError{Dir: dir, PID: lockHolder(f)}
		}
		return nil, fmt.Errorf("locking the data folder %s: %w", dir, err)
	}
	// Only for the other's message; a lock without a name is as good.
	if f.Truncate(0) == nil {
		f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	return f, nil
}

// lockHolder reads which process has the lock, 0 if that is not written.
func lockHolder(f *os.File) int {
	b := make([]byte, 16)
	n, _ := f.ReadAt(b, 0)
	pid, err := strconv.Atoi(strings.TrimSpace(string(b[:n])))
	if err != nil || pid < 0 {
		return 0
	}
	return pid
}
