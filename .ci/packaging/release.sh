#!/usr/bin/env bash
# Builds what a release has: an archive for each platform, Python wheels, a list of what is in them (SBOM), and checksums of all.
#
#   release.sh [DIR]     DIR is dist without an argument; what is in it is replaced
#
# An archive has the program, its licence and those of the modules in it, the change log, how to
# cite, and completions for bash, zsh and fish. On one commit the archives are the same bytes each
# time. Needs Go, pip and GNU tar. Tag the commit (vX.Y.Z) first: the version comes from there.
set -euo pipefail

packaging=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "${1:-dist}"
out=$(cd "${1:-dist}" && pwd)
cd "$packaging/../.."
rm -f "$out"/w2vcl-* "$out/SHA256SUMS"

version=$(python3 python/version.py)
version=${version/+g/-}
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$packaging/binary.sh" host "$work/w2vcl"
mkdir "$work/completions"
for shell in bash zsh fish; do
	"$work/w2vcl" completion "$shell" >"$work/completions/w2vcl.$shell"
done

"$packaging/licenses.sh" "$work/THIRD-PARTY-LICENSES.txt"

for platform in linux-amd64 linux-arm64 darwin-arm64 darwin-amd64 windows-amd64; do
	name=w2vcl-$version-$platform
	folder=$work/$name
	mkdir "$folder"
	program=w2vcl
	[[ $platform != windows-* ]] || program=w2vcl.exe
	"$packaging/binary.sh" "$platform" "$folder/$program"
	cp -r "$work/completions" "$work/THIRD-PARTY-LICENSES.txt" LICENSE README.md CHANGELOG.md CITATION.cff "$folder"
	cp docs/references.bib "$folder"
	find "$folder" -exec touch -d "@$SOURCE_DATE_EPOCH" {} +
	if [[ $platform == windows-* ]]; then
		(cd "$work" && TZ=UTC python3 -m zipfile -c "$out/$name.zip" "$name/")
	else
		tar -C "$work" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -cf - "$name" | gzip -9n >"$out/$name.tar.gz"
	fi
	mv "$folder/$program" "$work/program-$platform"
	rm -r "$folder"
done
"$packaging/sbom.py" "$version" "$work"/program-* >"$out/w2vcl-$version.cdx.json"

"$packaging/wheel.sh" "$out" >/dev/null
(cd "$out" && sha256sum w2vcl-* >SHA256SUMS)
ls -l "$out"
