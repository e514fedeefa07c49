#!/bin/sh
# Checks whether this commit can be released, and writes the release page from CHANGELOG.md to target/release-page.md. Changes nothing else.
# With --packages it also checks the packages of `make bundle`. With --tag it sets the tag.
set -eu
cd "$(dirname "$0")/.."

packages=false
tag=false
for word in "$@"; do
  case $word in
    --packages) packages=true ;;
    --tag) tag=true ;;
    *) echo "usage: release.sh [--packages] [--tag]" >&2; exit 2 ;;
  esac
done

faults=0
fault() {
  echo "release: $1" >&2
  faults=$((faults + 1))
}

# The first `version` in Cargo.toml is that of the app. Versions of dependencies follow later.
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
window=$(sed -n 's/^  "version": "\(.*\)",$/\1/p' ui/package.json | head -n 1)
name="v$version"
[ "$window" = "$version" ] || fault "ui/package.json has version $window, and Cargo.toml has $version."

# Prints the section of a version, without its heading and without empty lines around it.
section() {
  awk -v heading="## $1" '
    /^## / { inside = ($0 == heading || index($0, heading " ") == 1); next }
    inside { text = text $0 "\n" }
    END { gsub(/^\n+|\n+$/, "", text); if (text != "") print text }' CHANGELOG.md
}
heading=$(grep "^## $version " CHANGELOG.md || true)
page=$(section "$version")
[ -n "$page" ] || fault "CHANGELOG.md has no section \"## $version – DATE\"."
echo "$heading" | grep -qE ' [0-9]{4}-[0-9]{2}-[0-9]{2}$' || fault "The section of $version in CHANGELOG.md has no date."
[ -z "$(section Unreleased)" ] || fault "CHANGELOG.md has changes under \"Unreleased\": move them to a section of the new version."

[ -z "$(git status --porcelain)" ] || fault "There are changes that are not committed."
tagged=$(git rev-parse --quiet --verify "refs/tags/$name^{commit}" || true)
if [ -n "$tagged" ] && [ "$tagged" != "$(git rev-parse HEAD)" ]; then
  fault "The tag $name names another commit: raise the version."
fi

# A pre-release version is written with hyphens in one kind of package and with tildes in the other, so only released versions are packed.
check_package() {
  found=$(find target/release/bundle -name "$1" 2>/dev/null | wc -l)
  [ "$found" -eq 1 ] || fault "target/release/bundle has $found packages \"$1\", and one is expected: run \"make bundle\"."
}
if $packages; then
  check_package "Countersign_${version}_*.deb"
  check_package "Countersign-${version}-*.rpm"
  for file in target/release/bundle/deb/Countersign_"${version}"_*.deb; do
    [ -e "$file" ] || continue
    packed=$(dpkg-deb --field "$file" Version)
    [ "$packed" = "$version" ] || fault "$file says that its version is $packed."
    for program in countersign csign csign-data countersign-gateway countersign-shop; do
      dpkg-deb --contents "$file" | grep -q "/usr/bin/$program\$" || fault "$file has no $program."
    done
    for library in libduckdb.so libadbc_driver_postgresql.so LICENSE-duckdb LICENSE-adbc-driver-postgresql; do
      dpkg-deb --contents "$file" | grep -q "/data-drivers/$library\$" || fault "$file has no $library."
    done
  done
fi

[ "$faults" -eq 0 ] || exit 1
mkdir -p target
printf '%s\n' "$page" > target/release-page.md
echo "Version $version can be released. The page is in target/release-page.md."
if $tag && [ -z "$tagged" ]; then
  git tag --annotate --file=target/release-page.md --cleanup=verbatim "$name"
  echo "The tag $name is set. \"git push origin $name\" publishes it."
elif [ -z "$tagged" ]; then
  echo "The tag $name is not set. \"make release-tag\" sets it."
fi
