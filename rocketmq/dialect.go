package rocketmq

import "encoding/json"

// maxNesting is how deep the values of a body may nest.
const maxNesting = 64

// unmarshal reads a body that RocketMQ's serializer wrote, whose keys may be
// numbers or objects where JSON wants strings.
func unmarshal(body []byte, to any) error {
	text, err := standard(body)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, to); err != nil {
		return damaged("the body is not the JSON that was asked for: %v", err)
	}
	return nil
}

// standard makes JSON of a body: a key that is no string becomes one with the
// key's text in it, {0:"a"} {"0":"a"} and {{"q":1}:2} {"{\"q\":1}":2}. It looks
// at keys alone; whether the result is JSON finds out who reads it. The result
// is at most three times as long as the body.
func standard(body []byte) ([]byte, error) {
	d := dialect{in: body, out: make([]byte, 0, len(body)+len(body)/8)}
	for d.at < len(d.in) {
		if err := d.step(); err != nil {
			return nil, err
		}
	}
	return d.out, nil
}

// dialect is a body on its way to JSON.
type dialect struct {
	in  []byte
	at  int // what comes next
	out []byte
	// open are the brackets that are open, inside is the last of them.
	open []byte
	// key: a key comes next, if not the end of the object.
	key bool
}

// step takes over the next character, string or key.
func (d *dialect) step() error {
	c := d.in[d.at]
	switch {
	case d.key && (c == '{' || numeric(c)):
		return d.quote(keyEnd(d.in[d.at:]))
	case c == '"':
		return d.text(stringEnd(d.in[d.at:]))
	case c == '{' || c == '[':
		if len(d.open) == maxNesting {
			return damaged("values nest deeper than %d in the body", maxNesting)
		}
		d.open, d.key = append(d.open, c), c == '{'
	case c == '}' || c == ']':
		d.open, d.key = d.open[:max(0, len(d.open)-1)], false
	case c == ',':
		d.key = len(d.open) > 0 && d.open[len(d.open)-1] == '{'
	}
	d.out = append(d.out, c)
	d.at++
	return nil
}

// text takes over a string of n bytes as it is.
func (d *dialect) text(n int) error {
	if n < 0 {
		return damaged("the string at byte %d of the body has no end", d.at)
	}
	d.out = append(d.out, d.in[d.at:d.at+n]...)
	d.at, d.key = d.at+n, false
	return nil
}

// quote takes over a key of n bytes as a string.
func (d *dialect) quote(n int) error {
	if n < 0 {
		return damaged("the key at byte %d of the body has no end", d.at)
	}
	d.out = append(d.out, '"')
	for _, c := range d.in[d.at : d.at+n] {
		if c == '"' || c == '\\' {
			d.out = append(d.out, '\\')
		}
		d.out = append(d.out, c)
	}
	d.out = append(d.out, '"')
	d.at, d.key = d.at+n, false
	return nil
}

func numeric(c byte) bool { return c == '-' || c >= '0' && c <= '9' }

// stringEnd is the length of the string that b begins with; -1 without an end.
func stringEnd(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// keyEnd is the length of the key that b begins with, a number or an object of
// plain members; -1 without an end.
func keyEnd(b []byte) int {
	object := b[0] == '{'
	for i := 1; i < len(b); i++ {
		switch c := b[i]; {
		case !object && !numeric(c):
			return i
		case c == '}':
			return i + 1
		case c == '{' || c == '[':
			return -1
		case c == '"':
			n := stringEnd(b[i:])
			if n < 0 {
				return -1
			}
			i += n - 1
		}
	}
	return -1
}
