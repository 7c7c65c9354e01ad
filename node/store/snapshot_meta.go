package store

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/offset"
)

const (
	metaName  = "meta.json"
	dataName  = "data"
	metaMagic = "tidemark-snapshot"
	metaVers  = 1
	metaBytes = 1 << 20 // the most a meta file may have
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// metaFile is what meta.json holds: the snapshot's meta, and a checksum over its
// very bytes.
type metaFile struct {
	Magic   string `json:"magic"`
	Version int    `json:"version"`
	// Sum is the CRC32C of the bytes of Meta, 8 hex digits.
	Sum  string          `json:"crc32c"`
	Meta json.RawMessage `json:"meta"`
}

// snapshotMeta describes one snapshot's data file.
type snapshotMeta struct {
	Index              uint64             `json:"index"`
	Term               uint64             `json:"term"`
	Configuration      raft.Configuration `json:"configuration"`
	ConfigurationIndex uint64             `json:"configuration_index"`
	// Size is the data file's length in bytes, DataSum its CRC32C.
	Size    int64  `json:"size"`
	DataSum string `json:"data_crc32c"`
}

func sumText(sum uint32) string { return fmt.Sprintf("%08x", sum) }

func (m snapshotMeta) encode() ([]byte, error) {
	meta, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encoding snapshot meta: %w", err)
	}
	data, err := json.Marshal(metaFile{
		Magic: metaMagic, Version: metaVers,
		Sum: sumText(crc32.Checksum(meta, castagnoli)), Meta: meta,
	})
	if err != nil {
		return nil, fmt.Errorf("encoding snapshot meta: %w", err)
	}
	return append(data, '\n'), nil
}

// parseMeta decodes meta.json. Its errors say what is wrong, without the path.
func parseMeta(data []byte) (snapshotMeta, error) {
	var m snapshotMeta
	var f metaFile
	if err := json.Unmarshal(data, &f); err != nil {
		return m, fmt.Errorf("not readable: %w", err)
	}
	switch {
	case f.Magic != metaMagic:
		return m, fmt.Errorf("magic is %q", f.Magic)
	case f.Version != metaVers:
		return m, fmt.Errorf("version %d, and this build reads %d: %w", f.Version, metaVers, offset.ErrLevel)
	case f.Sum != sumText(crc32.Checksum(f.Meta, castagnoli)):
		return m, fmt.Errorf("checksum is %s, and %q was written", sumText(crc32.Checksum(f.Meta, castagnoli)), f.Sum)
	}
	if err := json.Unmarshal(f.Meta, &m); err != nil {
		return m, fmt.Errorf("not readable: %w", err)
	}
	if m.Size < 0 || m.Index == 0 || m.Term == 0 {
		return m, fmt.Errorf("index %d, term %d, size %d", m.Index, m.Term, m.Size)
	}
	return m, nil
}

// readMeta reads the meta of the snapshot in a folder, and checks the data
// file's length.
func readMeta(dir string) (snapshotMeta, error) {
	path := filepath.Join(dir, metaName)
	info, err := os.Stat(path)
	if err != nil {
		return snapshotMeta{}, damaged(path, "%v", err)
	}
	if info.Size() > metaBytes {
		return snapshotMeta{}, damaged(path, "%d bytes long", info.Size())
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return snapshotMeta{}, damaged(path, "%v", err)
	}
	m, err := parseMeta(data)
	if err != nil {
		return m, damaged(path, "%v", err)
	}
	path = filepath.Join(dir, dataName)
	info, err = os.Stat(path)
	if err != nil {
		return m, damaged(path, "%v", err)
	}
	if info.Size() != m.Size {
		return m, damaged(path, "%d bytes long, and %d were written", info.Size(), m.Size)
	}
	return m, nil
}

// forRaft returns the meta as raft wants it. Peers stays empty: it is read from
// snapshots of version 0 only.
func (m snapshotMeta) forRaft(id string) raft.SnapshotMeta {
	return raft.SnapshotMeta{
		Version: 1, ID: id, Index: m.Index, Term: m.Term,
		Configuration: m.Configuration.Clone(), ConfigurationIndex: m.ConfigurationIndex, Size: m.Size,
	}
}
