package offsetfile

// readLocalAs reads the file of a broadcasting consumer as that of a group.
func readLocalAs(s *scanner, o Options, count *countingReader) (*File, error) {
	if err := needGroup(LocalJSON, o.Group, s.at()); err != nil {
		return nil, err
	}
	l, err := readLocal(s, count)
	if err != nil {
		return nil, err
	}
	l.Notes = append(l.Notes, takenAs(LocalJSON, o.Group))
	return l.file(o), nil
}
