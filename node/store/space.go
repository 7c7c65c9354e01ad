package store

// Growth returns by how much the log's files may grow when so many bytes of
// entries are appended. boltdb takes what is free inside its file first;
// segments are made in full, and not used again.
func (s *Store) Growth(bytes int64) int64 {
	if s.wal != nil {
		return max(bytes, 0) + int64(s.cfg.SegmentBytes)
	}
	return max(bytes-int64(s.db.Stats().FreeAlloc), 0)
}
