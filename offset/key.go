package offset

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// MessageQueue names one queue of a topic on one broker, as RocketMQ's
// org.apache.rocketmq.common.message.MessageQueue does.
type MessageQueue struct {
	// Topic is the topic's name, byte for byte as RocketMQ has it: a
	// namespace prefix ("ns%orders") or "%RETRY%" stays part of it.
	Topic string
	// Broker is RocketMQ's broker name (not an address). Empty where there is
	// none; the empty name is a name of its own, not a wildcard.
	Broker string
	// QueueID is the number of the queue on that broker, 0 or more.
	QueueID int32
}

// Key names one offset: a queue as one consumer group sees it.
type Key struct {
	// Group is the consumer group's name, byte for byte.
	Group string
	MessageQueue
}

// String gives a form for people and logs; names are quoted when they hold
// anything but plain printable characters, so that a name cannot forge a line.
func (k Key) String() string {
	s := name(k.Group) + "/" + name(k.Topic)
	if k.Broker != "" {
		s += "/" + name(k.Broker)
	}
	return fmt.Sprintf("%s/%d", s, k.QueueID)
}

func name(s string) string {
	for _, r := range s {
		if r <= ' ' || r == '/' || r == '"' || r == utf8.RuneError || r > '~' {
			return fmt.Sprintf("%q", s)
		}
	}
	return s
}

// Compare orders keys by group, topic, broker and queue, each name by its bytes.
// It is the order of every listing and of snapshots.
func (k Key) Compare(o Key) int {
	if c := strings.Compare(k.Group, o.Group); c != 0 {
		return c
	}
	if c := strings.Compare(k.Topic, o.Topic); c != 0 {
		return c
	}
	if c := strings.Compare(k.Broker, o.Broker); c != 0 {
		return c
	}
	return int(k.QueueID) - int(o.QueueID)
}

// Validate checks group, topic, broker and queue id against the limits. The
// error wraps ErrInvalid and names the field.
func (k Key) Validate() error {
	if err := ValidateName("group", k.Group, false); err != nil {
		return err
	}
	if err := ValidateName("topic", k.Topic, false); err != nil {
		return err
	}
	if err := ValidateName("broker", k.Broker, true); err != nil {
		return err
	}
	if k.QueueID < 0 {
		return Errorf(ErrInvalid, "queue id %d is negative", k.QueueID)
	}
	return nil
}

// ValidateName checks a name that came from outside: at most MaxName bytes,
// valid UTF-8, no control characters, not empty unless empty is allowed. The error wraps
// ErrInvalid and names field. Names are checked before a request is proposed, never in Apply.
func ValidateName(field, s string, empty bool) error {
	switch {
	case s == "" && !empty:
		return Errorf(ErrInvalid, "%s is empty", field)
	case len(s) > MaxName:
		return Errorf(ErrInvalid, "%s has %d bytes; at most %d are allowed", field, len(s), MaxName)
	case !utf8.ValidString(s):
		return Errorf(ErrInvalid, "%s %q is not valid UTF-8", field, s)
	}
	for _, r := range s {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return Errorf(ErrInvalid, "%s %q holds the control character %U", field, s, r)
		}
	}
	return nil
}
