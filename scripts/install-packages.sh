#!/bin/sh
# Installs the named Debian packages that are missing. If none is missing, ends quickly and does nothing.
set -eu

if ! command -v dpkg-query >/dev/null; then
  echo "This is not a Debian system. These packages, or what they are called here, have to be installed:"
  echo "  $*"
  exit 0
fi

missing=""
for package in "$@"; do
  status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

echo "Installing:$missing"
as_root=""
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "Run this as root, then start again: apt-get install$missing" >&2; exit 1; }
  as_root="sudo"
fi
# An outdated package list names files that no longer exist, so the list is refreshed first. If the mirror is unreachable, the existing list
# may still work.
$as_root apt-get update --quiet=2 || echo "The package lists could not be refreshed; trying with those that are here."
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive $as_root apt-get install --yes --quiet=2 --no-install-recommends $missing
