#!/usr/bin/env bash
# Installs Debian's packages. Parts that run side by side take turns, and use the lists of packages
# that the first of them fetched.
set -euo pipefail
lock=${TMPDIR:-/tmp}/w2vcl-apt.lock
fetched=${TMPDIR:-/tmp}/w2vcl-apt.fetched
exec 9>"$lock"
flock 9
if [[ -z $(find "$fetched" -mmin -60 2>/dev/null) ]]; then
	apt-get update -qq
	touch "$fetched"
fi
apt-get install -y -qq --no-install-recommends "$@"
