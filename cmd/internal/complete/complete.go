// Package complete tells a shell what may stand in a command line, from the
// model that parses it, so that what is offered is what is taken.
//
// Suggest is the rule, in one place for all shells; Script gives each shell the
// few lines that ask for it, by running the program itself.
package complete

import (
	"strings"

	"github.com/alecthomas/kong"
)

// Word is something that may stand where the cursor is.
type Word struct {
	// Text is the whole word, as the program shall get it.
	Text string
	// Help says what it is; empty where there is nothing to say.
	Help string
}

// Suggestion is what may stand in the place of the last word.
type Suggestion struct {
	// Words are what the model names: commands, flags, values of a flag.
	Words []Word
	// Value is the flag or argument whose value stands there, nil for none. The
	// caller may know values that the model does not.
	Value *kong.Value
	// Before stands in front of the value in the same word ("--group=").
	Before string
	// Partial is what is there of the value.
	Partial string
	// Flags are the values that flags were given before, by name.
	Flags map[string]string
}

// Suggest looks at the words behind the program's name; the last is the one to
// complete, empty where none is begun.
func Suggest(app *kong.Node, words []string) Suggestion {
	w := &walk{node: app, flags: map[string]string{}}
	if len(words) == 0 {
		words = []string{""}
	}
	for _, word := range words[:len(words)-1] {
		w.pass(word)
	}
	return w.last(words[len(words)-1])
}

// walk goes along a command line.
type walk struct {
	// node is the command that the words so far mean, args how many of its
	// arguments are there.
	node *kong.Node
	args int
	// pending is the flag whose value comes next.
	pending *kong.Flag
	// plain: behind "--" nothing is a flag.
	plain bool
	flags map[string]string
}

// pass takes a word that is complete.
func (w *walk) pass(word string) {
	switch {
	case w.pending != nil:
		w.flags[w.pending.Name] = word
		w.pending = nil
	case word == "--" && !w.plain:
		w.plain = true
	case !w.plain && len(word) > 1 && word[0] == '-':
		w.flag(word)
	default:
		w.word(word)
	}
}

// flag takes a flag, whose value may be in the same word.
func (w *walk) flag(word string) {
	name, value, has := strings.Cut(word, "=")
	f := w.find(name)
	switch {
	case f == nil:
	case has:
		w.flags[f.Name] = value
	case f.IsBool() || f.IsCounter():
		w.flags[f.Name] = "true"
	case len(word) > 2 && word[1] != '-': // -ojson
		w.flags[f.Name] = word[2:]
	default:
		w.pending = f
	}
}

// word takes a command or an argument.
func (w *walk) word(word string) {
	if c := w.command(word); c != nil && w.args == 0 {
		w.node = c
		return
	}
	w.args++
}

func (w *walk) command(name string) *kong.Node {
	for _, c := range w.node.Children {
		if c.Type == kong.CommandNode && c.Name == name {
			return c
		}
	}
	return nil
}

// find gives the flag that a word begins with; nil if there is none.
func (w *walk) find(word string) *kong.Flag {
	for _, f := range w.all() {
		long := strings.HasPrefix(word, "--") && word[2:] == f.Name
		short := f.Short != 0 && !strings.HasPrefix(word, "--") && strings.HasPrefix(word[1:], string(f.Short))
		if long || short {
			return f
		}
	}
	return nil
}

// all are the flags of the command and of those above it.
func (w *walk) all() (list []*kong.Flag) {
	for _, group := range w.node.AllFlags(true) {
		list = append(list, group...)
	}
	return list
}

// last suggests what the last word may become.
func (w *walk) last(word string) Suggestion {
	s := Suggestion{Flags: w.flags, Partial: word}
	switch {
	case w.pending != nil:
		s.valueOf(w.pending.Value)
	case !w.plain && strings.HasPrefix(word, "--") && strings.Contains(word, "="):
		name, value, _ := strings.Cut(word, "=")
		if f := w.find(name); f != nil && !f.IsBool() {
			s.Before, s.Partial = name+"=", value
			s.valueOf(f.Value)
		}
	case !w.plain && strings.HasPrefix(word, "-"):
		w.offerFlags(&s)
	case len(w.node.Children) > 0:
		for _, c := range w.node.Children {
			if !c.Hidden {
				s.offer(c.Name, c.Help)
			}
		}
	default:
		if v := w.argument(); v != nil {
			s.valueOf(v)
		}
	}
	return s
}

// argument is the one that comes next; nil if there is none.
func (w *walk) argument() *kong.Value {
	list := w.node.Positional
	switch {
	case w.args < len(list):
		return list[w.args]
	case len(list) > 0 && list[len(list)-1].IsCumulative():
		return list[len(list)-1]
	}
	return nil
}

// offerFlags offers those that are not there yet, or may be there again.
func (w *walk) offerFlags(s *Suggestion) {
	for _, f := range w.all() {
		if _, there := w.flags[f.Name]; !there || f.IsCumulative() {
			s.offer("--"+f.Name, f.Help)
		}
	}
}

// valueOf offers the values of a flag or an argument, as far as they are known.
func (s *Suggestion) valueOf(v *kong.Value) {
	s.Value = v
	if v.Enum == "" {
		return
	}
	for _, e := range v.EnumSlice() {
		s.offer(e, "")
	}
}

// offer adds a word if it begins as what is there.
func (s *Suggestion) offer(text, help string) {
	if strings.HasPrefix(text, s.Partial) {
		s.Words = append(s.Words, Word{s.Before + text, help})
	}
}

// Offer adds a value that the caller knows, if it begins as what is there.
func (s *Suggestion) Offer(text string) { s.offer(text, "") }
