package offsetfile

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tidemark-mq/tidemark/offset"
)

// RocketMQ's own bounds on names, which StrictNames applies.
const (
	strictTopic = 127
	strictGroup = 120
)

// Names that RocketMQ makes itself and its validators would refuse.
const (
	broadcast = "@broadcast"
	retry     = "%RETRY%"
)

// splitKey parts "topic@group" at the first @: a group may hold further ones
// ("G@broadcast"), a topic none. why is empty, or says why there is nothing to part.
func splitKey(key string) (topic, group, why string) {
	topic, group, ok := strings.Cut(key, "@")
	switch {
	case !ok:
		why = "no '@' between topic and group"
	case topic == "":
		why = "no topic before the '@'"
	case group == "":
		why = "no group behind the '@'"
	}
	return topic, group, why
}

// badNames says why names cannot be kept, or under strict are not taken; empty if they are fine.
func badNames(group, topic, broker string, strict bool) string {
	k := offset.Key{Group: group, MessageQueue: offset.MessageQueue{Topic: topic, Broker: broker}}
	var e *offset.Error
	if err := k.Validate(); errors.As(err, &e) {
		return e.Text
	}
	if !strict {
		return ""
	}
	var why []string
	if w := strictName("topic", withoutPop(topic, group), strictTopic); w != "" {
		why = append(why, w)
	}
	if w := strictName("group", strings.TrimSuffix(group, broadcast), strictGroup); w != "" {
		why = append(why, w)
	}
	return strings.Join(why, "; ")
}

// withoutPop takes the '+' out of the retry topic of a POP consumer,
// "%RETRY%group+topic", which RocketMQ makes itself.
func withoutPop(topic, group string) string {
	if rest, ok := strings.CutPrefix(topic, retry+group+"+"); ok {
		return rest
	}
	return topic
}

func strictName(what, s string, most int) string {
	if len(s) > most {
		return fmt.Sprintf("%s has %d bytes, RocketMQ takes %d", what, len(s), most)
	}
	for _, r := range s {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("%|_-", r)) {
			return fmt.Sprintf("%s holds %q, which RocketMQ's validators refuse", what, r)
		}
	}
	return ""
}
