package node

import (
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/peer"
)

// identity is who this member is: what member.json in the data folder says. It
// holds the folder against other processes until close. Its methods may be
// called from any goroutine; what changes it returns once that is on the disk.
type identity struct{}

// openIdentity locks the data folder (making it, 0700), reads member.json, or
// mints a member id at the first start. beside are the names of what only a
// member that has run has in the folder: with one of them there, a missing
// member.json is an error. Errors name the file and the way out; they wrap
// offset.ErrDamaged, or are a *store.LockedError. Addresses must have been
// checked before (checkAddresses), since this writes.
func openIdentity(dir, name string, beside ...string) (*identity, error) {
	return nil, offset.ErrNotReady
}

// id is raft's server id, "name/member-id".
func (i *identity) id() string { return "" }

// cluster is the cluster this member belongs to, zero for none yet.
func (i *identity) cluster() offset.ClusterID { return offset.ClusterID{} }

// founders are the voters that raft has to be bootstrapped with, in the same
// order on each founder; nil where this member was added later.
func (i *identity) founders() []peer.Founder { return nil }

// started tells that raft has run, or was about to, in this folder: its files
// must be there (store.Config.MustExist), and nothing is bootstrapped again.
func (i *identity) started() bool { return false }

// markStarted notes that; to be called once raft's store is made (and, with
// founders, bootstrapped), before raft starts.
func (i *identity) markStarted() error { return offset.ErrNotReady }

// close frees the folder.
func (i *identity) close() error { return nil }
