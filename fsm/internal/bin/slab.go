package bin

// Slab hands out slices of a memory that is used again after Reset. What it
// hands out holds old values: each element must be assigned as a whole.
type Slab[T any] struct {
	block []T
	used  int
}

// Take returns n elements, nil for none. Slices taken before stay valid until Reset.
func (s *Slab[T]) Take(n int) []T {
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

// Reset takes everything back.
func (s *Slab[T]) Reset() { s.used = 0 }
