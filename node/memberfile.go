package node

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"

	"github.com/tidemark-mq/tidemark/node/store"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/peer"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

const (
	// memberFormat and memberVersion are the magic and version of member.json.
	memberFormat  = "tidemark member"
	memberVersion = 1
	// maxMemberFile bounds what is read, in bytes; 32 founders need 16 KiB.
	maxMemberFile = 64 << 10
)

// memberRecord is what member.json says. The fields in lower case are filled
// from their texts.
type memberRecord struct {
	// Name is the configured name, Member the id that was drawn, 32 hexadecimal digits.
	Name   string `json:"name"`
	Member string `json:"member_id"`
	// Cluster is empty while the member belongs to none.
	Cluster string `json:"cluster_id,omitempty"`
	// Peer is the advertised peer address at the last start, empty before the first.
	Peer string `json:"peer_address,omitempty"`
	// Founders are the voters that raft is bootstrapped with.
	Founders []founderRecord `json:"founders,omitempty"`
	// Drawing: this member has drawn the cluster, and still has to tell the others.
	Drawing bool `json:"drawing,omitempty"`
	// Started: raft's store has been made.
	Started bool `json:"started,omitempty"`

	cluster  offset.ClusterID
	founders []peer.Founder
}

type founderRecord struct {
	ID   string `json:"id"`
	Peer string `json:"peer"`
}

// memberEnvelope is the file: the record, and what shows that it is whole.
type memberEnvelope struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// CRC32C is the checksum of the record as compact JSON, 8 hexadecimal digits.
	CRC32C string          `json:"crc32c"`
	Record json.RawMessage `json:"member"`
}

// readMember reads and checks a member.json. The error wraps fs.ErrNotExist if there is none.
func readMember(path string) (memberRecord, error) {
	f, err := os.Open(path)
	if err != nil {
		return memberRecord{}, unusable(fmt.Errorf("reading the member's identity: %w", err))
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxMemberFile+1))
	if err != nil {
		return memberRecord{}, unusable(fmt.Errorf("reading the member's identity: %w", err))
	}
	r, err := decodeMember(b)
	if errors.Is(err, offset.ErrLevel) {
		return memberRecord{}, fmt.Errorf("%s: %w", path, err)
	}
	if err != nil {
		return memberRecord{}, offset.Errorf(offset.ErrDamaged,
			"%s does not hold a member's identity (%v): put a good copy of this file back, or start with an empty data folder; the member then comes back as a new one (tidemark cluster remove and add)", path, err)
	}
	return r, nil
}

func decodeMember(b []byte) (memberRecord, error) {
	var e memberEnvelope
	if len(b) > maxMemberFile {
		return memberRecord{}, fmt.Errorf("more than %d bytes", maxMemberFile)
	}
	if err := strictJSON(b, &e); err != nil {
		return memberRecord{}, err
	}
	if e.Format != memberFormat {
		return memberRecord{}, fmt.Errorf("its format is %q", e.Format)
	}
	if e.Version != memberVersion {
		return memberRecord{}, offset.Errorf(offset.ErrLevel, "version %d was written by a newer tidemarkd; start that, or a newer one", e.Version)
	}
	sum, err := checksum(e.Record)
	if err != nil {
		return memberRecord{}, err
	}
	if sum != e.CRC32C {
		return memberRecord{}, fmt.Errorf("its checksum is %q, its content has %s", e.CRC32C, sum)
	}
	var r memberRecord
	if err := strictJSON(e.Record, &r); err != nil {
		return memberRecord{}, err
	}
	return r, r.fill()
}

// fill checks the texts and reads what they stand for.
func (r *memberRecord) fill() (err error) {
	if err := validateMemberName(r.Name); err != nil {
		return err
	}
	if id, err := hex.DecodeString(r.Member); err != nil || len(id) != 16 {
		return fmt.Errorf("the member id is %q", r.Member)
	}
	if r.cluster, err = offset.ParseClusterID(r.Cluster); err != nil {
		return err
	}
	if r.cluster.IsZero() && (len(r.Founders) > 0 || r.Drawing || r.Started) {
		return errors.New("it belongs to no cluster, but has been founded or started")
	}
	if len(r.Founders) > offset.MaxMembers || r.Drawing && len(r.Founders) == 0 {
		return fmt.Errorf("it names %d founders", len(r.Founders))
	}
	if err := wire.CheckAddress("own address", r.Peer); err != nil {
		return err
	}
	for _, f := range r.Founders {
		if err := wire.CheckMemberID("founder", f.ID); err != nil {
			return err
		}
		if err := wire.CheckAddress("founder's address", f.Peer); err != nil {
			return err
		}
		r.founders = append(r.founders, peer.Founder(f))
	}
	return nil
}

// encode makes the file's content.
func (r memberRecord) encode() ([]byte, error) {
	r.Cluster, r.Founders = "", nil
	if !r.cluster.IsZero() {
		r.Cluster = r.cluster.String()
	}
	for _, f := range r.founders {
		r.Founders = append(r.Founders, founderRecord(f))
	}
	record, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	sum, err := checksum(record)
	if err != nil {
		return nil, err
	}
	b, err := json.MarshalIndent(memberEnvelope{Format: memberFormat, Version: memberVersion, CRC32C: sum, Record: record}, "", "  ")
	return append(b, '\n'), err
}

// checksum is that of a record whatever its layout, so that a person may look
// at the file with an editor that reformats it.
func checksum(record []byte) (string, error) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, record); err != nil {
		return "", err
	}
	return fmt.Sprintf("%08x", crc32.Checksum(compact.Bytes(), crc32.MakeTable(crc32.Castagnoli))), nil
}

// strictJSON decodes exactly one value without unknown fields.
func strictJSON(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("something follows its end")
	}
	return nil
}

// writeMember replaces the file, whole or not at all.
func writeMember(dir string, r memberRecord) error {
	b, err := r.encode()
	if err != nil {
		return err
	}
	return store.ReplaceFile(filepath.Join(dir, memberFile), b)
}
