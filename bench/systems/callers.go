package systems

import "golang.org/x/sync/errgroup"

// clients is how many clients a work has.
func clients(w Work) int {
	if w.Separate {
		return w.Callers
	}
	return 1
}

// each does something for every caller, 32 at a time.
func each(callers int, do func(caller int) error) error {
	var all errgroup.Group
	all.SetLimit(32)
	for i := range callers {
		all.Go(func() error { return do(i) })
	}
	return all.Wait()
}
