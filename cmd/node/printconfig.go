package main

import (
	"fmt"
	"io"

	"github.com/alecthomas/kong"
	"gopkg.in/yaml.v3"
)

// printConfig writes the options in effect as YAML that --config takes and that
// gives the same. No option holds a secret: keys and
// tokens are in files. The flags hold the values.
func printConfig(out io.Writer, flags []*kong.Flag) error {
	doc := &yaml.Node{Kind: yaml.MappingNode}
	for _, flag := range flags {
		if isMeta(flag) {
			continue
		}
		value := &yaml.Node{}
		if err := value.Encode(plain(flag.Target.Interface())); err != nil {
			return fmt.Errorf("printing %s: %w", flag.Name, err)
		}
		doc.Content = append(doc.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: flag.Name}, value)
	}
	e := yaml.NewEncoder(out)
	if err := e.Encode(doc); err != nil {
		return fmt.Errorf("printing the options: %w", err)
	}
	return e.Close()
}

// plain gives a value as YAML shall have it: text for what has a unit.
func plain(v any) any {
	if s, ok := v.(fmt.Stringer); ok {
		return s.String()
	}
	return v
}
