#!/usr/bin/env bash
# Measures what docs/measurements.md tells, and prints one markdown table. The
# short form takes less than ten minutes, the full one about an hour.
#
#   bench.sh [--full] [PART...]   parts: load import queues failover go (all)
#
# environment: BENCH_BIN  where the programs lie (default bin)
#              BENCH_RUN  where clusters keep their data; the disk that is measured (default .run/bench)
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
bin=${BENCH_BIN:-$root/bin}
run=${BENCH_RUN:-$root/.run/bench}
mkdir -p -m 700 "$run"
cd "$root"

full=
if [ "${1:-}" = --full ]; then
	full=1
	shift
fi
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(load import queues failover go)
pick() { if [ -n "$full" ]; then echo "$2"; else echo "$1"; fi; } # pick SHORT FULL

load() { "$bin/load" --bin "$bin" --run "$run/load" --for "$(pick 3s 8s)"; }

import() { "$bin/import50" --bin "$bin" --run "$run/import" --entries "$(pick 100000 900000)" --no-bounds; }

queues() { "$bin/queues" --bin "$bin" --run "$run/queues" --queues "$(pick 500000 10000000)" --for "$(pick 5s 20s)" --tail "$(pick 10 100)"; }

failover() {
	local kills gaps
	kills=$(pick 4 20)
	gaps=$(CLUSTER_BIN=$bin CLUSTER_RUN=$run/failover cluster-test/failover.sh "$kills" | tail -n 1)
	echo "| failover: kill -9 of the leader under load, to the next acknowledgement | $gaps |"
}

# Go benchmarks of the state, without a network or a disk: name and metrics.
go_() {
	local short=()
	[ -n "$full" ] || short=(-test.short)
	go test -run '^$' -bench 'ApplyFullEntry|Snapshot10M' -benchtime 2s -timeout 1h ./fsm "${short[@]}" | rows fsm
	go test -run '^$' -bench "$(pick 'Commit/' 'Build|Commit|Acts|Replace|MergeOfSmallGroups')" -benchtime 1x -timeout 1h ./fsm/table "${short[@]}" | rows fsm/table
	go test -run '^$' -bench "$(pick 'StoreLogs' 'StoreLogs|Snapshot|DeleteRange')" -benchtime 1s -timeout 1h ./node/store | rows node/store
}

rows() {
	awk -v room="$1" '/^Benchmark/ {
		name = $1; sub(/^Benchmark/, "", name); sub(/-[0-9]+$/, "", name)
		cell = ""
		for (i = 3; i < NF; i += 2) cell = cell (cell ? ", " : "") $i " " $(i + 1)
		printf "| %s: %s | %s |\n", room, name, cell
	}'
}

echo "| what | figure |"
echo "|---|---|"
for part in "${parts[@]}"; do
	case $part in
	load | import | queues | failover) "$part" ;;
	go) go_ ;;
	*) echo "bench.sh: no such part: '$part'; there are load, import, queues, failover, go" >&2; exit 64 ;;
	esac
done
