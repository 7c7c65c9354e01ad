package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"gopkg.in/yaml.v3"
)

// maxFile bounds the file of options.
const maxFile = 1 << 20

// optionsFile resolves flags from a YAML file. It is given to kong empty, since
// the flags that a file may name are known only then, and filled by load.
type optionsFile struct {
	path   string
	values map[string]string // by flag name
}

var _ kong.Resolver = (*optionsFile)(nil)

// Validate has nothing to do: load has checked all.
func (f *optionsFile) Validate(*kong.Application) error { return nil }

// Resolve gives the value of a flag that neither the command line nor the
// environment sets; kong itself asks for the former.
func (f *optionsFile) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	value, ok := f.values[flag.Name]
	if !ok || slices.ContainsFunc(flag.Envs, isSet) {
		return nil, nil
	}
	return value, nil
}

func isSet(variable string) bool {
	_, ok := os.LookupEnv(variable)
	return ok
}

// load reads the file and checks every key and value against flags, so that
// what is wrong is named by file and line.
func (f *optionsFile) load(path string, flags []*kong.Flag) error {
	f.path, f.values = path, map[string]string{}
	text, err := readFile(path)
	if err != nil {
		return wrong("--config", "%s cannot be read: %w", quoted(path), err)
	}
	var doc, more yaml.Node
	documents := yaml.NewDecoder(bytes.NewReader(text))
	if err := documents.Decode(&doc); errors.Is(err, io.EOF) {
		return nil // an empty file sets nothing
	} else if err != nil {
		return wrong(quoted(path), "is not YAML: %w", err)
	}
	if err := documents.Decode(&more); !errors.Is(err, io.EOF) {
		return f.fault(&more, "a second document begins; all options belong into one")
	}
	top := doc.Content[0]
	if top.Kind != yaml.MappingNode {
		return f.fault(top, "a list of option: value is needed here")
	}
	for i := 0; i < len(top.Content); i += 2 {
		if err := f.entry(top.Content[i], top.Content[i+1], flags); err != nil {
			return err
		}
	}
	return nil
}

func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("it is larger than %d bytes", maxFile)
	}
	return text, err
}

func (f *optionsFile) fault(at *yaml.Node, format string, args ...any) error {
	return wrong(fmt.Sprintf("%s:%d:", quoted(f.path), at.Line), format, args...)
}

func (f *optionsFile) entry(key, value *yaml.Node, flags []*kong.Flag) error {
	i := slices.IndexFunc(flags, func(flag *kong.Flag) bool { return flag.Name == key.Value && !isMeta(flag) })
	if i < 0 {
		return f.fault(key, "there is no option %s%s", quoted(key.Value), didYouMean(key.Value, flags))
	}
	if _, twice := f.values[key.Value]; twice {
		return f.fault(key, "%s occurs twice", key.Value)
	}
	text, err := scalar(value)
	if err != nil {
		return f.fault(value, "%s: %w", key.Value, err)
	}
	if err := fits(flags[i], text); err != nil {
		return f.fault(value, "%s: %w", key.Value, err)
	}
	f.values[key.Value] = text
	return nil
}

// isMeta tells the flags that are about the options themselves.
func isMeta(flag *kong.Flag) bool { return flag.Tag.Has("meta") || flag.Name == "help" }

// scalar gives a value as it would stand behind its flag; a list, or a mapping
// as of founders, is joined by commas.
func scalar(value *yaml.Node) (string, error) {
	switch value.Kind {
	case yaml.ScalarNode:
		if value.Tag == "!!null" {
			return "", errors.New("there is no value; leave the key out, or write \"\"")
		}
		return value.Value, nil
	case yaml.SequenceNode:
		return joined(value.Content, 1, "")
	case yaml.MappingNode:
		return joined(value.Content, 2, "=")
	}
	return "", errors.New("this form of value is not taken; write it out")
}

// joined joins groups of n scalars by between, and these by commas.
func joined(list []*yaml.Node, n int, between string) (string, error) {
	var parts []string
	for group := range slices.Chunk(list, n) {
		var words []string
		for _, v := range group {
			if v.Kind != yaml.ScalarNode || strings.Contains(v.Value, ",") {
				return "", fmt.Errorf("line %d: plain values without commas are needed in a list", v.Line)
			}
			words = append(words, v.Value)
		}
		parts = append(parts, strings.Join(words, between))
	}
	return strings.Join(parts, ","), nil
}

// fits tells whether a flag takes a value, without setting it.
func fits(flag *kong.Flag, text string) error {
	trial := reflect.New(flag.Target.Type()).Elem()
	if err := flag.Mapper.Decode(&kong.DecodeContext{Value: flag.Value, Scan: kong.Scan().PushTyped(text, kong.FlagValueToken)}, trial); err != nil {
		return err
	}
	if flag.Enum != "" && !slices.Contains(flag.EnumSlice(), text) {
		return fmt.Errorf("%q is not one of %s", text, strings.Join(flag.EnumSlice(), ", "))
	}
	return nil
}

// didYouMean names the flag that shares the longest beginning, if it is long.
func didYouMean(name string, flags []*kong.Flag) string {
	best, length := "", 2
	for _, flag := range flags {
		if isMeta(flag) {
			continue
		}
		n := 0
		for n < len(name) && n < len(flag.Name) && name[n] == flag.Name[n] {
			n++
		}
		if n > length {
			best, length = flag.Name, n
		}
	}
	if best == "" {
		return ""
	}
	return "; is " + best + " meant?"
}
