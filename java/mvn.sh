#!/usr/bin/env bash
# Runs Maven on the Java modules, and says nothing unless it fails. What could
# not be fetched is tried again: a repository that is slow answers the next time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

log=$(mktemp)
trap 'rm -f "$log"' EXIT
for attempt in 1 2 3; do
	code=0
	mvn -B -ntp -Dstyle.color=never "$@" >"$log" 2>&1 || code=$?
	[ "$code" = 0 ] && exit 0
	[ "$attempt" = 3 ] && break
	grep -qE 'Could not (transfer|resolve|find artifact)|could not be resolved' "$log" || break
done
grep -E '^\[ERROR\]|^	at io\.github' "$log" | head -n 60 || tail -n 60 "$log"
exit "$code"
