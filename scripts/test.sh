#!/usr/bin/env bash
# npm test: brings the machine to what the tests need, then runs all of them. Arguments go to vitest.
set -euo pipefail
cd "$(dirname "$0")/.."
node scripts/setup.mjs test
node scripts/bundle.mjs
exec node_modules/.bin/vitest run --reporter=default --reporter=./scripts/skippedReporter.ts "$@"
