package auth

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/tidemark-mq/tidemark/internal/livefile"
	"github.com/tidemark-mq/tidemark/offset"
)

// maxRules bounds a policy file.
const maxRules = 10_000

// policyFile is the form of a policy file.
type policyFile struct {
	Rules []fileRule `yaml:"rules"`
}

type fileRule struct {
	Callers []string `yaml:"callers"`
	May     []string `yaml:"may"`
	// Nodes, since a list that is left out differs from one that is empty.
	Groups  yaml.Node `yaml:"groups"`
	Topics  yaml.Node `yaml:"topics"`
	Brokers yaml.Node `yaml:"brokers"`
}

// ParseRules reads a policy file. What it does not know is an error that names the
// line, and a rule that permits nothing is an error too.
func ParseRules(text []byte) (*Rules, error) {
	var f policyFile
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&f); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("is not a policy: %w", err)
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("a second document begins; all rules belong into one")
	}
	if len(f.Rules) == 0 {
		return nil, errors.New("holds no rule, so that nobody could do anything")
	}
	if len(f.Rules) > maxRules {
		return nil, fmt.Errorf("%d rules; at most %d are allowed", len(f.Rules), maxRules)
	}
	var list []*rule
	for i, fr := range f.Rules {
		ru, err := fr.rule()
		if err != nil {
			return nil, fmt.Errorf("rule %d: %w", i+1, err)
		}
		list = append(list, ru)
	}
	return newRules(list), nil
}

func (fr *fileRule) rule() (*rule, error) {
	ru := &rule{callers: fr.Callers}
	if len(fr.Callers) == 0 {
		return nil, errors.New("callers is missing: list the names of tokens or certificates, \"*\" for all of them, or anonymous for callers without")
	}
	for _, name := range fr.Callers {
		if err := offset.ValidateName("a caller", name, false); err != nil {
			return nil, err
		}
		if strings.HasSuffix(name, "*") && name != everyone {
			return nil, fmt.Errorf("caller %q: callers are named one by one, or all by \"*\"", name)
		}
	}
	var err error
	if ru.groups, err = sets("groups", &fr.Groups); err != nil {
		return nil, err
	}
	if ru.topics, err = sets("topics", &fr.Topics); err != nil {
		return nil, err
	}
	if ru.brokers, err = sets("brokers", &fr.Brokers); err != nil {
		return nil, err
	}
	return ru, ru.permit(fr.May)
}

// permit takes the rights of a rule: each holds those before it.
func (ru *rule) permit(rights []string) error {
	if len(rights) == 0 {
		return errors.New("may is missing: read, commit, admin, or several of them")
	}
	for _, right := range rights {
		switch right {
		case "admin":
			ru.actions[Operate], ru.actions[Administer] = true, true
			fallthrough
		case "commit":
			ru.actions[Commit] = true
			fallthrough
		case "read":
			ru.actions[Read] = true
		default:
			return fmt.Errorf("may: %q is not a right; there are read, commit and admin", right)
		}
	}
	return nil
}

// sets reads names, of which those with a star at the end are prefixes; a list
// that is left out is all names. One that is there and holds none, as templates
// leave it, is an error.
func sets(field string, node *yaml.Node) ([]Names, error) {
	if node.IsZero() {
		return []Names{All}, nil
	}
	var list []string
	if err := node.Decode(&list); err != nil {
		return nil, fmt.Errorf("%s: %w", field, err)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s is empty; leave it out for all, or name some", field)
	}
	var out []Names
	for _, s := range list {
		prefix, ok := strings.CutSuffix(s, "*")
		if strings.Contains(prefix, "*") {
			return nil, fmt.Errorf("%s: %q: a star stands at the end alone", field, s)
		}
		if err := offset.ValidateName(field, prefix, ok || field == "brokers"); err != nil {
			return nil, err
		}
		out = append(out, Names{Name: prefix, Prefix: ok})
	}
	return out, nil
}

// RulesFile is a Policy that follows its file.
type RulesFile struct{ *livefile.Value[*Rules] }

// OpenRules reads the policy file at path.
func OpenRules(path string) (RulesFile, error) {
	v, err := livefile.Open(func(c [][]byte) (*Rules, error) { return ParseRules(c[0]) }, path)
	return RulesFile{v}, err
}

// Allow decides by the rules as they are now.
func (f RulesFile) Allow(p Principal, a Action, s Scope) error { return f.Get().Allow(p, a, s) }

var _ Policy = RulesFile{}
