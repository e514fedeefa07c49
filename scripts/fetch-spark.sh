#!/bin/sh
# Fetches Apache Spark and its ADBC driver into a folder, for the soak test of an engine for many machines. The packages and their
# hashes are in tests/databases/soak.txt. Java comes from Debian.
set -eu
cd "$(dirname "$0")/.."

to=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sh scripts/install-packages.sh python3-venv openjdk-17-jre-headless
/usr/bin/python3 -m venv "$work/python"
# Spark is only published as a source archive, of which only the Java archives are used. Its set-up script needs what the environment has.
"$work/python/bin/pip" download --quiet --disable-pip-version-check --no-deps --no-build-isolation --ignore-requires-python \
  --require-hashes --requirement tests/databases/soak.txt --dest "$work/packages"
/usr/bin/python3 -m zipfile -e "$work"/packages/adbc_driver_spark-*.whl "$work/driver"
tar -xzf "$work"/packages/pyspark-*.tar.gz -C "$work" --wildcards 'pyspark-*/deps/jars'

rm -rf "$to"
mkdir -p "$to"
cp "$work/driver/adbc_driver_spark/libadbc_driver_spark.so" "$to/"
mv "$work"/pyspark-*/deps/jars "$to/jars"
