package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/tidemark-mq/tidemark/bench/programs"
	"github.com/tidemark-mq/tidemark/bench/systems"
)

// Subject is a system in a plan: that of one name may be there in two builds.
type Subject struct {
	// Label tells subjects apart, Title is for people.
	Label string `json:"label"`
	Title string `json:"title"`
	// System is its name in systems.All.
	System   string           `json:"system"`
	Programs systems.Programs `json:"programs"`
	// Drive is the program that drives it.
	Drive string `json:"drive"`
	// Sums tell one build of its programs from another.
	Sums string `json:"sums"`
}

// system is the system of a subject, not started.
func (s Subject) system() systems.System { return systems.All[s.System].New(s.Programs) }

// subject makes a subject of a system, with one build of Tidemark.
func subject(name string, t programs.Tidemark, peers, jars string) (s Subject, err error) {
	kind, err := systems.KindOf(name)
	if err != nil {
		return s, err
	}
	s = Subject{Label: name, System: name, Programs: systems.Programs{Tidemark: t.Dir, Peers: peers, Jars: jars}, Drive: t.Drive}
	server := filepath.Join(peers, kind.Server)
	switch {
	case kind.Ours():
		server = filepath.Join(t.Dir, kind.Server)
		s.Title = kind.Titled(t.Rev)
		if t.Older {
			s.Label = name + "@" + t.Rev
		}
	case kind.Set != "":
		if server, err = ownJar(kind, jars); err == nil {
			s.Title = kind.Titled(versionText.FindString(strings.TrimPrefix(filepath.Base(server), kind.Jar)))
		}
	case kind.Module == "":
		if server, err = exec.LookPath(kind.Server); err == nil {
			s.Title, err = told(kind, server)
		}
	default:
		s.Title, err = versioned(kind, server)
	}
	if err != nil {
		return s, err
	}
	s.Sums, err = sums(server, s.Drive)
	return s, err
}

// versioned is the title of a system with the version of its module in its program.
func versioned(kind systems.Kind, program string) (string, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return "", err
	}
	modules := append(info.Deps, &info.Main)
	i := slices.IndexFunc(modules, func(m *debug.Module) bool { return m.Path == kind.Module })
	if i < 0 {
		return kind.Title, nil
	}
	return kind.Titled(strings.TrimPrefix(modules[i].Version, "v")), nil
}

// ownJar is the jar of a Java server among those that it needs.
func ownJar(kind systems.Kind, jars string) (string, error) {
	list, err := filepath.Glob(filepath.Join(jars, kind.Jar+"-[0-9]*.jar"))
	if err != nil || len(list) != 1 {
		return "", fmt.Errorf("%d jars in %s are called %s (%v)", len(list), jars, kind.Jar, err)
	}
	return list[0], nil
}

// told is the title of an installed system with the first version that its
// program tells of itself.
func told(kind systems.Kind, program string) (string, error) {
	said, err := exec.Command(program, "--version").Output()
	return kind.Titled(versionText.FindString(string(said))), err
}

var versionText = regexp.MustCompile(`[0-9]+(\.[0-9]+)+`)

// sums tells the bytes of programs from others.
func sums(programs ...string) (string, error) {
	h := sha256.New()
	for _, p := range programs {
		f, err := os.Open(p)
		if err != nil {
			return "", err
		}
		_, err = io.Copy(h, f)
		f.Close()
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}
