// Package client is the library that applications embed: it keeps the
// progress of message consumers in a Tidemark cluster.
//
// # What there is
//
// A Client, one for a process, knows the cluster: it finds the leader, keeps
// one connection to it, lets the requests of all callers travel together, and
// tries again within each caller's deadline.
//
// A RemoteStore, one for a consumer group, is RocketMQ's OffsetStore over a
// Client: a table in memory that takes every update at once, and a persist loop
// that sends what changed. A LocalFileStore is the same for a consumer in
// broadcasting mode, which keeps its offsets on its own disk. NewStore chooses
// between the two by MessageModel, as RocketMQ does.
//
// A ProcessQueue says which offset is safe to commit while messages are
// consumed in any order; StartPosition says where a queue begins that has no
// offset.
//
// # The life of a queue
//
//	c, err := client.New([]string{"n1:7411", "n2:7411", "n3:7411"})
//	s, err := client.NewRemoteStore(c, "billing", client.WithOnFenced(again))
//
//	next, err := s.ReadOffset(ctx, mq, client.ReadFromStore) // before the first message
//	if errors.Is(err, offset.ErrNoOffset) { … }              // a new group: where to start is yours to say
//	s.UpdateOffset(mq, next+1, true)                         // after each message; it never blocks
//	err = s.PersistAll(ctx, mqs)                             // or leave it to the persist loop
//	s.RemoveOffset(mq)                                       // the queue goes to another consumer
//	err = s.Close(ctx)                                       // persists the rest
//
// The first read from the store, after a queue was absent from memory or
// removed, takes over its offset and its epoch. What is committed later carries
// that epoch: if an operator has moved the queue since, the commit is fenced.
// A later read gives what is stored and touches nothing. A value of a queue that
// was never read stays in memory; to persist it is offset.ErrNotRead.
//
// # Fences
//
// A queue that missed an operator's act (a reset, removal, clone, import) is
// frozen: nothing of it is sent any more, and updates are ignored, until it is
// removed and read again. The application is told by WithOnFenced, per queue,
// within one persist interval of the act, also of a queue that is idle; without
// that, PersistAll keeps returning offset.ErrFenced. What it does is nearly
// always the same: give up the messages in hand, RemoveOffset, ReadOffset.
//
// A deliberate lowering (UpdateOffset without increaseOnly, to less than is
// stored) is sent as a compare-and-set. If it is not done, or not known to be,
// the queue is frozen likewise, and told with offset.ErrOvertaken or
// offset.ErrOutcomeUnknown.
//
// # What an error means
//
// errors.Is finds one sentinel of package offset; errors.As gives an *Error
// (which call, how many attempts, who leads), a *Refused (which keys were
// refused, and where they are) or a *PersistError (which queues are not
// persisted). Every error but offset.ErrOutcomeUnknown says that the request
// was not done and will not be. With offset.ErrOutcomeUnknown it may be done
// already, or later; the same request may be sent again: a commit for ever,
// an act with its id, a Set as it was.
//
// "No offset" is an answer: KeyState.Exists is false, ReadOffset gives
// offset.ErrNoOffset. A failure to ask is always another error, and never a number.
//
// # Time
//
// A call with a context comes back at most 100 ms after that has ended, also
// where the network or the disk answers nothing; without a deadline it is tried
// for ever. Calls without a context do no I/O and do not block, except for
// Load, which takes as long as the disk does, and Client.Close. WithClock and
// WithStoreClock replace the clock of everything but contexts and connections.
//
// # Watching
//
// Hooks and StoreHooks are told what happens, each as it happens; Metrics
// counts it (adapters/prometheus does so for Prometheus); Stats gives the
// state of a store. None costs anything where it is not set. A store logs by
// slog.Default what must not stay unsaid: fences, damaged files, a persist loop
// that fails; WithLogger and WithStoreLogger set another.
//
// # Goroutines
//
// A connection has two, a search for one and a request that callers share have one
// each, which Client.Close waits for; a store and a PersistLoop have one, which their
// Close waits for, and one more for each offset that is sent one way (64 at most) or
// for what a LocalFileStore has under way on its disk. Files of tokens and
// certificates are read in one, which nothing waits for while the disk hangs. OnFenced and hooks are called on the
// goroutine that came across what they report, so a hook must not close the Client.
//
// docs/library.md is the same for beginners; DESIGN.md describes the way of a call,
// the states of a queue, and what was decided at what cost.
package client
