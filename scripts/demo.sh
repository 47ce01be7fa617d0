#!/usr/bin/env bash
# The demo: two arms, three replicates each, on spoken sentences in six languages; ends with the report.
set -euo pipefail

cd "$(dirname "$0")/../egs2/ml_superb6/asr1"
exec ./run.sh --plan conf/plans/demo.yaml --corpus demo "$@"
