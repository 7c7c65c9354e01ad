package main

import (
	"iter"

	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/offsetfile"
)

// difference is what an import would do to the cluster as it was when asked.
type difference struct {
	// Creates, Raises and Lowers count offsets of the file that the cluster
	// does not have, has lower, and has higher.
	Creates int `json:"creates"`
	Raises  int `json:"raises"`
	Lowers  int `json:"lowers"`
	Same    int `json:"same"`
	// Removes counts offsets of the cluster, in the scope of a replace, that
	// the file does not have.
	Removes int `json:"removes"`
	// Index is that of the state compared with.
	Index uint64 `json:"index,string"`
}

// compare reads what the cluster has of a group, or all if group is empty,
// beside the file. Both are in the order of keys.
func (s *session) compare(f *offsetfile.File, group string) (*difference, error) {
	m, err := s.now()
	if err != nil {
		return nil, err
	}
	next, stop := iter.Pull(f.All())
	defer stop()
	d := &difference{Index: m.Index} // of an export without a page too
	t, more := next()
	err = s.export(offset.List{What: offset.ListKeys, Group: group}, func(p offset.Page) error {
		d.Index = p.Meta.Index
		for _, k := range p.Keys {
			for more && t.Key.Compare(k.Key) < 0 {
				d.Creates++
				t, more = next()
			}
			if !more || t.Key != k.Key {
				d.Removes++
				continue
			}
			d.count(t.Offset, k.Position.Offset)
			t, more = next()
		}
		return nil
	})
	for more {
		d.Creates++
		_, more = next()
	}
	return d, err
}

func (d *difference) count(file, cluster int64) {
	switch {
	case file > cluster:
		d.Raises++
	case file < cluster:
		d.Lowers++
	default:
		d.Same++
	}
}
