#!/usr/bin/env bash
# Builds and tests the Java modules, against the nodes in bin/: one line for
# each module, and what Maven said only where it failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

for tool in javac mvn; do
	if ! command -v "$tool" >/dev/null; then
		echo "java: skipped, needs $tool: not installed"
		[ -z "${CI:-}" ] # there it is a failure
		exit
	fi
done

log=$(mktemp)
trap 'rm -f "$log"' EXIT
rm -rf ./*/target/surefire-reports # those of tests that are gone, too
code=0
mvn -B -ntp -Dstyle.color=never package "$@" >"$log" 2>&1 || code=$?

# closing prints the tests, failures and seconds of a module.
closing() {
	find "$1/target/surefire-reports" -name 'TEST-*.xml' -exec grep -h -m 1 '<testsuite ' {} + 2>/dev/null | awk '
		function number(name) { return match($0, " " name "=\"[0-9.]*\"") ? substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 4) : 0 }
		{ tests += number("tests"); bad += number("failures") + number("errors"); time += number("time") }
		END { printf "%d %d %.1f\n", tests, bad, time }'
}

if [ "$code" != 0 ]; then
	grep -E '^\[ERROR\]|^	at io\.github' "$log" | head -n 60 || tail -n 60 "$log"
fi
for module in */; do
	module=${module%/}
	[ -d "$module/target/surefire-reports" ] || continue
	read -r tests bad time < <(closing "$module")
	if [ "$bad" != 0 ]; then
		printf 'FAIL\tjava/%s\t%s of %s tests\n' "$module" "$bad" "$tests"
	elif [ "$code" = 0 ]; then
		printf 'ok  \tjava/%s\t%s tests\t%ss\n' "$module" "$tests" "$time"
	fi
done
if [ "$code" != 0 ]; then
	echo "FAIL: mvn package ended with $code"
fi
exit "$code"
