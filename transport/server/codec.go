package server

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// codec is the JSON of the API: 64-bit numbers as strings (numbers are taken
// as well, without a loss) and fields by their proto3 JSON names. Unlike Connect's
// own, it refuses unknown fields, so that a misspelt field is an error and not a
// default, and writes out fields that hold their default, so that "exists": false
// can be seen.
type codec struct{ name string }

var _ connect.Codec = codec{}

// Name gives the name that Connect derives the content type from.
func (c codec) Name() string { return c.name }

// Marshal gives the JSON of a message.
func (c codec) Marshal(m any) ([]byte, error) { return c.MarshalAppend(nil, m) }

// MarshalAppend appends the JSON of a message.
func (c codec) MarshalAppend(dst []byte, m any) ([]byte, error) {
	pm, ok := m.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("%T is not a protobuf message", m)
	}
	return protojson.MarshalOptions{EmitDefaultValues: true}.MarshalAppend(dst, pm)
}

// Unmarshal reads the JSON of a message.
func (c codec) Unmarshal(data []byte, m any) error {
	pm, ok := m.(proto.Message)
	if !ok {
		return fmt.Errorf("%T is not a protobuf message", m)
	}
	if len(data) == 0 {
		return errors.New(`the body is empty; the smallest request is {}`)
	}
	if len(data) > freeElements && objects(data) > maxElements {
		return errElements
	}
	if err := (protojson.UnmarshalOptions{RecursionLimit: 16}).Unmarshal(data, pm); err != nil {
		return fmt.Errorf("the body is not the JSON of %s: %s", pm.ProtoReflect().Descriptor().FullName(), jsonFault(err))
	}
	return nil
}

// objects counts those of a JSON text: the braces that open outside of a string.
func objects(data []byte) (n int) {
	text := false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			text = !text
		case c == '\\' && text:
			i++
		case c == '{' && !text:
			n++
		}
	}
	return n
}

// proto3 is the protobuf of the API, with a bound on the elements of a message.
type proto3 struct{}

var _ connect.Codec = proto3{}

// Name gives the name that Connect derives the content type from.
func (proto3) Name() string { return "proto" }

// Marshal encodes a message.
func (b proto3) Marshal(m any) ([]byte, error) { return b.MarshalAppend(nil, m) }

// MarshalAppend appends a message, encoded.
func (proto3) MarshalAppend(dst []byte, m any) ([]byte, error) {
	pm, ok := m.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("%T is not a protobuf message", m)
	}
	return proto.MarshalOptions{}.MarshalAppend(dst, pm)
}

// Unmarshal decodes a message.
func (proto3) Unmarshal(data []byte, m any) error {
	pm, ok := m.(proto.Message)
	if !ok {
		return fmt.Errorf("%T is not a protobuf message", m)
	}
	if _, err := elements(data, pm); err != nil {
		return err
	}
	return proto.Unmarshal(data, pm)
}

// jsonFault takes protobuf's prefix off its words, whose blanks protobuf varies from
// build to build on purpose.
func jsonFault(err error) string {
	text := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, err.Error())
	return strings.TrimPrefix(text, "proto: ")
}
