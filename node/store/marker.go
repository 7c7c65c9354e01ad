package store

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidemark-mq/tidemark/offset"
)

const (
	markerMagic   = "tidemark-store"
	markerVersion = 1
	// markerVersionWAL is that of a store whose log is in segments, which older
	// builds can't read.
	markerVersionWAL = 2
	markerBytes      = 4 << 10 // the most a marker may have

	stateCreating = "creating"
	stateReady    = "ready"
)

// marker says that a folder is a store, and that its files must be there. It is
// the first file written, as "creating", and replaced by "ready" when all else
// is durable: so a creation that was cut short, which nobody has used, differs
// from a store that lost a file.
type marker struct {
	Magic   string `json:"magic"`
	Version int    `json:"version"`
	State   string `json:"state"`
	// Store is drawn at creation and stands in the log file too: a log file of
	// another store, or a new one, is found out.
	Store string `json:"store"`
	// Member is the member the folder belongs to, empty if it was not named.
	Member string `json:"member,omitempty"`
	// Log is how the log is kept; empty for LogBoltDB.
	Log LogStore `json:"log,omitempty"`
}

// log is how the store keeps its log.
func (m marker) log() LogStore {
	if m.Log == "" {
		return LogBoltDB
	}
	return m.Log
}

func newMarker(member string, log LogStore) marker {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	m := marker{Magic: markerMagic, Version: markerVersion, State: stateCreating, Store: hex.EncodeToString(id[:]), Member: member}
	if log != LogBoltDB {
		m.Version, m.Log = markerVersionWAL, log
	}
	return m
}

func (m marker) write(dir string) error {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding marker: %w", err)
	}
	return ReplaceFile(filepath.Join(dir, markerName), append(data, '\n'))
}

// parseMarker decodes a marker and checks that this build can read its store.
func parseMarker(path string, data []byte) (marker, error) {
	var m marker
	if len(data) > markerBytes {
		return m, damaged(path, "%d bytes long", len(data))
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil {
		return m, damaged(path, "not readable: %v", err)
	}
	switch {
	case m.Magic != markerMagic:
		return m, damaged(path, "magic is %q", m.Magic)
	case m.Version > markerVersionWAL:
		return m, offset.Errorf(offset.ErrLevel, "%s: version %d, and this build reads up to %d; start a newer tidemarkd", path, m.Version, markerVersionWAL)
	case (m.Version == markerVersionWAL) != (m.Log == LogWAL) || m.Log != "" && m.Log != LogWAL:
		return m, damaged(path, "version %d and log %q", m.Version, m.Log)
	case m.Version < 1 || m.Store == "" || (m.State != stateCreating && m.State != stateReady):
		return m, damaged(path, "version %d, state %q, store %q", m.Version, m.State, m.Store)
	}
	return m, nil
}

// findMarker returns the folder's marker, or nil for a folder in which a store
// may be made. It writes nothing.
func findMarker(dir string) (*marker, error) {
	path := filepath.Join(dir, markerName)
	data, err := os.ReadFile(path)
	if err == nil {
		m, err := parseMarker(path, data)
		return &m, err
	}
	if !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("reading marker: %w", err)
	}
	return nil, refuseForeign(dir)
}

// refuseForeign returns an error where a folder without a marker holds anything.
func refuseForeign(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading folder: %w", err)
	}
	var found []string
	for _, e := range entries {
		switch e.Name() {
		case lockName, lostAndFound, markerName + tmpSuffix:
		case logName, walName, snapshotsName:
			return damaged(filepath.Join(dir, markerName), "missing, though the folder holds %s", e.Name())
		default:
			found = append(found, fmt.Sprintf("%q", e.Name()))
		}
	}
	if len(found) == 0 {
		return nil
	}
	found = found[:min(len(found), 3)]
	return offset.Errorf(offset.ErrDamaged, "%s is no store of Tidemark and not empty (holds %s): choose another data folder", dir, strings.Join(found, ", "))
}

// checkLogStore refuses a folder whose log is kept otherwise than asked for.
func (m marker) checkLogStore(dir string, log LogStore) error {
	if m.log() == log {
		return nil
	}
	return offset.Errorf(offset.ErrInvalid, "%s keeps its log with %s, not with %s: a member keeps the log store it began with; start it with --log-store=%s, or remove it from the cluster, empty the folder and add it anew", dir, m.log(), log, m.log())
}

// checkOwner refuses a folder of another member.
func (m marker) checkOwner(dir, member string) error {
	if member == "" || m.Member == "" || m.Member == member {
		return nil
	}
	return offset.Errorf(offset.ErrDamaged, "%s belongs to member %q, not to %q: give this member its own data folder", dir, m.Member, member)
}
