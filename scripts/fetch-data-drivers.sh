#!/bin/sh
# Fetches the two database libraries of csign-data, with their licences, into a folder. The packages and the hashes of their
# contents are in tools/data/server/drivers/. The libraries are not built here: a build of DuckDB takes an hour.
set -eu
cd "$(dirname "$0")/.."
: "${NPM:=npm}"

to=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir "$work/npm"
cp tools/data/server/drivers/package.json tools/data/server/drivers/package-lock.json "$work/npm/"
# The package is only used as an archive: none of its scripts run.
(cd "$work/npm" && "$NPM" ci --ignore-scripts --no-audit --no-fund)
duckdb=$(dirname "$(find "$work/npm/node_modules/@duckdb" -name libduckdb.so)")

sh scripts/install-packages.sh python3-venv
/usr/bin/python3 -m venv "$work/python"
"$work/python/bin/pip" download --quiet --disable-pip-version-check --no-deps --only-binary :all: --ignore-requires-python \
  --require-hashes --requirement tools/data/server/drivers/requirements.txt --dest "$work/wheels"
/usr/bin/python3 -m zipfile -e "$work"/wheels/adbc_driver_postgresql-*.whl "$work/postgresql"

rm -rf "$to"
mkdir -p "$to"
cp "$duckdb/libduckdb.so" "$to/"
cp "$duckdb/LICENSE" "$to/LICENSE-duckdb"
cp "$work/postgresql/adbc_driver_postgresql/libadbc_driver_postgresql.so" "$to/"
# Additional libraries of a wheel are in a folder beside the main library, which searches for them there.
for folder in "$work"/postgresql/*.libs; do
  [ ! -d "$folder" ] || cp -r "$folder" "$to/"
done
# The licence file also contains the licences of libpq, OpenSSL, lz4 and zlib, which are part of the library.
cp "$work"/postgresql/adbc_driver_postgresql-*.dist-info/licenses/LICENSE.txt "$to/LICENSE-adbc-driver-postgresql"
cp "$work"/postgresql/adbc_driver_postgresql-*.dist-info/licenses/NOTICE.txt "$to/NOTICE-adbc-driver-postgresql"
chmod 644 "$to"/*.so "$to"/LICENSE-* "$to"/NOTICE-*
