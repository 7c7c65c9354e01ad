package offsetfile

import (
	"encoding/hex"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// str consumes a string that begins at the next byte; the content is in s.text.
func (s *scanner) str() error {
	begin := s.at()
	s.pos++
	s.text = s.text[:0]
	for {
		c, ok, err := s.peek()
		switch {
		case err != nil:
			return err
		case !ok:
			return fault(begin, "the string that begins here has no end; the file is cut off")
		case c == '"':
			s.pos++
			return nil
		case c < ' ':
			return fault(s.at(), "found %s inside a string", show(c))
		case len(s.text) >= MaxString:
			return fault(begin, "the string that begins here has more than %d bytes", MaxString)
		case c == '\\':
			if err := s.escape(); err != nil {
				return err
			}
		default:
			s.text = append(s.text, c)
			s.pos++
		}
	}
}

// escapes are the escapes of one letter.
var escapes = map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape consumes one escape sequence.
func (s *scanner) escape() error {
	at := s.at()
	b, err := s.ahead(2)
	if err != nil {
		return err
	}
	if len(b) < 2 {
		return fault(at, "the file ends in an escape; it is cut off")
	}
	if c, ok := escapes[b[1]]; ok {
		s.text = append(s.text, c)
		s.pos += 2
		return nil
	}
	if b[1] != 'u' {
		return fault(at, "found the escape \\ and %s, which JSON does not have", show(b[1]))
	}
	return s.unicode(at)
}

// unicode consumes \uXXXX, or the two of a surrogate pair.
func (s *scanner) unicode(at Position) error {
	r, err := s.hex4()
	if err != nil {
		return err
	}
	if r < 0 {
		return fault(at, "found \\u without four hexadecimal digits")
	}
	if utf16.IsSurrogate(r) {
		low, err := s.hex4()
		if err != nil {
			return err
		}
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			return fault(at, "found half a surrogate pair")
		}
	}
	s.text = utf8.AppendRune(s.text, r)
	return nil
}

// hex4 consumes \uXXXX; -1 where that does not stand there.
func (s *scanner) hex4() (rune, error) {
	b, err := s.ahead(6)
	if err != nil {
		return 0, err
	}
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1, nil
	}
	var n [2]byte
	if _, err := hex.Decode(n[:], b[2:6]); err != nil {
		return -1, nil
	}
	s.pos += 6
	return rune(n[0])<<8 | rune(n[1]), nil
}

// number consumes what could be a number, and what sticks to it, into s.text.
func (s *scanner) number() error {
	begin := s.at()
	s.text = s.text[:0]
	for {
		c, ok, err := s.peek()
		if err != nil {
			return err
		}
		if !ok || !sticks(c) {
			return nil
		}
		if len(s.text) >= MaxString {
			return fault(begin, "the number that begins here has more than %d characters", MaxString)
		}
		s.text = append(s.text, c)
		s.pos++
	}
}

// sticks tells whether c continues a number or a bare word.
func sticks(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '+' || c == '.' || c == '_' || c >= 0x80
}

// integer consumes a plain decimal integer of bits bits, bare or as a string.
// A fraction, an exponent, a sign +, leading zeros and what does not fit are
// faults: an offset is never guessed.
func (s *scanner) integer(what string, bits int) (int64, error) {
	c, err := s.next(what)
	if err != nil {
		return 0, err
	}
	at := s.at()
	switch {
	case c == '"':
		err = s.str()
	case sticks(c):
		err = s.number()
	default:
		err = fault(at, "found %s where %s should be", show(c), what)
	}
	if err != nil {
		return 0, err
	}
	return parseInteger(s.text, what, bits, at)
}

func parseInteger(text []byte, what string, bits int, at Position) (int64, error) {
	digits := text
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	for i, c := range digits {
		switch {
		case c >= '0' && c <= '9' && (i == 0 || digits[0] != '0'):
		case i > 0 && c == '.':
			return 0, fault(at, "%s %q is a fraction; only plain integers are taken", what, clip(text))
		case i > 0 && (c == 'e' || c == 'E'):
			return 0, fault(at, "%s %q has an exponent; only plain integers are taken", what, clip(text))
		default:
			return 0, fault(at, "%s %q is not a plain integer", what, clip(text))
		}
	}
	if len(digits) == 0 {
		return 0, fault(at, "%s %q is not a plain integer", what, clip(text))
	}
	n, err := strconv.ParseInt(string(text), 10, bits)
	if err != nil {
		return 0, fault(at, "%s %s does not fit into %d bits", what, clip(text), bits)
	}
	return n, nil
}

// clip shortens text from a file to what a line can show.
func clip(b []byte) string {
	const most = 60
	if len(b) <= most {
		return string(b)
	}
	return string(b[:most]) + "…"
}

// skip consumes a value of any kind. bare, if not nil, is told where a bare
// key begins and ends.
func (s *scanner) skip(depth int, bare func(from, to int64)) error {
	c, err := s.next("a value")
	if err != nil {
		return err
	}
	switch {
	case depth > MaxDepth:
		return fault(s.at(), "values nest deeper than %d", MaxDepth)
	case c == '"':
		return s.str()
	case c == '{':
		return s.object(func(Position) error { return s.skip(depth+1, bare) }, bare)
	case c == '[':
		return s.list('[', ']', func() error { return s.skip(depth+1, bare) })
	case sticks(c):
		at := s.at()
		if err := s.number(); err != nil {
			return err
		}
		return plausible(s.text, at)
	}
	return fault(s.at(), "found %s where a value should be", show(c))
}

// plausible refuses bare words that no JSON holds.
func plausible(text []byte, at Position) error {
	switch string(text) {
	case "true", "false", "null":
		return nil
	}
	if c := text[0]; c == '-' || c >= '0' && c <= '9' {
		return nil
	}
	return fault(at, "found %q where a value should be", clip(text))
}

// list consumes open, items parted by commas (one more at the end is taken, as
// RocketMQ's parser does), and shut.
func (s *scanner) list(open, shut byte, item func() error) error {
	end := "'" + string(shut) + "'"
	if err := s.expect(open, "'"+string(open)+"'"); err != nil {
		return err
	}
	for {
		c, err := s.next(end)
		if err != nil {
			return err
		}
		if c == shut {
			s.pos++
			return nil
		}
		if err := item(); err != nil {
			return err
		}
		if c, err = s.next(end); err != nil {
			return err
		}
		switch c {
		case ',':
			s.pos++
		case shut:
		default:
			return fault(s.at(), "found %s where ',' or '%c' should be", show(c), shut)
		}
	}
}

// object consumes an object whose keys are strings or bare integers. value
// consumes a value; the key is in s.text, and its place is given.
func (s *scanner) object(value func(key Position) error, bare func(from, to int64)) error {
	return s.list('{', '}', func() error {
		at := s.at()
		switch c := s.buf[s.pos]; {
		case c == '"':
			if err := s.str(); err != nil {
				return err
			}
		case c == '-' || c >= '0' && c <= '9':
			if err := s.number(); err != nil {
				return err
			}
			if bare != nil {
				bare(at.Byte, s.at().Byte)
			}
		default:
			return fault(at, "found %s where a key should be", show(c))
		}
		if err := s.colon(); err != nil {
			return err
		}
		return value(at)
	})
}

// colon consumes the colon behind a key, and leaves s.text alone.
func (s *scanner) colon() error { return s.expect(':', "':'") }
