package main

// turns are the callers that have no request under way.
type turns chan int

func turnsOf(callers int) turns {
	t := make(turns, callers)
	for i := range callers {
		t <- i
	}
	return t
}

// take does something as a caller that is free, and waits for one.
func (t turns) take(do func(caller int) error) error {
	caller := <-t
	defer func() { t <- caller }()
	return do(caller)
}
