// Package manpage writes the manual page of a program from the model that parses
// its command line, so that the page says what the program takes.
package manpage

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/alecthomas/kong"
)

// Page is what the model does not know.
type Page struct {
	// Section is that of the manual: "1" for users' commands, "8" for daemons.
	Section string
	// Version of the program, for the foot of the page.
	Version string
	// About is the paragraphs of the description.
	About []string
	// Exits are the exit codes and their meanings, in order.
	Exits []Item
	// Files are paths and what they hold.
	Files []Item
	// Examples are command lines and what they do.
	Examples []Item
	// Also are other pages, as "name(section)".
	Also []string
}

// Item is a term and what it means.
type Item struct{ Term, Text string }

// Write writes the page of an application in the macros of man(7).
func Write(w io.Writer, app *kong.Node, p Page) error {
	r := &roff{w: bufio.NewWriter(w)}
	r.line(`.TH %s %s "" %s "Tidemark"`, quoted(strings.ToUpper(app.Name)), p.Section, quoted(app.Name+" "+p.Version))
	r.section("NAME")
	first, _, _ := strings.Cut(app.Help, ". ")
	r.text("%s - %s", app.Name, strings.ToLower(first[:1])+strings.TrimSuffix(first[1:], "."))
	r.section("SYNOPSIS")
	r.line(".B %s", escaped(app.Name))
	commands := app.Leaves(true)
	if len(commands) > 0 {
		r.text("COMMAND [ARGUMENT ...] [FLAG ...]")
	} else {
		r.text("[FLAG ...]")
	}
	r.section("DESCRIPTION")
	r.paragraphs(p.About)
	if len(commands) > 0 {
		r.section("FLAGS OF ALL COMMANDS")
		r.flags(app.Flags)
		r.section("COMMANDS")
		for _, c := range commands {
			r.command(c)
		}
	} else {
		r.section("FLAGS")
		r.flags(app.Flags)
	}
	r.items("EXIT STATUS", p.Exits)
	r.environment(app)
	r.items("FILES", p.Files)
	r.items("EXAMPLES", p.Examples)
	if len(p.Also) > 0 {
		r.section("SEE ALSO")
		r.text("%s", strings.Join(p.Also, ", "))
	}
	if err := r.w.Flush(); err != nil {
		return fmt.Errorf("writing the manual page: %w", err)
	}
	return nil
}

// roff writes lines of a page; the first error comes back from Flush.
type roff struct{ w *bufio.Writer }

func (r *roff) line(format string, args ...any) { fmt.Fprintf(r.w, format+"\n", args...) }

func (r *roff) section(name string) { r.line(".SH %s", quoted(name)) }

// text writes a line of plain text.
func (r *roff) text(format string, args ...any) {
	s := escaped(fmt.Sprintf(format, args...))
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	r.line("%s", s)
}

func (r *roff) paragraphs(list []string) {
	for _, p := range list {
		r.line(".PP")
		r.text("%s", p)
	}
}

// item writes a term and, indented, its text.
func (r *roff) item(term, text string) {
	r.line(".TP")
	r.line(".B %s", escaped(term))
	r.text("%s", text)
}

// items writes a section of them, if there are any.
func (r *roff) items(section string, list []Item) {
	if len(list) == 0 {
		return
	}
	r.section(section)
	for _, i := range list {
		r.item(i.Term, i.Text)
	}
}

// command writes what one command takes.
func (r *roff) command(c *kong.Node) {
	title := c.FullPath()
	for _, a := range c.Positional {
		title += " " + a.Summary()
	}
	r.line(".SS %s", quoted(title))
	r.text("%s", c.Help)
	for _, a := range c.Positional {
		r.item(strings.Trim(a.Summary(), "[]"), a.Help)
	}
	var own []*kong.Flag
	for n := c; n.Parent != nil; n = n.Parent {
		own = append(n.Flags, own...)
	}
	r.flags(own)
}

// flags writes flags that are not hidden.
func (r *roff) flags(list []*kong.Flag) {
	for _, f := range list {
		if f.Hidden {
			continue
		}
		term := f.Summary()
		if f.Short != 0 {
			term = fmt.Sprintf("-%c, %s", f.Short, term)
		}
		r.item(term, f.Help)
	}
}

// environment lists the variables that stand for flags.
func (r *roff) environment(app *kong.Node) {
	var list []Item
	for _, f := range app.Flags {
		for _, e := range f.Envs {
			list = append(list, Item{e, "Stands for --" + f.Name + "."})
		}
	}
	r.items("ENVIRONMENT", list)
}

// escapes are what roff takes for something else.
var escapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", "...")

// control are characters that a page must not hold.
var control = regexp.MustCompile(`[\x00-\x1f\x7f]+`)

func escaped(s string) string { return escapes.Replace(control.ReplaceAllString(s, " ")) }

// quoted gives a macro's argument.
func quoted(s string) string { return `"` + strings.ReplaceAll(escaped(s), `"`, `\(dq`) + `"` }
