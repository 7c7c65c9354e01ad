#!/usr/bin/env bash
# Runs three nodes under strace and shows an fdatasync on a quorum before each
# sampled acknowledgement.
#
#   traced.sh [SECONDS]   how long to sample (30), or until there are 20
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
export CLUSTER_RUN=${CLUSTER_RUN:-$root/.run/traced}
export CLUSTER_PORT=${CLUSTER_PORT:-7611}
export CLUSTER_BIN=${CLUSTER_BIN:-$root/bin}

command -v strace >/dev/null || { echo "skipped: strace is not installed" >&2; exit 3; }
trap '[ ! -e "$CLUSTER_RUN/proof" ] || "$here/cluster.sh" down >/dev/null 2>&1 || true' EXIT

CLUSTER_WRAP="strace -f -ttt -T -e trace=fdatasync -o $CLUSTER_RUN/%n.strace" "$here/cluster.sh" anew 3 >/dev/null
"$CLUSTER_BIN/trace" --endpoints "$("$here/cluster.sh" endpoints)" --traces "$CLUSTER_RUN/n*.strace" --duration "${1:-30}s" --least 20
