package entry

// slab hands out slices of a memory that is used again after reset. What it
// hands out holds old values: each element must be assigned as a whole.
type slab[T any] struct {
	block []T
	used  int
}

// take returns n elements, nil for none. Slices taken before stay valid until reset.
func (s *slab[T]) take(n int) []T {
	if n == 0 {
		return nil
	}
	if n > len(s.block)-s.used {
		s.block = make([]T, max(n, 2*len(s.block), 64))
		s.used = 0
	}
	part := s.block[s.used : s.used+n : s.used+n]
	s.used += n
	return part
}

// reset takes everything back.
func (s *slab[T]) reset() { s.used = 0 }
