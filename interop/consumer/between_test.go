package consumer

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"sync"
	"testing"
)

// between stands between clients and a server of RocketMQ's protocol, and
// hands on their frames, each without its length, or others in their place.
type between struct {
	listener net.Listener
	to       string
	// request gives what goes to the server, or what is answered in its place.
	request func(frame []byte) (on, answer []byte)
	// answer gives what goes to the client.
	answer func(frame []byte) []byte
	all    sync.WaitGroup

	mu   sync.Mutex
	over bool
	open []net.Conn
}

// standBetween listens on a port of its own for the length of the test. What
// is not changed may be nil.
func standBetween(t *testing.T, to string, request func([]byte) (on, answer []byte), answer func([]byte) []byte) *between {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &between{listener: l, to: to, request: request, answer: answer}
	b.all.Go(b.accept)
	t.Cleanup(b.close)
	return b
}

// addr is where clients find it.
func (b *between) addr() string { return b.listener.Addr().String() }

func (b *between) close() {
	_ = b.listener.Close()
	b.mu.Lock()
	b.over = true
	for _, c := range b.open {
		_ = c.Close()
	}
	b.mu.Unlock()
	b.all.Wait()
}

func (b *between) accept() {
	for {
		near, err := b.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", b.to)
		if err != nil {
			_ = near.Close()
			continue
		}
		b.join(near, far)
	}
}

func (b *between) join(near, far net.Conn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		_, _ = near.Close(), far.Close()
		return
	}
	b.open = append(b.open, near, far)
	client := &frames{Conn: near}
	b.all.Go(func() {
		defer func() { _, _ = near.Close(), far.Close() }()
		client.each(near, func(frame []byte) error {
			on, answer := frame, []byte(nil)
			if b.request != nil {
				on, answer = b.request(frame)
			}
			if answer != nil {
				return client.write(answer)
			}
			return (&frames{Conn: far}).write(on)
		})
	})
	b.all.Go(func() {
		defer func() { _, _ = near.Close(), far.Close() }()
		client.each(far, func(frame []byte) error {
			if b.answer != nil {
				frame = b.answer(frame)
			}
			return client.write(frame)
		})
	})
}

// frames writes whole frames, one at a time.
type frames struct {
	net.Conn
	mu sync.Mutex
}

func (f *frames) write(frame []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, err := f.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...))
	return err
}

// each gives what comes of a connection to a function, frame by frame, until
// one of both ends.
func (*frames) each(from net.Conn, take func(frame []byte) error) {
	in := bufio.NewReader(from)
	for {
		var size [4]byte
		if _, err := io.ReadFull(in, size[:]); err != nil {
			return
		}
		frame := make([]byte, binary.BigEndian.Uint32(size[:]))
		if _, err := io.ReadFull(in, frame); err != nil || take(frame) != nil {
			return
		}
	}
}

// header is what a frame's header in JSON says.
type header struct {
	Code      int               `json:"code"`
	Flag      int               `json:"flag"`
	Opaque    int               `json:"opaque"`
	Language  string            `json:"language"`
	Remark    string            `json:"remark"`
	Serialize string            `json:"serializeTypeCurrentRPC"`
	Ext       map[string]string `json:"extFields"`
}

// headerOf reads a frame's header.
func headerOf(frame []byte) (h header, err error) {
	size := binary.BigEndian.Uint32(frame) & 0xff_ffff
	return h, json.Unmarshal(frame[4:4+size], &h)
}

// refusal is the frame that answers a request with an error.
func refusal(request header, code int, remark string) []byte {
	text, err := json.Marshal(header{Code: code, Flag: 1, Opaque: request.Opaque, Language: "JAVA", Remark: remark, Serialize: "JSON"})
	if err != nil {
		panic(err) // there is nothing in it that could not be written
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)
}
