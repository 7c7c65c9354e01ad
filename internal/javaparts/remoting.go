package javaparts

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"time"
)

// Codes of RocketMQ's remoting protocol that a test needs beside its client.
const (
	codeCreateTopic = 17
	codeBrokerInfo  = 28
	codeClusterInfo = 106
	codeCreateGroup = 200
)

// mostFrame is the largest answer that is read.
const mostFrame = 16 << 20

// remoting makes one call of RocketMQ's protocol on a connection of its own,
// and gives the body of an answer whose code is 0.
func remoting(ctx context.Context, addr string, code int, ext map[string]string, body []byte) ([]byte, error) {
	c, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(5 * time.Second))
	header, err := json.Marshal(map[string]any{
		"code": code, "language": "JAVA", "version": 401, "opaque": 7, "flag": 0,
		"extFields": ext, "serializeTypeCurrentRPC": "JSON",
	})
	if err != nil {
		return nil, err
	}
	frame := binary.BigEndian.AppendUint32(nil, uint32(4+len(header)+len(body)))
	frame = binary.BigEndian.AppendUint32(frame, uint32(len(header))) // the first byte is the form: 0, JSON
	if _, err := c.Write(append(append(frame, header...), body...)); err != nil {
		return nil, err
	}
	return readAnswer(c, code)
}

func readAnswer(c net.Conn, code int) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(c, size[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n < 4 || n > mostFrame {
		return nil, fmt.Errorf("an answer of %d bytes to code %d", n, code)
	}
	frame := make([]byte, n)
	if _, err := io.ReadFull(c, frame); err != nil {
		return nil, err
	}
	h := binary.BigEndian.Uint32(frame) & 0xff_ffff
	if h > n-4 {
		return nil, fmt.Errorf("a header of %d bytes in an answer of %d", h, n)
	}
	var header struct {
		Code   int
		Remark string
	}
	if err := json.Unmarshal(frame[4:4+h], &header); err != nil {
		return nil, fmt.Errorf("the answer to code %d: %w", code, err)
	}
	if header.Code != 0 {
		return nil, fmt.Errorf("code %d was answered by %d: %s", code, header.Code, header.Remark)
	}
	return frame[4+h:], nil
}
