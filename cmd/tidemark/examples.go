package main

import (
	"strings"

	"github.com/alecthomas/kong"
)

// examples are what the help text of a command shows to begin with, by the
// words of the command. docs/cli.md has more, with what they print.
var examples = map[string][]string{
	"get":               {"get billing", "get billing orders 0 --broker broker-a"},
	"commit":            {"commit billing orders 0 42 --broker broker-a --execute"},
	"group list":        {"group list --prefix bill --limit 20"},
	"group describe":    {"group describe billing", "group describe billing --rocketmq 10.0.0.1:9876"},
	"group reset":       {"group reset billing --to-offset 40 --topic orders", "group reset billing --to-time 30m --rocketmq 10.0.0.1:9876 --execute"},
	"group set":         {"group set billing orders:0=40 orders:1=7 --broker broker-a --execute"},
	"group clone":       {"group clone billing billing-new --execute"},
	"group remove":      {"group remove billing --topic orders --execute"},
	"group expire":      {"group expire --unmoved-since 30d --without payments"},
	"import":            {"import /store/config/consumerOffset.json --broker broker-a", "import broker-a=/mnt/a/store broker-b=/mnt/b/store --execute", "import rocketmq://10.0.0.1:9876", "import kafka.csv --group billing"},
	"export":            {"export offsets.native --format native", "export consumerOffset.json --broker broker-a", "export plan.csv --format kafka --group billing"},
	"rocketmq diff":     {"rocketmq diff 10.0.0.5:10911 --wait 10s"},
	"cluster add":       {"cluster add n4/7043010ac26538b58af393353000c7ac n4.example:7412 --execute"},
	"cluster promote":   {"cluster promote n4 --execute"},
	"cluster remove":    {"cluster remove n2 --execute"},
	"cluster transfer":  {"cluster transfer n3 --execute"},
	"cluster backup":    {"cluster backup all.backup"},
	"cluster restore":   {"cluster restore all.backup", "cluster restore all.backup --execute"},
	"cluster rescue":    {"cluster rescue /var/lib/tidemark.old /var/lib/tidemark", "cluster rescue /var/lib/tidemark.old /var/lib/tidemark --execute --old-cluster-is-gone"},
	"check backup":      {"check backup all.backup"},
	"check performance": {"check performance --for 3s"},
	"check disk":        {"check disk /var/lib"},
	"top":               {"top --group billing", "top --once -o json"},
	"contexts add":      {"contexts add prod n1.example:7411 n2.example:7411 n3.example:7411 --use"},
	"cert ca":           {"cert ca certs"},
	"cert node":         {"cert node n1 n1.example 10.0.0.1 --dir certs"},
	"cert client":       {"cert client billing-app --dir certs"},
	"cert show":         {"cert show certs/n1.crt"},
	"token":             {"token billing-app --out billing-app.token"},
	"dump log":          {"dump log /var/lib/tidemark --from 1200 --to 1210"},
}

// withExamples puts the examples into the help texts of a command line.
func withExamples(root *kong.Application) {
	for _, leaf := range root.Leaves(true) {
		list := examples[commandWords(leaf)]
		if len(list) == 0 {
			continue
		}
		// What is indented is shown line by line.
		leaf.Detail = "Such as:\n\n    tidemark " + strings.Join(list, "\n    tidemark ")
	}
}

// commandWords names a command as it is typed, without the program.
func commandWords(leaf *kong.Node) string {
	_, words, _ := strings.Cut(leaf.FullPath(), " ")
	return words
}
