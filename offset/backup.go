package offset

// BackupPart is one piece of a backup, in the order of the file.
type BackupPart struct {
	// Meta is that of the state in the backup; the same in each piece.
	Meta Meta
	// Queues is how many offsets the backup holds; the same in each piece.
	Queues uint64
	// Digest is that of the state; the same in each piece.
	Digest Digest
	// Data are the next bytes of the file, at least one. They must be copied to
	// be kept.
	Data []byte
}
