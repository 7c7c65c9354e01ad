package offsetfile

// syncDir does nothing: Windows does not let a program sync a folder, and keeps
// names in the journal of its file system.
func syncDir(string) error { return nil }
