#!/bin/sh
# Checks the scripts of pages with ESLint, Prettier and TypeScript at the versions of package-lock.json. Needs node and npm,
# and the network when that file has changed; without them the checks are skipped, and the last line says so.
#
#   tools/javascript/check.sh         what `make javascript` runs
#   tools/javascript/check.sh fix     corrects what can be corrected automatically
set -eu
cd "$(dirname "$0")"

skip() { echo "Skipped: the checks of JavaScript need $1"; exit; }

command -v npm >/dev/null 2>&1 || skip "node and npm (Debian, Ubuntu: apt-get install nodejs npm)"
if ! cmp -s package-lock.json node_modules/.installed; then
    npm ci --silent --no-audit --no-fund || skip "the packages of tools/javascript/package-lock.json; npm ci failed"
    cp package-lock.json node_modules/.installed
fi
for task in ${*:-lint format types}; do
    npm run --silent "$task"
done
