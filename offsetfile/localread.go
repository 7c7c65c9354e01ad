package offsetfile

import (
	"fmt"
	"regexp"
)

// localHead is how the file of a broadcasting consumer begins: the first key of
// its table is an object, or a string that holds one. Keys of a broker's file
// are names.
var localHead = regexp.MustCompile(`^\x{feff}?\s*\{\s*"offsetTable"\s*:\s*\{\s*(\{|"\s*\{\s*\\"(topic|brokerName|queueId)\\")`)

// looksLocal tells whether such a file comes next; it consumes nothing.
func looksLocal(s *scanner) (bool, error) {
	const enough = 4 << 10
	head, err := s.ahead(enough)
	return localHead.Match(head), err
}

// readLocalAs reads the file of a broadcasting consumer as that of a group.
func readLocalAs(s *scanner, count *countingReader, o Options) (*File, error) {
	if o.Group == "" {
		return nil, fault(s.at(), "this is the file of a broadcasting consumer, which does not say its group; name the group (--group)")
	}
	l, err := readLocal(s, count)
	if err != nil {
		return nil, err
	}
	l.Notes = append(l.Notes, fmt.Sprintf("this is the file of a broadcasting consumer; its offsets are taken as those of group %q", o.Group))
	f := l.file(o)
	f.Report.Bytes = count.n
	return f, nil
}
