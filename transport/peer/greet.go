package peer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// meetLife bounds the life of a connection between strangers.
const meetLife = 30 * time.Second

// greet dials and makes the handshake; the answer says who is there. The error
// wraps offset.ErrUnreachable, or is the refusal of either side.
func (p *Peer) greet(ctx context.Context, k kind, id, addr string) (*conn, answer, error) {
	ctx, cancel := context.WithTimeout(ctx, p.config.HandshakeTimeout)
	defer cancel()
	raw, err := p.config.Dial(ctx, addr)
	if err != nil {
		return nil, answer{}, unreachable(ctx, id, addr, err)
	}
	c := &conn{Conn: p.secured(raw, addr)}
	if err := p.books.enter(c); err != nil {
		raw.Close()
		return nil, answer{}, err
	}
	stop := context.AfterFunc(ctx, func() { raw.SetDeadline(time.Unix(1, 0)) })
	a, err := p.exchange(c, k, id)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		c.Close()
		return nil, answer{}, silentOr(ctx, unreachable(ctx, id, addr, err))
	}
	if err := p.judgeAnswer(k, id, addr, a); err != nil {
		c.Close()
		return nil, answer{}, err
	}
	return c, a, nil
}

// unreachable wraps what went wrong before anything was asked. ctx tells a
// passed deadline, which the connection would call an i/o timeout.
func unreachable(ctx context.Context, id, addr string, err error) error {
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if id != "" {
		addr = id + " at " + addr
	}
	return fmt.Errorf("%w: %s: %w", offset.ErrUnreachable, addr, err)
}

// silentOr adds to the end of a handshake what a connection that was taken and
// not answered may mean.
func silentOr(ctx context.Context, err error) error {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%w: it takes connections and says nothing; is this the raft port of a member (--peer-listen), and not its API?", err)
}

// exchange sends the greeting and reads the answer.
func (p *Peer) exchange(c *conn, k kind, id string) (answer, error) {
	if err := agree(c.Conn); err != nil {
		return answer{}, err
	}
	g := greeting{kind: k, maxLevel: p.config.MaxLevel, level: p.config.Level(), cluster: p.config.Cluster(), run: p.config.Run, id: p.config.ID, target: id}
	if _, err := c.Write(g.append(nil)); err != nil {
		return answer{}, err
	}
	a, err := readAnswer(c.Conn)
	if errors.Is(err, errVersion) {
		return answer{}, offset.Errorf(offset.ErrLevel, "%v; bring both nodes to versions that are at most one apart", err)
	}
	return a, err
}

// judgeAnswer decides whether the connection is what was asked for.
func (p *Peer) judgeAnswer(k kind, id, addr string, a answer) error {
	switch {
	case a.code != offset.CodeOK:
		return a.refusal(addr)
	case a.level > p.config.MaxLevel:
		return offset.Errorf(offset.ErrLevel, "the cluster at %s uses format level %d, this build reads up to %d: start a newer version of tidemarkd", addr, a.level, p.config.MaxLevel)
	case k == kindMeet:
		return nil
	case a.id != id:
		return offset.Errorf(offset.ErrNotFound, "%s answers as %q, not as %s", addr, a.id, id)
	case a.cluster != p.config.Cluster():
		return offset.Errorf(offset.ErrForeignCluster, "%s belongs to cluster %s", addr, a.cluster)
	}
	return nil
}

// receive makes the handshake of an incoming connection and hands it on. It
// runs in a goroutine of Run.
func (p *Peer) receive(raw net.Conn) {
	c := &conn{Conn: p.accepted(raw)}
	oldest, err := p.books.receive(c, p.config.MaxStrangers)
	if err != nil {
		raw.Close()
		return
	}
	if oldest != nil {
		p.pushOut(oldest)
	}
	raw.SetDeadline(time.Now().Add(p.config.HandshakeTimeout))
	if err := p.admit(c); err != nil {
		p.refused(c, err) // before the other side hears of it
		c.Close()
		return
	}
	raw.SetDeadline(time.Time{})
	p.handOver(c)
}

// pushOut closes a stranger's connection to have room for a newer one.
func (p *Peer) pushOut(c *conn) {
	c.Close()
	if quiet, ok := p.full.take(time.Now()); ok {
		p.config.Logger.Warn("closed the oldest connection of a stranger to the raft port, for a newer one",
			"from", c.RemoteAddr(), "most", p.config.MaxStrangers, "not_logged_before", quiet)
	}
}

// refused logs why a connection was not let in; what strangers are told of
// takes no line from members.
func (p *Peer) refused(c *conn, reason error) {
	lines := &p.strangers
	if c.greeting.id != "" {
		lines = &p.members
	}
	if quiet, ok := lines.take(time.Now()); ok {
		p.config.Logger.Warn("refused a connection to the raft port",
			"member", c.greeting.id, "from", c.RemoteAddr(), "reason", quoted(reason), "not_logged_before", quiet)
	}
}

// quoted keeps what the other side said from forging a line.
func quoted(err error) string {
	s := strconv.Quote(err.Error())
	return s[1 : len(s)-1]
}

// admit reads the greeting and answers it; an error ends the connection.
func (p *Peer) admit(c *conn) error {
	if err := agree(c.Conn); err != nil {
		p.config.Stranger(c.RemoteAddr().String(), err)
		return err // before a byte of ours is read
	}
	g, err := readGreeting(c.Conn)
	switch {
	case errors.Is(err, errVersion):
		c.Write(p.answer(offset.CodeLevel, err.Error()).append(nil))
		return err
	case err != nil:
		return err // nobody of ours: nothing that it could read
	}
	p.books.introduce(c, g)
	if err := p.welcome(c); err != nil {
		c.Write(p.answer(offset.CodeOf(err), err.Error()).append(nil))
		return err
	}
	_, err = c.Write(p.answer(offset.CodeOK, "").append(nil))
	return err
}

func (p *Peer) handOver(c *conn) {
	switch c.greeting.kind {
	case kindRaft:
		p.raft.put(c, p.config.HandshakeTimeout)
	case kindMeet:
		c.life.Store(time.AfterFunc(meetLife, func() { c.Close() }))
		fallthrough
	case kindCall:
		p.calls.put(c, p.config.HandshakeTimeout)
	}
}

func (p *Peer) answer(code offset.Code, reason string) answer {
	return answer{
		code: code, reason: reason, maxLevel: p.config.MaxLevel, level: p.config.Level(),
		cluster: p.config.Cluster(), run: p.config.Run, id: p.config.ID,
	}
}

// welcome decides whether an incoming connection is let in.
func (p *Peer) welcome(c *conn) error {
	g := &c.greeting
	if g.kind == kindMeet {
		return nil
	}
	if p.config.Cluster().IsZero() {
		if err := p.adopt(g); err != nil {
			return err
		}
	}
	switch own := p.config.Cluster(); {
	case g.cluster != own:
		return offset.Errorf(offset.ErrForeignCluster, "%s belongs to cluster %s, the caller to %s: one of the two is configured with a wrong address", p.config.ID, own, g.cluster)
	case g.target != p.config.ID:
		return offset.Errorf(offset.ErrNotFound, "this is %s, not %q", p.config.ID, g.target)
	case g.run == p.config.Run:
		return offset.Errorf(offset.ErrDenied, "%s calls itself", p.config.ID)
	case g.id == p.config.ID:
		return offset.Errorf(offset.ErrDenied, "this process has the identity %s too: two run with copies of one data folder; stop one and give it a folder of its own", p.config.ID)
	case g.maxLevel < p.config.Level():
		return offset.Errorf(offset.ErrLevel, "the cluster uses format level %d, %q reads up to %d: start a newer version of tidemarkd there", p.config.Level(), g.id, g.maxLevel)
	}
	return p.books.admit(c, p.config.Linger, p.config.MaxConns)
}

// adopt is for a node that belongs to no cluster and is called by raft of one
// by its full id, which that cluster can only have from its configuration.
func (p *Peer) adopt(g *greeting) error {
	if g.kind != kindRaft || g.target != p.config.ID || g.cluster.IsZero() || p.config.Adopt == nil {
		return offset.Errorf(offset.ErrNotReady, "%s belongs to no cluster yet", p.config.ID)
	}
	return p.config.Adopt(g.cluster, g.id, g.level)
}
