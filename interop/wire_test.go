package interop

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/internal/javaparts"
	"github.com/tidemark-mq/tidemark/internal/javaparts/remoting"
)

// Codes of requests, and of answers.
const (
	codePull           = 11
	codeQuery          = 14
	codeUpdate         = 15
	codeCreateGroup    = 200
	codeDeleteGroup    = 207
	codeReset          = 222
	codeCorrection     = 308
	answerOK           = 0
	answerError        = 1
	answerQueryNothing = 22
)

// wire is a connection to a broker whose faults fail the test.
type wire struct {
	testing.TB
	*remoting.Conn
}

// dial connects to a broker, for the length of the test.
func dial(tb testing.TB, b *javaparts.Broker, form remoting.Form) wire {
	tb.Helper()
	c, err := remoting.Dial(tb.Context(), b.Addr)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Close)
	c.Form = form
	return wire{tb, c}
}

// ask makes one call.
func (w wire) ask(code int, ext map[string]string, body []byte) *remoting.Frame {
	w.Helper()
	f, err := w.Call(code, ext, body)
	if err != nil {
		w.Fatal(err)
	}
	return f
}

// must fails the test on an error.
func (w wire) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// queueFields name a queue of a group.
func queueFields(group, topic string, queue int) map[string]string {
	return map[string]string{"consumerGroup": group, "topic": topic, "queueId": strconv.Itoa(queue)}
}

// commitFields are those of a 15.
func commitFields(group, topic string, queue int, offset int64) map[string]string {
	ext := queueFields(group, topic, queue)
	ext["commitOffset"] = strconv.FormatInt(offset, 10)
	return ext
}

// query is a 14: the stored offset, or -1 if the broker says that there is none.
func (w wire) query(group, topic string, queue int) int64 {
	w.Helper()
	f := w.ask(codeQuery, queueFields(group, topic, queue), nil)
	return w.offsetIn(f)
}

func (w wire) offsetIn(f *remoting.Frame) int64 {
	w.Helper()
	if f.Code == answerQueryNothing {
		return -1
	}
	n, err := strconv.ParseInt(f.Ext["offset"], 10, 64)
	if f.Code != answerOK || err != nil {
		w.Fatalf("a query was answered by %+v", f)
	}
	return n
}

// commit is a two-way 15, and the code it is answered with.
func (w wire) commit(group, topic string, queue int, offset int64) int {
	w.Helper()
	return w.ask(codeUpdate, commitFields(group, topic, queue, offset), nil).Code
}

// createGroups makes groups, pipelined.
func (w wire) createGroups(names ...string) {
	w.Helper()
	for _, g := range names {
		body, err := json.Marshal(map[string]any{"groupName": g})
		w.must(err)
		_, err = w.Queue(codeCreateGroup, nil, body)
		w.must(err)
	}
	w.must(w.Flush())
	for range names {
		f, err := w.Receive()
		w.must(err)
		if f.Code != answerOK {
			w.Fatalf("making a group was answered by %+v", f)
		}
	}
}

// pullFields ask for up to 32 messages of a queue, without waiting for new ones.
func pullFields(group, topic string, queue int, from int64) map[string]string {
	ext := queueFields(group, topic, queue)
	for k, v := range map[string]string{
		"queueOffset": strconv.FormatInt(from, 10), "maxMsgNums": "32", "sysFlag": "4", "commitOffset": "0",
		"suspendTimeoutMillis": "0", "subscription": "*", "subVersion": fmt.Sprint(time.Now().UnixMilli()), "expressionType": "TAG",
	} {
		ext[k] = v
	}
	return ext
}
