package wire

import (
	"encoding/hex"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
)

// MaxMemberID is the longest raft server id, "name/member-id", in bytes.
const MaxMemberID = offset.MaxName + 1 + 32

// ToStatusResponse makes the API's form of a status.
func ToStatusResponse(s offset.Status) *tidemarkv1.StatusResponse {
	m := &tidemarkv1.StatusResponse{
		Meta:          ToMeta(s.Meta),
		NodeId:        s.NodeID,
		State:         s.State,
		Term:          s.Term,
		CommitIndex:   s.CommitIndex,
		LastIndex:     s.LastIndex,
		SnapshotIndex: s.SnapshotIndex,
		Level:         uint32(s.Level),
		MaxLevel:      uint32(s.MaxLevel),
		Digest:        s.Digest.String(),
		DigestIndex:   s.DigestIndex,
		Groups:        s.Groups,
		Queues:        s.Queues,
		Ready:         s.NotReady == "",
		NotReady:      s.NotReady,
		Import:        toProgress(s.Import),
		Version:       s.Version,
		Vitals:        toVitals(&s.Vitals),
	}
	for i := range s.Members {
		m.Members = append(m.Members, toMember(&s.Members[i]))
	}
	return m
}

func toMember(s *offset.MemberStatus) *tidemarkv1.Member {
	return &tidemarkv1.Member{
		Id:           s.ID,
		PeerAddress:  s.Peer,
		ApiAddress:   s.API,
		Voter:        s.Voter,
		Leader:       s.Leader,
		MaxLevel:     uint32(s.MaxLevel),
		MatchIndex:   s.Match,
		ContactAgeMs: toMillis(s.ContactAge),
	}
}

func toProgress(i *offset.ImportStatus) *tidemarkv1.ImportProgress {
	if i == nil {
		return nil
	}
	id := "" // of those that are not told it
	if !i.ID.IsZero() {
		id = i.ID.String()
	}
	return &tidemarkv1.ImportProgress{
		Id:      id,
		Replace: i.Mode == offset.ImportReplace,
		Group:   i.Group,
		Hash:    toHash(i.Hash),
		Next:    i.Next,
		Chunks:  i.Chunks,
		Offsets: i.Offsets,
	}
}

// FromStatusResponse reads a status. The base of an import is not carried.
func FromStatusResponse(m *tidemarkv1.StatusResponse) (offset.Status, error) {
	meta, err := FromMeta(m.GetMeta())
	if err != nil {
		return offset.Status{}, err
	}
	s := offset.Status{
		Meta:          meta,
		NodeID:        m.GetNodeId(),
		State:         clip(m.GetState()),
		Term:          m.GetTerm(),
		CommitIndex:   m.GetCommitIndex(),
		LastIndex:     m.GetLastIndex(),
		SnapshotIndex: m.GetSnapshotIndex(),
		DigestIndex:   m.GetDigestIndex(),
		Groups:        m.GetGroups(),
		Queues:        m.GetQueues(),
		NotReady:      clip(m.GetNotReady()),
		Version:       clip(m.GetVersion()),
		Vitals:        fromVitals(m.GetVitals()),
	}
	if !m.GetReady() && s.NotReady == "" {
		s.NotReady = "the node does not say why"
	}
	if err := CheckMemberID("node_id", s.NodeID); err != nil {
		return offset.Status{}, err
	}
	if err := fromStatusParts(m, &s); err != nil {
		return offset.Status{}, err
	}
	return s, nil
}

// fromStatusParts reads the fields that can be malformed.
func fromStatusParts(m *tidemarkv1.StatusResponse, s *offset.Status) (err error) {
	if s.Level, err = FromLevel("level", m.GetLevel()); err != nil {
		return err
	}
	if s.MaxLevel, err = FromLevel("max_level", m.GetMaxLevel()); err != nil {
		return err
	}
	if s.Digest, err = fromDigest(m.GetDigest()); err != nil {
		return err
	}
	if s.Import, err = fromProgress(m.GetImport()); err != nil {
		return err
	}
	if n := len(m.GetMembers()); n > offset.MaxMembers {
		return tooMany("members", n, offset.MaxMembers)
	}
	for _, p := range m.GetMembers() {
		st, err := fromMember(p)
		if err != nil {
			return err
		}
		s.Members = append(s.Members, st)
	}
	return nil
}

func fromMember(m *tidemarkv1.Member) (offset.MemberStatus, error) {
	level, err := FromLevel("max_level of member", m.GetMaxLevel())
	if err != nil {
		return offset.MemberStatus{}, err
	}
	age, err := fromMillis("contact_age_ms", m.GetContactAgeMs())
	if err != nil {
		return offset.MemberStatus{}, err
	}
	if err := CheckMemberID("member id", m.GetId()); err != nil {
		return offset.MemberStatus{}, err
	}
	if err := checkAddress("peer_address", m.GetPeerAddress()); err != nil {
		return offset.MemberStatus{}, err
	}
	if err := checkAddress("api_address", m.GetApiAddress()); err != nil {
		return offset.MemberStatus{}, err
	}
	if m.GetMatchIndex() < -1 {
		return offset.MemberStatus{}, offset.Errorf(offset.ErrInvalid, "match_index is %d", m.GetMatchIndex())
	}
	return offset.MemberStatus{
		Member:     offset.Member{ID: m.GetId(), API: m.GetApiAddress(), MaxLevel: level},
		Peer:       m.GetPeerAddress(),
		Voter:      m.GetVoter(),
		Leader:     m.GetLeader(),
		Match:      m.GetMatchIndex(),
		ContactAge: age,
	}, nil
}

func fromProgress(m *tidemarkv1.ImportProgress) (*offset.ImportStatus, error) {
	if m == nil {
		return nil, nil
	}
	id, err := offset.ParseActID(m.Id)
	if err != nil {
		return nil, err
	}
	hash, err := fromHash(m.Hash)
	if err != nil {
		return nil, err
	}
	if err := offset.ValidateName("group of import", m.Group, true); err != nil {
		return nil, err
	}
	s := &offset.ImportStatus{ID: id, Group: m.Group, Hash: hash, Chunks: m.Chunks, Offsets: m.Offsets, Next: m.Next}
	if m.Replace {
		s.Mode = offset.ImportReplace
	}
	return s, nil
}

func fromDigest(s string) (d offset.Digest, err error) {
	if s == "" {
		return d, nil
	}
	if len(s) != 2*len(d) {
		return d, offset.Errorf(offset.ErrInvalid, "digest has %d characters; 32 hexadecimal digits are needed", len(s))
	}
	if _, err := hex.Decode(d[:], []byte(s)); err != nil {
		return offset.Digest{}, offset.Errorf(offset.ErrInvalid, "digest %q is not hexadecimal", s)
	}
	return d, nil
}

// FromLevel reads a format level, which is at most 255.
func FromLevel(field string, v uint32) (uint8, error) {
	if v > 255 {
		return 0, offset.Errorf(offset.ErrInvalid, "%s is %d; at most 255 is possible", field, v)
	}
	return uint8(v), nil
}

// CheckMemberID bounds an id of a member, or the name that stands for one;
// empty is allowed. The error wraps offset.ErrInvalid and names field.
func CheckMemberID(field, id string) error {
	if len(id) > MaxMemberID {
		return offset.Errorf(offset.ErrInvalid, "%s has %d bytes; at most %d are allowed", field, len(id), MaxMemberID)
	}
	for _, r := range id {
		if r <= ' ' || r == 0x7f || r == '@' || r == '\uFFFD' {
			return offset.Errorf(offset.ErrInvalid, "%s %q holds a character that no member id has", field, id)
		}
	}
	return nil
}

// CheckAddress bounds an address, host:port; empty is allowed. Whether it can
// be reached is not looked at. The error wraps offset.ErrInvalid and names field.
func CheckAddress(field, addr string) error { return checkAddress(field, addr) }
