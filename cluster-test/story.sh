#!/usr/bin/env bash
# The main proof, on real processes and real disks: a broker's offset file is
# imported, fifty consumers commit through the Go client, and everything breaks
# in turn. In the end a separate program compares what every consumer was told
# with what every node holds. Any loss is exit 1.
#
#   story.sh [ACKNOWLEDGED]   how many acknowledged offsets make a story (100,000)
#
# environment: those of cluster.sh (own run folder and ports by default), and
#   TIDEMARK_MISTAKE  passed on to the daemons; only a build with the tag
#                     tidemark_mutants looks at it (see internal/planted)
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
export CLUSTER_RUN=${CLUSTER_RUN:-$root/.run/story}
export CLUSTER_PORT=${CLUSTER_PORT:-7511}
export CLUSTER_BIN=${CLUSTER_BIN:-$root/bin}
want=${1:-100000}
file=${CLUSTER_FILE:-$root/testdata/consumerOffset.json}
acks=$CLUSTER_RUN/consumers

cluster() { "$here/cluster.sh" "$@"; }
tidemark() { "$CLUSTER_BIN/tidemark" --endpoints "$endpoints" --timeout 20s "$@"; }
say() { printf '%(%H:%M:%S)T  %s\n' -1 "$*"; }
die() { say "FAILED: $*"; exit 1; }

declare -A consumer # pid of each consumer process

consume() { # consume NUMBER: consumers of the share NUMBER of 3
	"$CLUSTER_BIN/consume" --endpoints "$endpoints" --file "$file" --broker broker-a \
		--consumers 50 --share "$1/3" --dir "$acks" >>"$CLUSTER_RUN/consume$1.log" 2>&1 &
	consumer[$1]=$!
}

end() {
	for p in "${consumer[@]}"; do kill -9 "$p" 2>/dev/null || true; done
	[ ! -e "$CLUSTER_RUN/proof" ] || cluster down >/dev/null 2>&1 || true # not one that somebody keeps there
}
trap end EXIT

acknowledged() { cat "$acks"/*.acks 2>/dev/null | grep -c '^A ' || true; }

more() { # more N: wait until N further offsets are acknowledged
	local target=$(($(acknowledged) + $1)) until=$((SECONDS + 60)) i
	until [ "$(acknowledged)" -ge "$target" ]; do
		[ $SECONDS -lt $until ] || die "no $1 further acknowledgements within 60 s; logs: $CLUSTER_RUN"
		for i in "${!consumer[@]}"; do
			kill -0 "${consumer[$i]}" 2>/dev/null || die "consumer process $i has ended: $(tail -n 1 "$CLUSTER_RUN/consume$i.log")"
		done
		sleep 0.1
	done
}

address() { cluster endpoints | cut -d, -f"${1#n}"; } # address NODE: of its API

# gathered: wait until every consumer process calls the leader, whose name it leaves
# in $leader. A client goes on with a follower, which passes calls on, while the
# leader is one that it could not reach lately.
gathered() {
	local until=$((SECONDS + 30))
	until leader=$(cluster leader) && [ "$(streams "$leader")" = 3 ]; do
		[ $SECONDS -lt $until ] || die "the consumers do not all call the leader, $leader, within 30 s; logs: $CLUSTER_RUN"
		sleep 0.1
	done
}
streams() { curl -sS -m 1 "http://$(address "$1")/metrics" | awk '$1 == "tidemark_api_streams" {print $2}'; } # streams NODE

say "three nodes"
cluster anew 3 >/dev/null
endpoints=$(cluster endpoints)
mkdir -p "$acks"

say "import of $(basename "$file")"
tidemark import "$file" --broker broker-a --execute

say "fifty consumers of four queues each, in three processes"
for i in 1 2 3; do consume $i; done
more $((want / 8))

leader=$(cluster leader)
say "kill -9 of the leader, $leader"
cluster kill "$leader"
more $((want / 8))
cluster start "$leader"
cluster ready 30
say "$leader is back"
more $((want / 16))

say "snapshots on every node"
for n in n1 n2 n3; do
	"$CLUSTER_BIN/tidemark" --endpoints "$(address "$n")" --timeout 20s cluster snapshot >/dev/null
done
more $((want / 16))

say "kill -9 of a consumer process, and its return"
kill -9 "${consumer[2]}"
wait "${consumer[2]}" 2>/dev/null || true
consume 2
more $((want / 16))

for n in n1 n2 n3; do
	say "restart of $n"
	cluster restart "$n"
	cluster ready 30
	more $((want / 16))
done

left=$((want - $(acknowledged)))
[ $left -le 0 ] || more $left

gathered
say "last act: the followers stand still for 0.2 s, then all nodes are killed at once"
for n in n1 n2 n3; do [ "$n" = "$leader" ] || cluster pause "$n"; done
sleep 0.2
cluster kill "$leader"
for n in n1 n2 n3; do [ "$n" = "$leader" ] || cluster kill "$n"; done
for i in 1 2 3; do
	kill -9 "${consumer[$i]}"
	wait "${consumer[$i]}" 2>/dev/null || true
done
consumer=()
say "the followers return first, and lead; only then the old leader, with whatever it alone had"
for n in n1 n2 n3; do [ "$n" = "$leader" ] || cluster start "$n"; done
cluster ready 60
cluster start "$leader"
cluster ready 60

say "the reckoning"
"$CLUSTER_BIN/check" --endpoints "$endpoints" --file "$file" --broker broker-a --dir "$acks" --at-least "$want"
