#!/bin/sh
# Measures the release build and prints the tables. With a name (turn, gateway, ask, stream, provider, render, window, audit, memory, data),
# prints only that table. The tables of the last full run are kept in benches/RESULTS.md.
set -eu
cd "$(dirname "$0")/.."
exec target/release/bench "$@"
