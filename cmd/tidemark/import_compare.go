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

	// Of that state too: the last act, and whose it is.
	lastAct uint64
	cluster offset.ClusterID
}

// compare reads what the cluster has of a group, or all if group is empty,
// beside the file. Both are in the order of keys.
func (s *session) compare(f *offsetfile.File, group string) (*difference, error) {
	return s.compareWith(f, group, func(offset.Key, *int64, *int64) {})
}

// compareWith is compare that tells each key, with the cluster's offset and the
// file's, nil where there is none.
func (s *session) compareWith(f *offsetfile.File, group string, tell func(k offset.Key, cluster, file *int64)) (*difference, error) {
	m, err := s.now()
	if err != nil {
		return nil, err
	}
	next, stop := iter.Pull(f.All())
	defer stop()
	d := &difference{}
	d.from(m) // of an export without a page too
	t, more := next()
	create := func() {
		d.Creates++
		tell(t.Key, nil, new(t.Offset))
		t, more = next()
	}
	err = s.export(offset.List{What: offset.ListKeys, Group: group}, func(p offset.Page) error {
		d.from(p.Meta)
		for _, k := range p.Keys {
			for more && t.Key.Compare(k.Key) < 0 {
				create()
			}
			if !more || t.Key != k.Key {
				d.Removes++
				tell(k.Key, new(k.Position.Offset), nil)
				continue
			}
			d.count(t.Offset, k.Position.Offset)
			tell(k.Key, new(k.Position.Offset), new(t.Offset))
			t, more = next()
		}
		return nil
	})
	for more && err == nil {
		create()
	}
	return d, err
}

// from notes what state is compared with.
func (d *difference) from(m offset.Meta) {
	d.Index, d.lastAct, d.cluster = m.Index, m.LastAct, m.Cluster
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
