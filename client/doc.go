// Package client is the library that applications embed: it keeps the
// progress of message consumers in a Tidemark cluster.
//
// A consumer wants two things of it. A Client, one for a process, knows the
// cluster: it finds the leader, keeps one connection to it, lets the requests
// of all callers travel together, and tries again within each caller's
// deadline. A RemoteStore, one for a consumer group, is RocketMQ's OffsetStore:
// a table in memory that takes every update at once, and sends what changed.
//
//	c, err := client.New([]string{"n1:7411", "n2:7411", "n3:7411"})
//	var s *client.RemoteStore // for the function below
//	s, err = client.NewRemoteStore(c, "billing", client.WithOnFenced(func(f client.Fence) {
//		s.RemoveOffset(f.Queue) // an operator moved the queue: begin again where it is now
//		next, err := s.ReadOffset(ctx, f.Queue, client.ReadFromStore)
//		…
//	}))
//
//	next, err := s.ReadOffset(ctx, mq, client.ReadFromStore) // before the first message
//	if errors.Is(err, offset.ErrNoOffset) { … }              // a new group: where to start is yours to say
//	s.UpdateOffset(mq, next+1, true)                         // after each message
//	err = s.PersistAll(ctx, mqs)                             // or leave it to the persist loop
//	err = s.Close(ctx)                                       // persists the rest
//
// # What an error means
//
// errors.Is tells one sentinel of package offset; errors.As gives an *Error
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
// # Beside the cluster
//
// A consumer in broadcasting mode keeps its offsets on its own disk: a
// LocalFileStore, in RocketMQ's place and form. NewStore chooses between the
// two by MessageModel. A ProcessQueue tells which offset is safe to commit while
// messages are consumed in any order, and StartPosition where a queue begins
// that has no offset.
//
// # Goroutines
//
// A connection has two, which Client.Close waits for; a RemoteStore, a
// LocalFileStore and a PersistLoop have one each, which their Close waits for. OnFenced and Hooks are called
// in the goroutine that came across what they tell.
//
// DESIGN.md tells the way of a call, the states of a queue, and what was
// decided at what cost.
package client
