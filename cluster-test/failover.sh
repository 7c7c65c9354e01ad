#!/usr/bin/env bash
# Kills the leader again and again under load, or with BY=transfer has it hand
# over, and measures how long acknowledgements stop.
#
#   failover.sh [TIMES]   how often (20)
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
export CLUSTER_RUN=${CLUSTER_RUN:-$root/.run/failover}
export CLUSTER_PORT=${CLUSTER_PORT:-7711}
export CLUSTER_BIN=${CLUSTER_BIN:-$root/bin}
times=${1:-20}
by=${BY:-kill}
file=$root/testdata/consumerOffset.json
acks=$CLUSTER_RUN/consumers

cluster() { "$here/cluster.sh" "$@"; }
end() {
	[ -z "${load:-}" ] || kill -9 "$load" 2>/dev/null || true
	[ ! -e "$CLUSTER_RUN/proof" ] || cluster down >/dev/null 2>&1 || true # not one that somebody keeps there
}
trap end EXIT

cluster anew 3 >/dev/null
endpoints=$(cluster endpoints)
mkdir -p "$acks"
"$CLUSTER_BIN/tidemark" --endpoints "$endpoints" --timeout 20s import "$file" --broker broker-a --execute >/dev/null
"$CLUSTER_BIN/consume" --endpoints "$endpoints" --file "$file" --broker broker-a --dir "$acks" 2>"$CLUSTER_RUN/consume.log" &
load=$!

noted() { cat "$acks"/*.acks 2>/dev/null | grep -c '^A ' || true; }
more() { # more N: wait for N further acknowledgements
	local target=$(($(noted) + $1)) until=$((SECONDS + 60))
	until [ "$(noted)" -ge "$target" ]; do
		[ $SECONDS -lt $until ] || { echo "no $1 further acknowledgements within 60 s" >&2; exit 1; }
		sleep 0.1
	done
}

kill_leader() {
	local leader
	leader=$(cluster leader)
	cluster kill "$leader"
	more 2000
	cluster start "$leader"
	cluster ready 30
}
hand_over() {
	date +%s%N >>"$CLUSTER_RUN/kills"
	"$CLUSTER_BIN/tidemark" --endpoints "$endpoints" cluster transfer --execute >/dev/null
}

more 2000
for _ in $(seq "$times"); do
	case $by in
	kill) kill_leader ;;
	transfer) hand_over ;;
	*) echo "BY is kill or transfer, not $by" >&2; exit 3 ;;
	esac
	more 2000
done
"$CLUSTER_BIN/gaps" --dir "$acks" --kills "$CLUSTER_RUN/kills"
