package fault

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/cluster-test/history/arena"
	"github.com/tidemark-mq/tidemark/node/store"
)

// divergences are members whose state is, or would become, another than that of
// the others. Each ends as the product promises, and is replaced.
func divergences() []Fault {
	return []Fault{
		{Name: "a member's digest is wrong", Needs: networked, Alone: true, Inject: astray},
		{Name: "a member's log holds an entry that it can't read", Needs: networked, Alone: true, Inject: unreadable},
	}
}

// astray has a follower note wrong digests, as a state that went wrong would
// give. It must put itself under quarantine.
func astray(ctx context.Context, a arena.Arena, r *rand.Rand) (*Wound, error) {
	name, old, err := follower(ctx, a, r)
	if err != nil {
		return nil, err
	}
	if err := a.Astray(name, true); err != nil {
		return nil, err
	}
	return &Wound{
		On: name, Promise: "a member whose state differs from the majority's is put under quarantine",
		Effect: func(ctx context.Context) (string, error) {
			err := until(ctx, "the quarantine of "+name, func() bool {
				s, err := Status(ctx, a, name)
				return err == nil && strings.Contains(s.NotReady, Outvoted)
			})
			return name + " is under quarantine", err
		},
		Heal: func(ctx context.Context) error {
			err := errors.Join(a.Kill(name), a.Astray(name, false))
			if err != nil {
				return err
			}
			_, err = renew(ctx, a, name, old)
			return err
		},
	}, nil
}

// unreadable kills a follower and makes the newest committed entry of its log one
// that nobody can decode, with sums as they should be. It must end, and not go on
// behind that entry.
func unreadable(ctx context.Context, a arena.Arena, r *rand.Rand) (*Wound, error) {
	name, old, err := follower(ctx, a, r)
	if err != nil {
		return nil, err
	}
	s, err := Status(ctx, a, name)
	if err != nil {
		return nil, err
	}
	if err := a.Kill(name); err != nil {
		return nil, err
	}
	index, err := spoil(filepath.Join(a.Folder(name), "raft"), s.SnapshotIndex, s.Meta.Index)
	if err = errors.Join(err, a.Start(name)); err != nil {
		return nil, err
	}
	return &Wound{
		On: name, Promise: "a member does not go on behind an entry that it can't read",
		Effect: func(ctx context.Context) (string, error) {
			for a.Running(name) {
				if s, err := Status(ctx, a, name); err == nil && s.NotReady == "" && s.Meta.Index >= index {
					return "", fmt.Errorf("%s serves at index %d, and could not read entry %d", name, s.Meta.Index, index)
				}
				if ctx.Err() != nil {
					return "", fmt.Errorf("%s has not ended", name)
				}
				rest(ctx, 10*time.Millisecond)
			}
			return fmt.Sprintf("%s ended at entry %d", name, index), nil
		},
		Heal: func(ctx context.Context) error {
			if err := a.Kill(name); err != nil { // what is left of it
				return err
			}
			_, err := renew(ctx, a, name, old)
			return err
		},
	}, nil
}

// follower draws one, and gives its id too.
func follower(ctx context.Context, a arena.Arena, r *rand.Rand) (name, id string, err error) {
	_, _, others, err := victims(ctx, a, r)
	if err != nil {
		return "", "", err
	}
	s, err := Status(ctx, a, others[0])
	return others[0], s.NodeID, err
}

// spoil makes the newest command of a stopped member's log, among the entries
// behind one index and up to another, unreadable.
func spoil(dir string, behind, upTo uint64) (index uint64, err error) {
	s, err := store.Open(store.Config{Dir: dir, MustExist: true})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for index = upTo; index > behind; index-- {
		e := new(raft.Log)
		if err := s.Log().GetLog(index, e); err != nil {
			return 0, err
		}
		if e.Type == raft.LogCommand {
			e.Data = []byte("of no kind there is")
			return index, s.Log().StoreLog(e)
		}
	}
	return 0, fmt.Errorf("no command between %d and %d", behind, upTo)
}
