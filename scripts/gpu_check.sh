#!/usr/bin/env bash
# Measure the CTC backends and strict training on this machine's GPU: see scripts/gpu_check.py.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
python=python3
if [ -x "$here/.venv/bin/python" ]; then
    python=$here/.venv/bin/python
fi
export PYTHONPATH="$here${PYTHONPATH:+:$PYTHONPATH}"
exec "$python" "$here/scripts/gpu_check.py" "$@"
