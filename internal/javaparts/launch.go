package javaparts

// Launch starts the server and does not wait for it: for a start that is cut
// down by Kill. Start may follow once it has ended.
func (s *server) Launch() {
	s.tb.Helper()
	s.own()
	if s.choose != nil {
		s.choose()
		s.choose = nil
	}
	var err error
	if s.p, err = launch(s.dir, s.name, java(s.args()...)); err != nil {
		s.tb.Fatal(err)
	}
}
