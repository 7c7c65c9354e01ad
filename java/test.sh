#!/usr/bin/env bash
# Builds and tests the Java modules, against the nodes in bin/: one line for
# each module, and what Maven said where it failed. Arguments go to Maven.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

for tool in javac mvn; do
	if ! command -v "$tool" >/dev/null; then
		echo "java: skipped, needs $tool: not installed"
		[ -z "${CI:-}" ] # there it is a failure
		exit
	fi
done

rm -rf ./*/target/surefire-reports # those of tests that are gone, too
code=0
./mvn.sh package "$@" || code=$?

# closing prints the tests, failures and seconds of a module.
closing() {
	find "$1/target/surefire-reports" -name 'TEST-*.xml' -exec grep -h -m 1 '<testsuite ' {} + | awk '
		function number(name) { return match($0, " " name "=\"[0-9.]*\"") ? substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 4) : 0 }
		{ tests += number("tests"); bad += number("failures") + number("errors"); time += number("time") }
		END { printf "%d %d %.1f\n", tests, bad, time }'
}

for module in client consumer broker; do
	[ -d "$module/target/surefire-reports" ] || continue
	read -r tests bad time < <(closing "$module")
	if [ "$bad" != 0 ]; then
		printf 'FAIL\tjava/%s\t%s of %s tests\n' "$module" "$bad" "$tests"
	else
		printf 'ok  \tjava/%s\t%s tests\t%ss\n' "$module" "$tests" "$time"
	fi
done
if [ "$code" != 0 ]; then
	echo "FAIL: mvn package ended with $code"
fi
exit "$code"
