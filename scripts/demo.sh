#!/usr/bin/env bash
# npm run demo: brings the machine to what the demo needs, then runs it. Arguments: --seed N, --null, --keep, --hard, --host NAME, --slowdown PCT.
set -euo pipefail
cd "$(dirname "$0")/.."
node scripts/setup.mjs demo
node scripts/bundle.mjs
exec node dist/demo.mjs "$@"
