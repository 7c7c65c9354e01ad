#!/usr/bin/env bash
# A Tidemark cluster of real processes on this machine, for trying and testing.
# Everything it writes lies under $CLUSTER_RUN (default .run/cluster); it ends
# only processes that it started, by the pid it noted.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
run=${CLUSTER_RUN:-$root/.run/cluster}
bin=${CLUSTER_BIN:-$root/bin}
# n1 gets the ports base and base+1, n2 ten more, and so on. A cluster keeps its
# ports, so who looks at it from another terminal need not name them.
noted=$(cat "$run/port" 2>/dev/null || true)
base=${CLUSTER_PORT:-${noted:-7411}}
max=9

usage() {
	cat <<'EOF'
usage: cluster.sh COMMAND

  up [N]        start a cluster of N nodes (default 3), n1 to nN; keeps what an earlier one left
  run [N]       up, then stay: Ctrl-C stops all nodes cleanly
  status        how each node sees the cluster
  leader        print the name of the leader
  endpoints     print the API addresses, as the CLI takes them
  start NODE    start a node that does not run
  stop NODE     SIGTERM: hand over, answer what was taken, end
  kill NODE     SIGKILL; the moment goes to the file kills of the run folder
  pause NODE    SIGSTOP
  resume NODE   SIGCONT
  restart NODE  stop (if it runs) and start
  down          stop all nodes
  clean         down, and delete the run folder, if "up" has made it
  anew [N]      for the proofs: delete what an earlier proof left in the run folder, and up
  story         the main proof; see story.sh

environment: CLUSTER_RUN  where data, logs and pids lie (default .run/cluster)
             CLUSTER_BIN  where tidemarkd and tidemark lie (default bin)
             CLUSTER_PORT first port of n1 (default 7411), for a cluster that is made: it keeps its ports
             CLUSTER_LOG_STORE  boltdb or wal, for folders that are made (default boltdb)
             CLUSTER_TLS  1: TLS, a token for the operator ("ops") and a policy, for a cluster that is made:
                          what they take lies in $CLUSTER_RUN/secrets
             CLUSTER_WRAP a command put before tidemarkd, such as a tracer; %n becomes the node's name
EOF
}

die() { printf 'cluster.sh: %s\n' "$*" >&2; exit 1; }
say() { printf '%s\n' "$*" >&2; }

same() { # what is asked is the cluster that is here
	[ "$base" = "${noted:-$base}" ] ||
		die "the cluster in $run has the ports from $noted on, not from $base: unset CLUSTER_PORT, or make another one (cluster.sh clean deletes it; CLUSTER_RUN names another folder)"
}

api() { echo "127.0.0.1:$((base + 10 * (${1#n} - 1)))"; }
peer() { echo "127.0.0.1:$((base + 10 * (${1#n} - 1) + 1))"; }
size() { cat "$run/size" 2>/dev/null || die "there is no cluster in $run; make one: cluster.sh up"; }
nodes() { for i in $(seq 1 "$(size)"); do echo "n$i"; done; }

node() { # checks that the argument names a node of this cluster
	[[ ${1:-} =~ ^n[1-9]$ ]] && [ "${1#n}" -le "$(size)" ] || die "no such node: '${1:-}'; there are: $(nodes | xargs)"
}

# A cluster with TLS keeps it: its certificates, the token of "ops" and the policy
# lie in $secrets.
secrets=$run/secrets
secure() { [ -e "$secrets/policy.yaml" ]; }
show() { # what the CLI and curl show of themselves
	! secure || export TIDEMARK_CA=$secrets/ca.crt TIDEMARK_TOKEN_FILE=$secrets/ops.token
}
page() { # page NODE PATH
	if secure; then
		curl -sS -m 1 --cacert "$secrets/ca.crt" "https://$(api "$1")$2"
	else
		curl -sS -m 1 "http://$(api "$1")$2"
	fi
}
serves() { [ "$(page "$1" /readyz 2>/dev/null)" = ok ]; }

mint() { # mint N: makes what a cluster of N nodes with TLS needs, whole or not at all
	local n new=$secrets.new
	[ -x "$bin/tidemark" ] || die "$bin/tidemark is missing; build it: make build"
	rm -rf "$new"
	"$bin/tidemark" cert ca "$new" >/dev/null
	for n in $(seq 1 "$1"); do
		"$bin/tidemark" cert node "n$n" 127.0.0.1 localhost --dir "$new" >/dev/null
	done
	"$bin/tidemark" token ops --out "$new/ops.token" | tail -n 1 >"$new/tokens"
	printf 'rules:\n  - {callers: [ops], may: [admin]}\n' >"$new/policy.yaml"
	mv -T "$new" "$secrets"
}

endpoints() { local l=; for n in $(nodes); do l+=,$(api "$n"); done; echo "${l#,}"; }
founders() { local l=; for n in $(nodes); do l+=,$n=$(peer "$n"); done; echo "${l#,}"; }

# alive NODE: the noted process runs, and is ours (a pid may have been used again).
alive() {
	local pid
	pid=$(cat "$run/$1/pid" 2>/dev/null) || return 1
	kill -0 "$pid" 2>/dev/null && [ "$(cat "$run/$1/started" 2>/dev/null)" = "$(born "$pid")" ]
}
# born PID: when the process started; nothing of one that has ended and still waits to be buried.
born() { awk '$3 != "Z" {print $22}' "/proc/$1/stat" 2>/dev/null; }

# signal NAME NODE: to the daemon, also where it runs under a tracer.
signal() {
	alive "$2" || die "$2 does not run"
	kill "-$1" "$(cat "$run/$2/pid")"
}
# hit NAME NODE: the same to one that is to end, and may have by now, by itself.
hit() { ! alive "$2" || kill "-$1" "$(cat "$run/$2/pid")" 2>/dev/null || true; }

gone() { # gone NODE SECONDS: wait until the process has ended, and the kernel has taken back what it held
	local until=$((SECONDS + $2))
	while alive "$1" || [ "$(threads "$(cat "$run/$1/pid" 2>/dev/null)")" -gt 1 ]; do
		[ $SECONDS -lt $until ] || return 1
		sleep 0.02
	done
}
threads() { find "/proc/$1/task" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l; }

start() {
	local n=$1 dir=$run/$1 pid
	alive "$n" && die "$n runs already"
	[ -x "$bin/tidemarkd" ] || die "$bin/tidemarkd is missing; build it: make build"
	mkdir -p -m 700 "$dir"
	rm -f "$dir/pid"
	local more=()
	! secure || more=(--tls-cert "$secrets/$n.crt" --tls-key "$secrets/$n.key" --tls-client-ca "$secrets/ca.crt"
		--peer-tls-ca "$secrets/ca.crt" --tokens "$secrets/tokens" --policy "$secrets/policy.yaml")
	# The daemon writes its pid itself, so that a tracer before it is no matter.
	(
		exec 0</dev/null >>"$dir/log" 2>&1 9>&-
		# shellcheck disable=SC2016
		exec setsid ${CLUSTER_WRAP:+${CLUSTER_WRAP//%n/$n}} \
			bash -c 'echo $$ >"$0/pid.new"; mv "$0/pid.new" "$0/pid"; exec "$@"' "$dir" \
			"$bin/tidemarkd" --name "$n" --data "$dir/data" \
			--listen "$(api "$n")" --advertise "$(api "$n")" \
			--peer-listen "$(peer "$n")" --peer-advertise "$(peer "$n")" \
			--initial-cluster "$(founders)" ${CLUSTER_LOG_STORE:+--log-store "$CLUSTER_LOG_STORE"} "${more[@]}"
	) &
	disown
	for _ in $(seq 500); do
		[ ! -s "$dir/pid" ] || break
		sleep 0.02
	done
	pid=$(cat "$dir/pid" 2>/dev/null) || die "$n did not start; see $dir/log"
	born "$pid" >"$dir/started" && [ -s "$dir/started" ] || die "$n has ended at once: $(tail -n 1 "$dir/log")"
}

ready() { # ready SECONDS: wait until every running node serves
	local until=$((SECONDS + $1)) n
	for n in $(nodes); do
		while alive "$n" && ! serves "$n"; do
			! fallen || return 1 # the others may wait for it in vain
			if [ $SECONDS -ge $until ]; then
				say "$n is not ready: $(page "$n" /readyz 2>&1 | head -n 1)"
				tail -n 3 "$run/$n/log" >&2
				return 1
			fi
			sleep 0.05
		done
	done
	! fallen
}

fallen() { # tells whether a node has ended by itself, and its last words
	local n
	for n in $(nodes); do
		if ! alive "$n" && [ ! -e "$run/$n/stopped" ]; then
			say "$n has ended:"
			tail -n 5 "$run/$n/log" >&2
			return 0
		fi
	done
	return 1
}

# settle makes the run folder. One that was not there, or was empty, is ours from
# then on, which the file "made" says.
settle() {
	mkdir -p -m 700 "$run"
	[ -n "$(ls -A "$run")" ] || : >"$run/made"
}

clean() { # deletes a folder that is ours, and none that somebody keeps other things in
	[ -e "$run/made" ] || [ -z "$(ls -A "$run" 2>/dev/null)" ] ||
		die "$run is no folder that cluster.sh has made; delete it yourself, or name another one (CLUSTER_RUN)"
	down
	rm -rf "$run"
}

anew() { # anew [N]: up for a proof, which deletes what proofs have left, and no cluster that somebody keeps
	[ -e "$run/proof" ] || [ ! -e "$run/size" ] ||
		die "$run holds a cluster that no proof has made: unset CLUSTER_RUN, or delete that cluster (cluster.sh clean)"
	clean
	settle
	: >"$run/proof"
	up "${1:-3}"
}

up() {
	local want=${1:-3} n
	[[ $want =~ ^[1-9]$ ]] && [ "$want" -le $max ] || die "a cluster has 1 to $max nodes, not '$want'"
	settle
	if [ -e "$run/size" ]; then
		[ "$(cat "$run/size")" = "$want" ] || die "$run holds a cluster of $(cat "$run/size") nodes; delete it first: cluster.sh clean"
		[ -z "${CLUSTER_TLS:-}" ] || secure || die "the cluster in $run was made without TLS, and keeps running without: unset CLUSTER_TLS, or make another one (cluster.sh clean deletes it; CLUSTER_RUN names another folder)"
	else
		[ -z "${CLUSTER_TLS:-}" ] || mint "$want"
		echo "$want" >"$run/size" # only now: there is a cluster
	fi
	show
	for n in $(nodes); do
		rm -f "$run/$n/stopped"
		alive "$n" || start "$n"
	done
	ready 60 && healthy 30 || die "the cluster did not come up; logs: $run/n*/log"
	echo "$base" >"$run/port" # only now: after ports that were taken others may be tried
}

healthy() { # healthy SECONDS: wait until the CLI calls the cluster healthy
	local until=$((SECONDS + $1)) said
	until said=$("$bin/tidemark" --endpoints "$(endpoints)" --timeout 5s cluster status 2>&1 >/dev/null); do
		[ $SECONDS -lt $until ] || { say "$said"; return 1; }
		sleep 0.1
	done
}

stop() {
	alive "$1" || return 0
	: >"$run/$1/stopped"
	hit TERM "$1"
	hit CONT "$1"
	gone "$1" 30 || { say "$1 did not end within 30 s of SIGTERM: killed"; hit KILL "$1"; gone "$1" 10; }
}

down() {
	local n
	[ -e "$run/size" ] || return 0
	for n in $(nodes); do stop "$n" & done
	wait
}

leader() {
	local n
	for n in $(nodes); do
		alive "$n" || continue
		if [ "$("$bin/tidemark" --endpoints "$(api "$n")" --timeout 2s cluster status -o json 2>/dev/null |
			tr -d ' \n' | grep -o '"state":"[a-z]*"' | head -n 1)" = '"state":"leader"' ]; then
			echo "$n"
			return 0
		fi
	done
	return 1
}

leading() { # leading SECONDS: the name of the leader, once there is one
	local until=$((SECONDS + $1))
	until leader; do
		[ $SECONDS -lt $until ] || return 1
		sleep 0.1
	done
}

status() {
	local n
	for n in $(nodes); do
		if alive "$n"; then
			printf '%s  pid %s  api %s  peer %s  ready: %s\n' "$n" "$(cat "$run/$n/pid")" "$(api "$n")" "$(peer "$n")" \
				"$(page "$n" /readyz 2>&1 | head -n 1)"
		else
			printf '%s  not running  (log: %s)\n' "$n" "$run/$n/log"
		fi
	done
	"$bin/tidemark" --endpoints "$(endpoints)" --timeout 5s cluster status
}

stay() {
	trap farewell EXIT # also where up fails half way
	trap 'exit 0' INT TERM
	up "${1:-3}"
	cat >&2 <<EOF

A cluster of $(size) nodes runs. Its API addresses: $(endpoints)
Logs: $run/n*/log. Try:

  export TIDEMARK_ENDPOINTS=$(endpoints)$(! secure || echo " TIDEMARK_CA=$(rel "$secrets")/ca.crt TIDEMARK_TOKEN_FILE=$(rel "$secrets")/ops.token")
  $(rel "$bin/tidemark") cluster status
  $(rel "$bin/tidemark") import testdata/consumerOffset.json --broker broker-a --execute
  curl -s $(secure && echo "--cacert $(rel "$secrets")/ca.crt -H \"Authorization: Bearer \$(cat $(rel "$secrets")/ops.token)\" https" || echo http)://$(api n2)/tidemark.v1.GroupService/List -H 'Content-Type: application/json' -d '{"limit":5}'

Ctrl-C stops all nodes cleanly. To see what they bear, in another terminal:
cluster-test/cluster.sh kill n1, and then start n1; "status" shows how they are.
EOF
	watch
	say "no node runs any longer"
	exit 1
}

# watch tells when a node has ended or is back, for as long as one runs.
watch() {
	local n any down=" "
	while :; do
		any=
		for n in $(nodes); do
			if alive "$n"; then
				any=1
				[[ $down == *" $n "* ]] && say "$n runs again" && down=${down/ $n / }
			elif [[ $down != *" $n "* ]]; then
				down+="$n "
				say "$n has ended; start it again: cluster-test/cluster.sh start $n; its last words:"
				tail -n 2 "$run/$n/log" >&2
			fi
		done
		[ -n "$any" ] || return 0
		sleep 1 & wait $! || true
	done
}

farewell() {
	trap '' INT TERM
	say ""
	say "stopping all nodes"
	down
	say "stopped; the data stays in $run (delete it: cluster-test/cluster.sh clean)"
}
rel() { echo "${1#"$PWD"/}"; }

case ${1:-help} in
help | -h | --help | clean | anew | story) ;; # of whatever is here, or of another folder
*) same ;;
esac
show
case ${1:-help} in
up) up "${2:-3}"; status || true ;; # an election since then is no failure of up
run) stay "${2:-3}" ;;
status) status ;;
leader) leading 10 || die "no node says that it leads" ;;
endpoints) endpoints ;;
start) node "${2:-}"; rm -f "$run/$2/stopped"; start "$2" ;;
stop) node "${2:-}"; stop "$2" ;;
kill) node "${2:-}"; : >"$run/$2/stopped"; date +%s%N >>"$run/kills"; signal KILL "$2"; gone "$2" 10 ;;
pause) node "${2:-}"; signal STOP "$2" ;;
resume) node "${2:-}"; signal CONT "$2" ;;
restart) node "${2:-}"; stop "$2"; rm -f "$run/$2/stopped"; start "$2" ;;
down) down ;;
clean) clean ;;
anew) anew "${2:-3}" ;;
ready) ready "${2:-30}" ;;
story) shift; exec "$here/story.sh" "$@" ;;
help | -h | --help) usage ;;
*) usage >&2; exit 64 ;;
esac
