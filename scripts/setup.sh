#!/usr/bin/env bash
# Makes the environment, fetches ESPnet and links it: all that the other targets need.
#
#   PYTHON       the Python to make the environment with (3.12 or 3.13); default: searched for
#   CTCREP_VENV  the environment's folder, which several checkouts may share; default: .venv
#   ESPNET_ROOT  an ESPnet tree to use; default: the one in use, else fetched to tools/espnet
#
# Relative paths are relative to the project. A second call takes well under a second; a call
# after an interruption repairs what was left.
set -euo pipefail

fail() {
    echo "error: $*" >&2
    exit 1
}

project=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
case ${project} in
    *[[:space:]]*) fail "the project lies in '${project}', and ESPnet's scripts stop at a space in a path; move it to a folder without one" ;;
esac

venv=${CTCREP_VENV:-.venv}
case ${venv} in
    /*) ;;
    *) venv=${project}/${venv} ;;
esac

# Prints "3.12 whole" or "3.12 bare" (without venv or ensurepip); fails if $1 does not run: the
# shims that pyenv puts on the PATH exist for each version, whether or not it is chosen.
version_of() {
    "$1" -c '
import sys
from importlib.util import find_spec
whole = find_spec("venv") and find_spec("ensurepip")
print(f"{sys.version_info[0]}.{sys.version_info[1]}", "whole" if whole else "bare")
' </dev/null 2>/dev/null
}

candidates() {
    local name version
    for name in python3.12 python3.13 python3; do
        type -ap "${name}" || true
    done
    for version in 3.12 3.13; do
        ls -d "${UV_PYTHON_INSTALL_DIR:-${HOME:-}/.local/share/uv/python}"/cpython-"${version}"*/bin/python3 2>/dev/null || true
        if command -v uv >/dev/null; then
            uv python find --no-python-downloads "${version}" 2>/dev/null || true
        fi
    done
    for version in 3.12 3.13; do
        ls -d "${PYENV_ROOT:-${HOME:-}/.pyenv}"/versions/"${version}"*/bin/python3 2>/dev/null || true
    done
}

find_python() {
    local candidate bare=
    while read -r candidate; do
        case $(version_of "${candidate}") in
            "3.12 whole" | "3.13 whole")
                echo "${candidate}"
                return
                ;;
            "3.12 bare" | "3.13 bare") bare=${candidate} ;;
        esac
    done < <(candidates)
    fail "no Python 3.12 or 3.13 ${bare:+with venv }was found${bare:+ (${bare} lacks it; on Debian and Ubuntu it is in the package python3.12-venv or python3.13-venv)}; install one, for example with 'uv python install 3.12' or 'pyenv install 3.12', or name one: PYTHON=/path/to/python3.12"
}

if [ -n "${PYTHON:-}" ]; then
    case $(version_of "${PYTHON}") in
        "3.12 whole" | "3.13 whole") python=${PYTHON} ;;
        "3.12 bare" | "3.13 bare") fail "PYTHON=${PYTHON} has no venv and ensurepip; install them (Debian: python3.12-venv) or name another Python" ;;
        "") fail "PYTHON=${PYTHON} does not run; name a Python 3.12 or 3.13, or unset PYTHON" ;;
        *) fail "PYTHON=${PYTHON} is Python $(version_of "${PYTHON}" | cut -d' ' -f1), and ESPnet needs 3.12 or 3.13; name one of these, or unset PYTHON" ;;
    esac
else
    # the environment's own Python spares the search
    case $(version_of "${venv}/bin/python") in
        "3.12 whole" | "3.13 whole") python=${venv}/bin/python ;;
        *) python=$(find_python) ;;
    esac
fi

exec "${python}" "${project}/scripts/setup" "${project}" "${venv}"
