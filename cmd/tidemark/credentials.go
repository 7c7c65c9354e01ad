package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/tidemark-mq/tidemark/auth/certs"
	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/cmd/tidemark/internal/contexts"
)

// tokenVariable holds a token itself. There is no such flag: everybody on a
// machine can see the flags of a process.
const tokenVariable = "TIDEMARK_TOKEN"

// credentials are the flags for TLS and who one is.
type credentials struct {
	TLS           bool   `name:"tls" help:"Use TLS, with nodes whose certificates are of the system's CAs." env:"TIDEMARK_TLS" group:"every"`
	CA            string `name:"ca" help:"Use TLS, with nodes whose certificates are of these CAs (PEM)." env:"TIDEMARK_CA" type:"path" placeholder:"FILE" group:"every"`
	Cert          string `help:"Certificate that says who you are (PEM)." env:"TIDEMARK_CERT" type:"path" placeholder:"FILE" group:"every"`
	Key           string `help:"Its key." env:"TIDEMARK_KEY" type:"path" placeholder:"FILE" group:"every"`
	TokenFile     string `help:"File of the token that says who you are; or the variable TIDEMARK_TOKEN holds one." env:"TIDEMARK_TOKEN_FILE" type:"path" placeholder:"FILE" group:"every"`
	InsecureToken bool   `help:"Send the token without TLS, too; anyone on the path can read it." env:"TIDEMARK_INSECURE_TOKEN" group:"every"`
}

// over gives them as a context keeps them, with what is saved where c says nothing.
func (c *credentials) over(saved contexts.Credentials) contexts.Credentials {
	out := saved
	out.TLS = out.TLS || c.TLS
	if c.CA != "" {
		out.CA = c.CA
	}
	if c.Cert != "" || c.Key != "" {
		out.Cert, out.Key = c.Cert, c.Key
	}
	if c.TokenFile != "" || tokenGiven() != "" {
		out.TokenFile = c.TokenFile // a token that is given itself is not that of what is saved
	}
	out.InsecureToken = out.InsecureToken || c.InsecureToken
	return out
}

// tokenGiven is the token in the environment. Those who put secrets there often
// leave the end of its line behind it.
func tokenGiven() string { return strings.TrimSpace(os.Getenv(tokenVariable)) }

// options opens the files, so that what is wrong with them is said at once, and
// not taken for a cluster that cannot be reached.
func options(c contexts.Credentials) (list []client.Option, err error) {
	if (c.Cert == "") != (c.Key == "") {
		return nil, exitf(exitUsage, "--cert and --key go together; one of them is missing")
	}
	if c.CA != "" {
		if _, err := certs.OpenCAs(c.CA); err != nil {
			return nil, exitf(exitBadInput, "--ca: %v", err)
		}
	}
	if c.Cert != "" {
		if _, err := certs.OpenPair(c.Cert, c.Key); err != nil {
			return nil, exitf(exitBadInput, "--cert: %v", err)
		}
		if !c.TLS && c.CA == "" {
			return nil, exitf(exitUsage, "a certificate is shown over TLS alone; add --ca FILE, or --tls for the system's CAs")
		}
	}
	if c.TLS || c.CA != "" {
		list = append(list, client.WithTLSFiles(client.TLSFiles{CA: c.CA, Cert: c.Cert, Key: c.Key}))
	}
	switch token := tokenGiven(); {
	case c.TokenFile != "":
		if _, err := os.Stat(c.TokenFile); err != nil {
			return nil, exitf(exitBadInput, "--token-file: %v", err)
		}
		list = append(list, client.WithTokenFile(c.TokenFile))
	case token != "":
		list = append(list, client.WithToken(token))
	}
	if c.InsecureToken {
		list = append(list, client.WithInsecureToken())
	}
	return list, nil
}

// secured makes the dialer one that shows these credentials.
func (s *session) secured(c contexts.Credentials) error {
	list, err := options(c)
	if err != nil || len(list) == 0 {
		return err
	}
	s.connect = func(endpoints []string) (cluster, error) {
		cl, err := client.New(endpoints, list...)
		if err != nil {
			return nil, fmt.Errorf("%w (or --ca, and --insecure-token)", err)
		}
		return cl, nil
	}
	return nil
}

// asked gives the endpoints of a context, and shows its credentials from then on.
func (s *session) asked(name string) ([]string, error) {
	c, err := s.contextOf(name)
	if err != nil {
		return nil, err
	}
	return c.Endpoints, s.secured(s.own.over(c.Credentials))
}
