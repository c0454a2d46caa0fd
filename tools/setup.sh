# Sourced by the other scripts: makes .venv if there is none and installs flagharness into it, once per change of
# what is required. Usage: source tools/setup.sh [extra]      (PYTHON=python3.12 chooses the interpreter)

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

extra="${1:-}"
python="${PYTHON:-python3}"
if ! "$python" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null; then
    echo "error: need Python 3.10 to 3.14; '$python' is $("$python" --version 2>&1 || echo 'not there')." >&2
    echo "       Install one, or name one: PYTHON=python3.12 bash $0" >&2
    exit 1
fi
if [ ! -x .venv/bin/python ] || ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
    echo "Making .venv" >&2
    if ! "$python" -m venv .venv; then
        echo "error: '$python -m venv' failed. On Debian and Ubuntu: apt-get install python3-venv" >&2
        exit 1
    fi
fi

stamp=".venv/.installed-${extra:-core}"
wanted="$(cat pyproject.toml tools/constraints.txt | cksum)"
if [ ! -f "$stamp" ] || [ "$(cat "$stamp")" != "$wanted" ]; then
    echo "Installing flagharness${extra:+[$extra]} and what it needs (about a minute)" >&2
    .venv/bin/python -m pip install --quiet --disable-pip-version-check \
        --constraint tools/constraints.txt --editable ".${extra:+[$extra]}"
    if [ "$extra" = test ]; then
        # Without what it names as dependencies: OpenCV and matplotlib are for its plots, which are not used here.
        .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps lvis==0.5.3
    fi
    printf '%s\n' "$wanted" >"$stamp"
fi
