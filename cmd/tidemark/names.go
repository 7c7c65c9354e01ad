package main

import (
	"errors"

	"github.com/tidemark-mq/tidemark/offset"
)

// names are the rows of a listing of groups or topics.
type names struct {
	list  []string
	index uint64
	// more: the limit cut the list.
	more bool
}

// errEnough ends a listing.
var errEnough = errors.New("enough rows")

// names lists names page by page, at most limit; 0 for all.
func (s *session) names(l offset.List, limit int) (*names, error) {
	if limit < 0 {
		return nil, offset.Errorf(offset.ErrInvalid, "--limit %d is negative", limit)
	}
	l.Limit = min(limit, offset.MaxPage)
	n := &names{list: []string{}}
	_, err := s.listAll(l, func(p offset.Page) error {
		n.list, n.index, n.more = append(n.list, p.Names...), p.Meta.Index, p.More
		if limit > 0 && len(n.list) >= limit {
			n.more = p.More || len(n.list) > limit
			n.list = n.list[:limit]
			return errEnough
		}
		return nil
	})
	if err != nil && err != errEnough {
		return nil, err
	}
	if n.more {
		s.note("there are more; raise --limit, or narrow the list with --prefix")
	}
	return n, nil
}
