# Sourced last by ESPnet's path.sh: the project's environment and sclite, where they are.
_project=$(cd "${MAIN_ROOT}" && pwd)
_venv=${CTCREP_VENV:-${_project}/.venv}
if [ -x "${_venv}/bin/python3" ]; then
    export PATH="${_venv}/bin:${PATH}"
fi
if [ -f "${_project}/espnet_ctcrep/__init__.py" ]; then
    # this checkout's code, whichever checkout the environment was made for
    export PYTHONPATH="${_project}${PYTHONPATH:+:${PYTHONPATH}}"
fi
if [ -x /usr/lib/sctk/bin/sclite ]; then
    export PATH="/usr/lib/sctk/bin:${PATH}"
fi
# path.sh sets LC_ALL=C, with which Python would read files as ASCII
export PYTHONUTF8=1
unset _project _venv
