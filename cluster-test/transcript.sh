#!/usr/bin/env bash
# Shows every command of tidemark on a living cluster of processes, with what it
# prints and its exit code: as it is meant to be used, without arguments, with
# names that there are not, at an endpoint where nobody listens, into a reader
# that closes early, and without a leader. It ends with 1 if a code is not the
# one that docs/cli.md promises, if a command says more than one line of error,
# or if a command was left out.
#
#   transcript.sh [LINES [short]]   how many lines of each output are shown (20);
#                                   short: fewer commands where each takes seconds
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
export CLUSTER_RUN=${CLUSTER_RUN:-$root/.run/transcript}
export CLUSTER_PORT=${CLUSTER_PORT:-7811}
export CLUSTER_BIN=${CLUSTER_BIN:-$root/bin}
lines=${1:-20}
short=${2:-}
export XDG_CONFIG_HOME=$CLUSTER_RUN/config # not the user's own contexts
work=$CLUSTER_RUN/transcript
wrong=0
said="" # the commands that were run

cluster() { "$here/cluster.sh" "$@"; }
address() { echo "127.0.0.1:$((CLUSTER_PORT + 10 * ($1 - 1) + $2))"; } # address NODE 0: API, 1: peers
end() {
	[ -z "${newcomer:-}" ] || kill "$newcomer" 2>/dev/null || true
	[ ! -e "$CLUSTER_RUN/proof" ] || cluster down >/dev/null 2>&1 || true # not one that somebody keeps there
}
trap end EXIT

section() { printf '\n# %s\n\n' "$*"; }
complain() { printf '!! %s\n' "$*"; wrong=$((wrong + 1)); }
shown() { head -n "$lines" "$1"; if [ "$(wc -l <"$1")" -gt "$lines" ]; then echo "(and $(($(wc -l <"$1") - lines)) more lines)"; fi; }
line() { local a; printf '$ tidemark'; for a; do printf ' %s' "$(quoted "$a")"; done; }
quoted() { if [[ $1 =~ ^[-A-Za-z0-9_./:=,%+@]+$ ]]; then printf %s "$1"; else printf "'%s'" "$1"; fi; }

# t CODE ARGUMENTS: runs the tool, shows what it prints, and compares the code.
t() {
	local want=$1 code=0
	shift
	said+=" ${*:1:2} ;"
	line "$@"; echo
	"$CLUSTER_BIN/tidemark" "$@" >"$work/out" 2>"$work/err" </dev/null || code=$?
	judge "$code" "$want"
}

# soon ARGUMENTS: as t 0, of what an election by itself, or a member that is silent
# for a moment, stands in the way of: the last of up to a hundred tries is judged.
soon() {
	local code=1 tries
	said+=" ${*:1:2} ;"
	line "$@"; echo
	for ((tries = 0; code != 0 && tries < 100; tries++)); do
		[ $tries = 0 ] || sleep 0.1
		code=0
		"$CLUSTER_BIN/tidemark" "$@" >"$work/out" 2>"$work/err" </dev/null || code=$?
	done
	judge "$code" 0
}

# judge CODE WANTED: shows a run, and says what is not as promised.
judge() {
	shown "$work/out"
	sed 's/^/(stderr) /' "$work/err"
	echo "exit code $1"
	[[ " $2 " == *" $1 "* ]] || complain "the exit code should be $2"
	[ "$(grep -c '^tidemark: ' "$work/err")" -le 1 ] || complain "more than one line of error"
	if [ "$1" != 0 ] && ! grep -q '^tidemark: ' "$work/err"; then complain "no line says why"; fi
	if grep -q 'goroutine ' "$work/err"; then complain "a stack trace"; fi
	echo
}

# piped CODES ARGUMENTS: as t, into a reader that closes after the first line.
piped() {
	local want=$1 codes
	shift
	line "$@"; echo " | head -n 1"
	set +e
	"$CLUSTER_BIN/tidemark" "$@" 2>"$work/err" </dev/null | head -n 1 >"$work/out"
	codes=("${PIPESTATUS[@]}")
	set -e
	judge "${codes[0]}" "$want"
}

# What reads, and what changes something; the same as told without a leader, at a
# dead endpoint, and into a closed pipe.
reads() { # reads WITH CODE: WITH is t or piped
	"$1" "$2" get billing
	"$1" "$2" group list
	"$1" "$2" group describe billing -o json
	"$1" "$2" topic list -o yaml
	"$1" "$2" topic describe orders
	"$1" "$2" export
}
changes() {
	"$1" "$2" commit billing orders 0 50 --execute
	"$1" "$2" group reset billing --shift-by 1 --execute -o json
	"$1" "$2" group set billing orders:0=50 --execute
	"$1" "$2" group clone billing billing-new --execute --overwrite
	"$1" "$2" group remove billing --topic orders --execute
	"$1" "$2" group expire --unmoved-since 1h --execute
	"$1" "$2" import "$work/consumerOffset.json" --execute
}

cluster anew 3 >/dev/null
mkdir -p "$work"
export TIDEMARK_ENDPOINTS TIDEMARK_TIMEOUT=20s
TIDEMARK_ENDPOINTS=$(cluster endpoints)
cp "$root/testdata/consumerOffset.json" "$work/broker-a.json"
echo '{"offsetTable":{"orders@billing":{0:42,1:40},"refunds@billing":{0:7}}}' >"$work/consumerOffset.json"
{ # a listing that fills more than a pipe holds
	echo group,topic,broker,queue,offset
	for i in $(seq 6000); do echo "many-groups-$i,orders,,0,$i"; done
} >"$work/many.csv"

section "On a living cluster"
t 0 version
t 0 man
for shell in bash zsh fish; do t 0 completion "$shell"; done
soon cluster status
t "0 5" check health # on a slow machine it says so
t "0 5" check performance
t "0 5" check disk "$work"
t 0 top --once --interval 200ms
t 0 import "$work/consumerOffset.json"
t 0 import "$work/consumerOffset.json" --execute
t 0 commit billing orders 0 43
t 0 commit billing orders 0 43 --execute
t 0 get billing orders
t 0 group list
t 0 topic list
t 0 topic describe orders
t 0 group describe billing
t 0 group reset billing --to-offset 10 --topic orders
t 0 group reset billing --to-offset 10 --topic orders --execute
t 0 group reset billing --shift-by -3 --topic orders --execute
t 4 group reset billing --to-offset 0 --expect-index 1 --execute
t 0 group reset billing --from-file "$work/consumerOffset.json" --execute
t 0 group set billing orders:0=5 orders:2=1 --execute
t 0 group describe billing
t 0 group clone billing billing-new --execute
t 4 group clone billing billing-new --execute
t 0 group reset billing --from-group billing-new --execute
t 0 group remove billing-new --topic refunds
t 0 group remove billing-new --execute
t 0 group expire --unmoved-since 30d
t 0 group expire --unmoved-since now --prefix nobody --execute
t 0 export "$work/out.json"
t 0 export --format csv
t 0 cluster claims
t 7 cluster claims --broker broker-a
t 0 cert ca "$work/certs"
t 4 cert ca "$work/certs"
t 0 cert node n1 127.0.0.1 --dir "$work/certs"
t 0 cert client billing-app --dir "$work/certs"
t 0 cert show "$work/certs/ca.crt"
t 0 token billing-app --out "$work/billing-app.token"
t 0 cluster snapshot
t 0 cluster backup "$work/all.backup"
t 4 cluster backup "$work/all.backup"
t 0 check backup "$work/all.backup"
t 0 dump backup "$work/all.backup"
t 0 cluster restore "$work/all.backup"
t 3 cluster raise-level 1
soon cluster transfer
soon cluster transfer --execute
t 0 contexts add prod "$(address 1 0)" "$(address 2 0)" --use
t 0 contexts add other "$(address 3 0)"
t 0 contexts list
t 0 contexts use other
t 0 contexts show
t 0 contexts remove other
t 0 group list --context prod
for name in %RETRY%g a/b 'sp ace' .. 组一 %2Fx 'q?x=1#y' a+b; do
	t 0 commit "$name" "$name" 0 1 --execute
	t 0 get "$name"
done
t 3 commit billing orders 0 -1

section "A member more, and less"
"$CLUSTER_BIN/tidemarkd" --name n4 --data "$work/n4" --listen "$(address 4 0)" --advertise "$(address 4 0)" \
	--peer-listen "$(address 4 1)" --peer-advertise "$(address 4 1)" >"$work/n4.log" 2>&1 </dev/null &
newcomer=$!
id=
for _ in $(seq 300); do # its own status tells its id
	id=$("$CLUSTER_BIN/tidemark" --endpoints "$(address 4 0)" --timeout 1s cluster status -o json 2>/dev/null | sed -n 's/^  "node": "\(.*\)",$/\1/p') || true
	[ -z "$id" ] || break
	sleep 0.1
done
t 0 cluster add "$id" "$(address 4 1)"
t 0 cluster add "$id" "$(address 4 1)" --execute
soon cluster promote "$id" --execute
soon cluster status
t 0 cluster remove "$id"
t 0 cluster remove "$id" --execute
kill "$newcomer" 2>/dev/null || true
wait "$newcomer" 2>/dev/null || true
newcomer=

section "Without arguments"
t 64
for c in get commit "group describe" "group reset" "group set" "group clone" "group remove" "group expire" "topic describe" import \
	"cluster add" "cluster promote" "cluster remove" "cluster raise-level" "cluster rescue" "contexts add" "contexts use" "contexts remove" "rocketmq diff" "check disk" "dump log" "dump snapshot" "dump entry" group topic cluster contexts check rocketmq dump; do
	# shellcheck disable=SC2086
	t 64 $c
done

section "Of what there is not"
t 64 nonsense
t 64 get billing --nonsense
t 7 get nobody
t 7 get nobody -o json
t 7 group describe nobody
t 7 group reset nobody --to-offset 1 --execute
t 7 group clone nobody billing --execute
t 7 group remove nobody --execute
t 7 topic describe nothing
t 7 export --group nobody
t 7 cluster promote n9
t 7 cluster remove n9 --execute
t 7 contexts use nowhere
t 7 group list --context nowhere
t 3 import "$work/none"
t 3 dump log "$work"

section "Where nobody listens"
TIDEMARK_ENDPOINTS=127.0.0.1:1 TIDEMARK_TIMEOUT=500ms reads t 2
TIDEMARK_ENDPOINTS=127.0.0.1:1 TIDEMARK_TIMEOUT=500ms changes t 2
TIDEMARK_ENDPOINTS=127.0.0.1:1 TIDEMARK_TIMEOUT=500ms t 2 cluster status
TIDEMARK_ENDPOINTS=127.0.0.1:1 TIDEMARK_TIMEOUT=500ms t 2 check health
TIDEMARK_ENDPOINTS=127.0.0.1:1 TIDEMARK_TIMEOUT=500ms t 2 top
t 2 rocketmq diff 127.0.0.1:1 # no broker
t 2 group reset billing --to-latest --rocketmq 127.0.0.1:1

section "Into a reader that closes early"
t 0 import "$work/many.csv" --execute
piped "0 1" get billing
piped 1 group list
piped 1 group list -o json
piped 1 topic describe orders
piped 1 export --format csv

section "Without a leader"
for n in n2 n3; do cluster kill "$n"; done
if [ -z "$short" ]; then
	TIDEMARK_TIMEOUT=3s reads t 8
	TIDEMARK_TIMEOUT=3s changes t 8
else
	TIDEMARK_TIMEOUT=3s t 8 get billing
	TIDEMARK_TIMEOUT=3s t 8 group reset billing --shift-by 1 --execute -o json
fi
TIDEMARK_TIMEOUT=3s t 8 cluster status
TIDEMARK_TIMEOUT=3s t 8 check health
TIDEMARK_TIMEOUT=3s t 0 get billing --level local
TIDEMARK_TIMEOUT=3s t 8 cluster transfer
t 4 dump log "$CLUSTER_RUN/n1/data"
t 4 cluster rescue "$CLUSTER_RUN/n1/data" "$work/rescued"

section "What a stopped node left"
cluster down >/dev/null
t 0 dump log "$CLUSTER_RUN/n1/data" --from 2 --to 4
t 0 dump snapshot "$CLUSTER_RUN/n1/data"
t 3 dump entry 00
t 0 cluster rescue "$CLUSTER_RUN/n1/data" "$work/rescued"
t 4 cluster rescue "$CLUSTER_RUN/n1/data" "$work/rescued" --execute
t 0 cluster rescue "$CLUSTER_RUN/n1/data" "$work/rescued" --execute --old-cluster-is-gone
t 3 cluster rescue "$CLUSTER_RUN/n1/data" "$work/rescued"

# Each command that the help names must have been run.
while read -r c; do
	[[ $said == *" $c "* ]] || complain "tidemark $c was left out"
done < <("$CLUSTER_BIN/tidemark" --help | sed -n 's/^  \([a-z]*\( [a-z]*\)\{0,1\}\)  .*/\1/p')

if [ "$wrong" -gt 0 ]; then
	echo "$wrong things are not as promised; they are marked with !!"
	exit 1
fi
echo "all as promised"
