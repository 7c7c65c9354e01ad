package offsetfile

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

// What kafka-consumer-groups.sh --reset-offsets --export writes: Jackson's CSV
// quotes names of 24 characters and more, and there is no head line.
const (
	kafkaMany = "billing,orders,0,17\nbilling,orders,1,9\n\"a-group-of-more-than-24-characters\",refunds,0,3\n"
	kafkaOne  = "orders,0,17\r\norders,1,9\r\n\"a-topic-of-more-than-24-characters\",0,3\r\n"
)

func TestKafkaBothForms(t *testing.T) {
	f, err := Read(strings.NewReader(kafkaMany), Options{})
	if err != nil || f.Report.Format != Kafka || f.Report.Entries != 2 || f.Report.Bytes != int64(len(kafkaMany)) {
		t.Fatalf("got %+v, %v", f, err)
	}
	wantContent(t, f, map[string]string{"orders@billing": "0:17,1:9", "refunds@a-group-of-more-than-24-characters": "0:3"})

	_, err = Read(strings.NewReader(kafkaOne), Options{})
	wantFault(t, err, 1, 1, "kafka-consumer-groups.sh", "--group")
	f, err = Read(strings.NewReader(kafkaOne), Options{Group: "billing", Broker: "k1"})
	if err != nil || f.Report.Format != KafkaGroup || len(f.Report.Notes) != 1 || !strings.Contains(f.Report.Notes[0], `group "billing"`) {
		t.Fatalf("got %+v, %v", f, err)
	}
	wantContent(t, f, map[string]string{"orders@billing": "0:17,1:9", "a-topic-of-more-than-24-characters@billing": "0:3"})
	if f.Entries[0].Broker != "k1" {
		t.Errorf("the broker is %q", f.Entries[0].Broker)
	}
}

func TestKafkaRefusesAndSkips(t *testing.T) {
	for _, c := range []struct {
		in           string
		line, column int
		words        string
	}{
		{"g,t,0,5\ng,t,0\n", 2, 1, "3 fields; a line has 4: group,topic,partition,offset"},
		{"g,t,0,5\ng,t,0,6\n", 2, 1, "g/t/0 occurs twice"},
		{"g,t,0,5\ng,t,1,x\n", 2, 7, "not a plain integer"},
		{"g,t,2147483648,5\n", 1, 5, "32 bits"},
		{"g,t,b,0,5\n", 1, 1, "the line that names the columns is"},
		{"g,t,0,\n", 1, 1, "not JSON"},
	} {
		_, err := Read(strings.NewReader(c.in), Options{})
		wantFault(t, err, c.line, c.column, c.words)
	}
	f, err := Read(strings.NewReader("g,t,0,-1\ng,t,1,4\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	wantSkips(t, f, []string{`1:1: "g,t," queue 0: the offset is negative, which means that there is none`})
	_, err = Read(strings.NewReader(""), Options{Format: Kafka})
	wantFault(t, err, 1, 1, "0 bytes")
	_, err = Read(strings.NewReader(kafkaMany), Options{Format: "excel"})
	if !errors.Is(err, offset.ErrInvalid) || !strings.Contains(err.Error(), "kafka-group") {
		t.Errorf("an unknown format gives %v", err)
	}
}

// TestDetect: the first bytes tell what a file is, and Options.Format overrules them.
func TestDetect(t *testing.T) {
	for in, want := range map[string]Format{
		kafkaMany:                               Kafka,
		kafkaOne:                                KafkaGroup,
		"\xef\xbb\xbf" + kafkaMany:              Kafka,
		"group,topic,partition,offset\ng,t,0,5": Kafka,
		"topic,partition,offset\nt,0,5":         KafkaGroup,
		csvHead + "\n":                          CSV,
		`{"offsetTable":{}}`:                    JSON,
		`"a,b",0,5`:                             KafkaGroup,
	} {
		f, err := Read(strings.NewReader(in), Options{Group: "g"})
		if err != nil || f.Report.Format != want {
			t.Errorf("%q is read as %+v, %v; want %s", in, f, err, want)
		}
	}
	// "7,0,5" could be a line of one group, or have lost a field: the caller may say.
	if _, err := Read(strings.NewReader("7,0,5\n"), Options{Format: Kafka}); err == nil {
		t.Error("a line of three fields is taken for four")
	}
	f, err := Read(strings.NewReader("g,1,2,3\n"), Options{Format: Kafka})
	if err != nil || f.Entries[0].Topic != "1" {
		t.Errorf("got %+v, %v", f, err)
	}
}

func TestWriteKafka(t *testing.T) {
	in := []offset.Target{target("a,b", "t", "k", 0, 1), target("g", "t", "k", 3, 9223372036854775807)}
	var b bytes.Buffer
	if err := WriteKafka(&b, slices.Values(in)); err != nil || b.String() != "\"a,b\",t,0,1\ng,t,3,9223372036854775807\n" {
		t.Errorf("wrote %q, %v", &b, err)
	}
	f, err := Read(&b, Options{Broker: "k"})
	if err != nil || !slices.Equal(slices.Collect(f.All()), in) {
		t.Errorf("read back %v, %v", f, err)
	}
	err = WriteKafka(&b, slices.Values(append(in, target("h", "t", "other", 0, 1))))
	if !errors.Is(err, offset.ErrInvalid) || !strings.Contains(err.Error(), "names no brokers") {
		t.Errorf("two brokers give %v", err)
	}
	if err := WriteKafka(brokenWriter{}, slices.Values(in)); err == nil {
		t.Error("a write that failed is not told")
	}
}

// FuzzReadKafka feeds any bytes to the readers of Kafka's lines.
func FuzzReadKafka(f *testing.F) {
	f.Add([]byte(kafkaMany), true)
	f.Add([]byte(kafkaOne), false)
	f.Add([]byte("\"\",\"\"\"\",0,-5\r\n\n"), true)
	f.Fuzz(func(t *testing.T, in []byte, many bool) {
		o := Options{Format: KafkaGroup, Group: "g"}
		if many {
			o.Format = Kafka
		}
		file, err := Read(bytes.NewReader(in), o)
		if err != nil {
			checkFault(t, err, in)
			return
		}
		checkFile(t, file, in)
		var b bytes.Buffer
		if err := WriteKafka(&b, file.All()); err != nil {
			t.Fatal(err)
		}
		if again, err := Read(&b, Options{Format: Kafka}); file.Report.Offsets > 0 && (err != nil || again.Hash() != file.Hash()) {
			t.Fatalf("does not survive: %v", err)
		}
	})
}
