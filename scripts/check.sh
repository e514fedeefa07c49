#!/bin/sh
# A fast check during work: formats, lints and tests only code that the changed files affect. "make lint" and "make test" check everything.
# With a commit as argument, checks the changes since that commit; else the uncommitted changes, or the last commit if there are none.
set -eu
cd "$(dirname "$0")/.."
: "${CARGO:=cargo}" "${PROPTEST_RNG_SEED:=1}"
export PROPTEST_RNG_SEED

base=${1:-HEAD}
[ -n "${1:-}" ] || [ -n "$(git status --porcelain)" ] || base=HEAD~1
# New files count as changes. Deleted files are left out, because they cannot be read.
changed=$({ git diff --name-only --diff-filter=d "$base"; git ls-files --others --exclude-standard; } | sort -u)
[ -n "$changed" ] || { echo "Nothing has changed."; exit 0; }

began=$(date +%s)
step() {
  echo "== $* ($(($(date +%s) - began)) s)"
}

# Prints the folder of the crate that a file belongs to, which is the folder of the nearest manifest above the file.
folder_of() {
  folder=$(dirname "$1")
  while [ "$folder" != . ] && ! { [ -f "$folder/Cargo.toml" ] && grep -q '^\[package\]' "$folder/Cargo.toml"; }; do
    folder=$(dirname "$folder")
  done
  echo "$folder"
}

crate_of() {
  sed -n '/^\[package\]/,/^\[/s/^name = "\(.*\)"$/\1/p' "$(folder_of "$1")/Cargo.toml"
}

# Prints the narrowest test that covers a file, as "crate|target|filter": the file's module of a test binary, or else the tests inside the
# crate.
test_of() {
  crate=$(crate_of "$1")
  case $1 in
    tests/journeys/*) ;; # They need the window: see CONTRIBUTING.md.
    */src/*) if [ -f "$(folder_of "$1")/src/lib.rs" ]; then echo "$crate|--lib|"; else echo "$crate|--bins|"; fi ;;
    */tests/*/main.rs) echo "$crate|--test $(basename "$(dirname "$1")")|" ;;
    */tests/*/*.rs)
      below=${1##*/tests/}
      module=${below#*/}
      module=${module%.rs}
      echo "$crate|--test ${below%%/*}|${module%%/*}::" ;;
    */tests/*.rs) echo "$crate|--test $(basename "$1" .rs)|" ;;
    *) echo "$crate|--bins|" ;;
  esac
}

# Joins the modules of one test binary. If one line names no module, the whole binary runs.
join_modules() {
  awk -F'|' '
    { key = $1 "|" $2; if (!(key in modules)) order[++count] = key; modules[key] = modules[key] " " $3; all[key] += $3 == "" }
    END { for (i = 1; i <= count; i++) print order[i] "|" (all[order[i]] ? "" : modules[order[i]]) }'
}

rust=$(echo "$changed" | grep -E '\.rs$' || true)
if [ -n "$rust" ]; then
  crates=$(for file in $rust; do crate_of "$file"; done | sort -u)
  named=$(for crate in $crates; do printf ' --package %s' "$crate"; done)
  step "format of $(echo $crates)"
  # shellcheck disable=SC2086
  $CARGO fmt --check $named
  step "clippy"
  # shellcheck disable=SC2086
  $CARGO clippy --quiet $named --all-targets -- --deny warnings
  for file in $rust; do test_of "$file"; done | sort -u | join_modules | while IFS='|' read -r crate target modules; do
    step "tests of $crate $target$modules"
    # shellcheck disable=SC2086
    $CARGO test --quiet --package "$crate" $target -- $modules < /dev/null
  done
  step "laws"
  $CARGO test --quiet --package kit --test laws
fi

pages=$(echo "$changed" | sed -n 's/^ui\/\(.*\.\(ts\|js\|svelte\)\)$/\1/p')
if [ -n "$pages" ]; then
  cd ui
  step "pages"
  # shellcheck disable=SC2086
  node_modules/.bin/prettier --check $pages
  # shellcheck disable=SC2086
  node_modules/.bin/eslint $pages
  # shellcheck disable=SC2086
  node_modules/.bin/vitest related --run --passWithNoTests $pages
  npm run --silent check
fi
step "done"
