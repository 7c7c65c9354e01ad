#!/usr/bin/env bash
# Starts a daemon with a page of its own for metrics and profiles, 1000 above
# its API port: wrap.sh NODE COMMAND...
set -euo pipefail
node=${1#n}
shift
export TIDEMARK_OPS_LISTEN=127.0.0.1:$((CLUSTER_PORT + 10 * (node - 1) + 1000)) TIDEMARK_PPROF=true
exec "$@"
