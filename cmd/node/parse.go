package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
)

// envPrefix begins the environment variable of every option.
const envPrefix = "TIDEMARK"

// parsed is what came of the command line, the environment and the file.
type parsed struct {
	options
	// helped: --help was answered, there is nothing to run.
	helped bool
	// strangers are TIDEMARK_ variables that no program of ours reads.
	strangers []string
	// flags are kong's, for --print-config; model is for --man.
	flags []*kong.Flag
	model *kong.Node
}

// beginnings are in the help text; what is indented is shown line by line.
const beginnings = `Such as:

    tidemarkd --dev
    tidemarkd --name n1 --data /var/lib/tidemark --advertise n1.example:7411 \
      --initial-cluster n1=n1.example:7412,n2=n2.example:7412,n3=n3.example:7412 \
      --tls-cert n1.crt --tls-key n1.key --peer-tls-ca ca.crt --tokens tokens --policy policy.yaml`

// parse reads flags over environment over file.
func parse(args []string, out, err io.Writer) (*parsed, error) {
	p := &parsed{}
	file := &optionsFile{}
	parser, fault := kong.New(&p.options,
		kong.Name("tidemarkd"),
		kong.Description("A member of a Tidemark cluster. Each option is also an environment variable (--peer-listen: TIDEMARK_PEER_LISTEN) and a key of the --config file; a flag wins over the environment, which wins over the file."),
		kong.Writers(out, err),
		kong.DefaultEnvars(envPrefix),
		kong.Resolvers(file),
		kong.Exit(func(int) { p.helped = true }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if fault != nil {
		panic("tidemarkd: the command line is not well formed: " + fault.Error())
	}
	parser.Model.Detail = beginnings
	p.flags, p.model = parser.Model.Flags, parser.Model.Node
	if path := configPath(args); path != "" {
		if err := file.load(path, p.flags); err != nil {
			return nil, err
		}
	}
	if _, err := parser.Parse(args); err != nil && !p.helped {
		return nil, &usageError{fmt.Errorf("%w (see tidemarkd --help)", err)}
	}
	p.strangers = strangers(os.Environ(), p.flags)
	return p, nil
}

// configPath finds the file before kong does, which needs it to find the rest.
func configPath(args []string) string {
	path := os.Getenv(envPrefix + "_CONFIG")
	for i, a := range args {
		if value, ok := strings.CutPrefix(a, "--config="); ok {
			path = value
		} else if a == "--config" && i+1 < len(args) {
			path = args[i+1]
		}
	}
	return path
}

// otherVariables are read by other programs of ours.
var otherVariables = []string{
	"TIDEMARK_ENDPOINTS", "TIDEMARK_TIMEOUT", "TIDEMARK_CONTEXT",
	"TIDEMARK_CA", "TIDEMARK_CERT", "TIDEMARK_KEY", "TIDEMARK_TLS", "TIDEMARK_TOKEN", "TIDEMARK_TOKEN_FILE", "TIDEMARK_INSECURE_TOKEN",
}

// strangers gives the names of variables that look like ours and are not: a
// misspelt one would go unnoticed.
func strangers(environ []string, flags []*kong.Flag) (names []string) {
	known := slices.Clone(otherVariables)
	for _, flag := range flags {
		known = append(known, flag.Envs...)
	}
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, envPrefix+"_") && !slices.Contains(known, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// quoted makes a text fit for a message.
func quoted(s string) string {
	if q := strconv.Quote(s); q != `"`+s+`"` || strings.ContainsRune(s, ' ') || s == "" {
		return q
	}
	return s
}
