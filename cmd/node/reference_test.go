package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/tidemark-mq/tidemark/node"
)

// metricsPage is docs/metrics.md, from the tables of metrics.
func metricsPage(member []node.Metric) string {
	var b strings.Builder
	b.WriteString(`# Metrics

Each node serves ` + "`/metrics`" + ` for Prometheus. This page is made from the tables in the code (` + "`go test ./cmd/node -update`" + `).

Labels are bounded: ` + "`method`" + ` is the name of a call, ` + "`code`" + ` a name of [errors.md](errors.md). No name of a group, topic or client is ever a label.

| metric | kind | labels | meaning |
|---|---|---|---|
`)
	line := func(name string, k kind, labels []string, help string) {
		fmt.Fprintf(&b, "| `%s%s` | %s | %s | %s |\n", namespace, name, k, strings.Join(labels, ", "), help)
	}
	line("build_info", gauge, []string{"version", "format_level"}, buildInfoHelp)
	for _, f := range figures {
		line(f.name, f.kind, f.labels, f.help)
	}
	for _, f := range member {
		k := gauge
		if f.Counter {
			k = counter
		}
		line(f.Name, k, nil, f.Help)
	}
	b.WriteString(`
Besides these there are the library's own: ` + "`raft_…`" + ` (among them ` + "`raft_commitTime`, `raft_leader_lastContact`, `raft_fsm_applyBatch`, `raft_boltdb_storeLogs`, `raft_state_leader`" + `; times in milliseconds; none of the parts of a message or an append, ` + "`raft_net_…`, `raft_rpc_appendEntries_…`, `raft_boltdb_log…`" + `), and those of the Go runtime and the process (` + "`go_…`, `process_…`" + `).
`)
	return b.String()
}

// logStorePage tells which bound has no option, and which log store to choose.
const logStorePage = `
## Brokers of a group

A group may have offsets on 4,096 brokers; no option changes that. A commit that would add one more is refused with ` + "`limit`" + `; removing what is on brokers that are gone (` + "`tidemark group remove GROUP --broker NAME`" + `) makes room again. Existing offsets keep working, also where there are more.

## Which log store

` + "`--log-store`" + ` says how raft's log is kept: ` + "`boltdb`" + ` (raft-boltdb, one file) or ` + "`wal`" + ` (raft-wal, segments of 64 MiB). Term and vote are kept by boltdb with both, behind the same guard. Members of one cluster may differ. A data folder keeps the one that it was made with, and a start with the other ends with code 3: to change it, remove the member, empty its folder, start it with the other and add it, one member at a time.

**Take boltdb**, the default, unless the disk limits what the cluster takes. For ` + "`wal`" + `: an append is one write and one sync where boltdb has two and copies pages of its tree, which is more commits a second and lower latency on the same disk; every start compares the sum of each batch, where boltdb compares those of the entries beyond the snapshot (both compare an entry's sum whenever it is read from the disk); room comes back when the log is cut. Against it: its authors call it experimental; it is younger, and faults that we found in it (node/store/DESIGN.md) are worked around, not fixed in it; a segment needs 64 MiB of room from its beginning, so that the disk counts as full that much earlier; a start reads the whole log.
`

// configurationPage is docs/configuration.md, from the options.
func configurationPage(flags []*kong.Flag) string {
	var b strings.Builder
	b.WriteString(`# Configuration of tidemarkd

Every option is a flag, an environment variable and a key of the YAML file that ` + "`--config`" + ` names. A flag wins over the environment, which wins over the file. An unknown key of the file ends the start with its line; an unknown ` + "`TIDEMARK_…`" + ` variable is warned about. ` + "`tidemarkd --print-config`" + ` with the same flags shows what is in effect, as YAML that ` + "`--config`" + ` takes. Whatever is wrong ends the start before anything is written, with the option to set in the message. This page is made from the code (` + "`go test ./cmd/node -update`" + `).

` + "```yaml" + `
name: n1
data: /var/lib/tidemark
advertise: n1.example:7411
initial-cluster:
  n1: n1.example:7412
  n2: n2.example:7412
  n3: n3.example:7412
` + "```" + `

| flag | variable | default | meaning |
|---|---|---|---|
`)
	for _, f := range flags {
		if f.Name == "help" {
			continue
		}
		def := f.Default
		if def != "" {
			def = "`" + def + "`"
		}
		fmt.Fprintf(&b, "| `--%s` | `%s` | %s | %s |\n", f.Name, strings.Join(f.Envs, ", "), def, strings.ReplaceAll(f.Help, "|", "\\|"))
	}
	b.WriteString(logStorePage + `
## Exit codes

| code | meaning |
|---|---|
| 0 | stopped by a signal, cleanly |
| 1 | anything without a code of its own; also a stop that was cut short |
`)
	for _, c := range exitCodes {
		fmt.Fprintf(&b, "| %d | %s |\n", c.code, c.meaning)
	}
	b.WriteString(`
SIGTERM and SIGINT stop cleanly: streams are told, calls that were taken are answered (for at most half of ` + "`--stop-timeout`" + `), leadership is handed over, all is closed. A second signal ends the process at once; what was acknowledged is safe all the same.
`)
	return b.String()
}
