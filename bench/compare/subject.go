package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
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

// subject makes a subject of a system, with one build of Tidemark.
func subject(name string, t programs.Tidemark, peers string) (s Subject, err error) {
	kind, err := systems.KindOf(name)
	if err != nil {
		return s, err
	}
	s = Subject{Label: name, System: name, Programs: systems.Programs{Tidemark: t.Dir, Peers: peers}, Drive: t.Drive}
	server := filepath.Join(peers, kind.Server)
	if kind.Ours() {
		server = filepath.Join(t.Dir, kind.Server)
		s.Title = kind.Titled(t.Rev)
		if t.Older {
			s.Label = name + "@" + t.Rev
		}
	} else if s.Title, err = versioned(kind, server); err != nil {
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
