package peer

import (
	"github.com/tidemark-mq/tidemark/offset"
	peerv1 "github.com/tidemark-mq/tidemark/transport/api/peer/v1"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

func toHello(h Hello) *peerv1.HelloResponse {
	m := &peerv1.HelloResponse{
		Id: h.ID, Empty: h.Empty, Listed: h.Listed,
		MaxLevel: uint32(h.MaxLevel), Level: uint32(h.Level),
		PeerAddress: h.Peer, ApiAddress: h.API, Founders: h.Founders,
	}
	if !h.Cluster.IsZero() {
		m.ClusterId = h.Cluster.String()
	}
	return m
}

func fromHello(m *peerv1.HelloResponse) (Hello, error) {
	h := Hello{ID: m.GetId(), Empty: m.GetEmpty(), Listed: m.GetListed(), Peer: m.GetPeerAddress(), API: m.GetApiAddress(), Founders: m.GetFounders()}
	if len(h.Founders) > MaxFounders {
		return Hello{}, offset.Errorf(offset.ErrInvalid, "founders of %d bytes; at most %d are allowed", len(h.Founders), MaxFounders)
	}
	var err error
	if h.Cluster, err = offset.ParseClusterID(m.GetClusterId()); err != nil {
		return Hello{}, err
	}
	if h.MaxLevel, err = wire.FromLevel("max_level", m.GetMaxLevel()); err != nil {
		return Hello{}, err
	}
	if h.Level, err = wire.FromLevel("level", m.GetLevel()); err != nil {
		return Hello{}, err
	}
	if err := checkFounder(Founder{ID: h.ID, Peer: h.Peer}); err != nil {
		return Hello{}, err
	}
	if err := wire.CheckAddress("api_address", h.API); err != nil {
		return Hello{}, err
	}
	return h, nil
}

func checkFounder(f Founder) error {
	if f.ID == "" {
		return offset.Errorf(offset.ErrInvalid, "a founder without an id")
	}
	if err := wire.CheckMemberID("id", f.ID); err != nil {
		return err
	}
	return wire.CheckAddress("peer_address", f.Peer)
}

func toFounding(f Founding) *peerv1.FoundRequest {
	m := &peerv1.FoundRequest{ClusterId: f.Cluster.String()}
	for _, v := range f.Founders {
		m.Founders = append(m.Founders, &peerv1.Founder{Id: v.ID, PeerAddress: v.Peer})
	}
	return m
}

func fromFounding(m *peerv1.FoundRequest) (Founding, error) {
	id, err := offset.ParseClusterID(m.GetClusterId())
	if err != nil {
		return Founding{}, err
	}
	n := len(m.GetFounders())
	if id.IsZero() || n == 0 || n > offset.MaxMembers {
		return Founding{}, offset.Errorf(offset.ErrInvalid, "a founding needs a cluster id and 1 to %d founders, not %d", offset.MaxMembers, n)
	}
	f := Founding{Cluster: id, Founders: make([]Founder, n)}
	for i, v := range m.GetFounders() {
		f.Founders[i] = Founder{ID: v.GetId(), Peer: v.GetPeerAddress()}
		if err := checkFounder(f.Founders[i]); err != nil {
			return Founding{}, err
		}
	}
	return f, nil
}

func toDigest(c Checkpoint) *peerv1.DigestResponse {
	m := &peerv1.DigestResponse{Known: c.Known, Quarantined: c.Quarantined}
	if c.Known {
		m.Digest = c.Digest[:]
	}
	return m
}

func fromDigest(m *peerv1.DigestResponse) (Checkpoint, error) {
	c := Checkpoint{Known: m.GetKnown(), Quarantined: m.GetQuarantined()}
	if !c.Known {
		return c, nil
	}
	if len(m.GetDigest()) != len(c.Digest) {
		return Checkpoint{}, offset.Errorf(offset.ErrInvalid, "a digest of %d bytes", len(m.GetDigest()))
	}
	c.Digest = offset.Digest(m.GetDigest())
	return c, nil
}
