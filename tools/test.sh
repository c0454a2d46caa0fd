#!/usr/bin/env bash
# Everything that has to hold: lint, types, tests. Installs into .venv first. Arguments go to pytest.
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh" test

export HF_HUB_OFFLINE=1
.venv/bin/ruff check .
.venv/bin/ruff format --check .
.venv/bin/mypy
.venv/bin/python -m pytest "$@"
