#!/usr/bin/env bash
# Installs Debian's packages. Parts that run side by side take turns.
set -euo pipefail
exec 9>"${TMPDIR:-/tmp}/w2vcl-apt.lock"
flock 9
apt-get update -qq
apt-get install -y -qq --no-install-recommends "$@"
