#!/bin/sh
# Copies the packs that ship to a folder, without their sources and tests, as a package installs them.
set -eu

to=$1
rm -rf "$to"
mkdir -p "$to"
cp tools/pack.schema.json "$to/"
for pack in tools/*/; do
  [ -f "$pack/pack.json" ] || continue
  name=$(basename "$pack")
  mkdir -p "$to/$name"
  (cd "$pack" && find . -type f ! -path './server/*' ! -path '*/src/*' ! -path '*/tests/*' ! -path '*/benches/*' ! -name Cargo.toml ! -name 'utterances.*') | while read -r file; do
    mkdir -p "$to/$name/$(dirname "$file")"
    cp "$pack/$file" "$to/$name/$file"
  done
done
# Programs stay executable.
find "$to" -type f -exec chmod u=rwX,go=rX {} +
find "$to" -type d -exec chmod 755 {} +
