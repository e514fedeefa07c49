#!/bin/sh
# Measures the release build and prints the tables; with a name (turn, gateway, ask, stream, provider, render, window, audit, memory) only that one.
# The tables of the last full run are kept in benches/RESULTS.md.
set -eu
cd "$(dirname "$0")/.."
exec target/release/bench "$@"
