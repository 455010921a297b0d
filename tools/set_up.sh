#!/bin/sh
# Makes .venv and installs the product into it at the versions of constraints.txt.
#
#   tools/set_up.sh app    what the app needs, and the system libraries of a window
#   tools/set_up.sh dev    the tools for tests and checks as well; system libraries for drawing offscreen only
#
# PYTHON=python3.12   use this interpreter      TORCH=cpu   on Linux: the small build of torch, without CUDA
set -eu
cd "$(dirname "$0")/.."
kind=${1:-app}
venv=.venv

supported='import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))'

say() { printf '%s\n' "$*" >&2; }
stop() { say "$@"; exit 1; }
runs_here() { command -v "$1" >/dev/null 2>&1 && "$1" -c "$supported" >/dev/null 2>&1; }

find_python() {
    for candidate in ${PYTHON:-python3 python3.13 python3.12 python3.11 python}; do
        if runs_here "$candidate"; then
            command -v "$candidate"
            return
        fi
    done
    found=
    for candidate in ${PYTHON:-python3 python}; do
        if command -v "$candidate" >/dev/null 2>&1; then
            found="${found:+$found, }$("$candidate" --version 2>&1) ($(command -v "$candidate"))"
        fi
    done
    say "No suitable Python. Found: ${found:-none}. Python 3.11, 3.12 or 3.13 was expected. Install one of these (Debian,"
    say "Ubuntu: sudo apt-get install -y python3 python3-venv), or name it: make run PYTHON=/path/to/python3.12"
    return 1
}

can_make_venvs() { "$python" -c 'import ensurepip, venv' 2>/dev/null; }

# Debian keeps these two modules in a package of their own; it is installed if that needs no password.
install_venv() {
    venv_package=$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
    as_root=
    if [ "$(id -u)" != 0 ]; then
        sudo -n true 2>/dev/null || return 1
        as_root="sudo -n"
    fi
    command -v apt-get >/dev/null || return 1
    say "Installing $venv_package"
    $as_root apt-get update -q && $as_root apt-get install -q -y --no-install-recommends "$venv_package" && can_make_venvs
}

make_venv() {
    if [ -d $venv ] && runs_here $venv/bin/python && $venv/bin/python -c 'import pip' 2>/dev/null; then
        return
    fi
    can_make_venvs || install_venv || stop "$python cannot make virtual environments. Its modules venv and ensurepip were" \
        "expected. On Debian or Ubuntu, install them with

    sudo apt-get install -y $venv_package

and try again."
    say "Making $venv with $("$python" --version)"
    "$python" -m venv --clear $venv
}

install_packages() {
    case $kind in
        dev) what=".[dev]" ;;
        *) what="." ;;
    esac
    torch_index=
    [ "${TORCH:-}" = cpu ] && torch_index="--extra-index-url https://download.pytorch.org/whl/cpu"
    quiet=-q
    [ -t 1 ] && quiet=
    say "Installing at the versions of constraints.txt; the first time this takes some minutes"
    # The two variables hold the build's own tools to the same pins: older versions of pip read the first, newer the second.
    # shellcheck disable=SC2086
    PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 \
        $venv/bin/python -m pip install $quiet $torch_index -c constraints.txt -e "$what"
}

case $kind in
    app) screen=window ;;
    dev) screen=offscreen ;;
    *) stop "tools/set_up.sh was given '$kind'. 'app' or 'dev' was expected." ;;
esac
python=$(find_python) || exit 1
"$python" -P viz_app/system_libraries.py $screen
make_venv
install_packages
touch "$venv/.ready-$kind"
