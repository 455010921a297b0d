#!/bin/sh
# Makes a virtual environment and installs the product into it at the versions of constraints.txt, or for its developers
# at those of constraints-dev.txt.
#
#   tools/set_up.sh app     into .venv: what the app needs, and the system libraries of a window
#   tools/set_up.sh dev     into .venv: the tools for tests and checks as well; system libraries for drawing offscreen only
#   tools/set_up.sh wheel   into build/wheel-venv, which is new each time: the wheel in dist/ and what it needs, no extras
#
# PYTHON=python3.12   use this interpreter
# TORCH=cpu, cuda     on Linux: the build of torch; by default the CPU build where there is no NVIDIA driver
# TORCH_INDEX=URL     where the CPU build is, in place of download.pytorch.org
set -eu
cd "$(dirname "$0")/.."
kind=${1:-app}
venv=.venv
pins=constraints.txt
torch_index=${TORCH_INDEX:-https://download.pytorch.org/whl/cpu}

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

has_nvidia_driver() { [ -e /proc/driver/nvidia ] || [ -e /dev/nvidia0 ] || command -v nvidia-smi >/dev/null 2>&1; }

# Whether to install the CPU build, which is on an index of its own; the CUDA build takes gigabytes more.
wants_cpu_torch() {
    [ "$(uname -s)" = Linux ] || return 1
    [ -n "${TORCH:-}" ] || ! has_nvidia_driver || return 1
    [ "${TORCH:-cpu}" = cpu ] || return 1
    installed=$($venv/bin/python -c 'from importlib.metadata import version; print(version("torch"))' 2>/dev/null) || return 0
    ! grep -qx "torch==${installed%+*}" "$pins"
}

# pip would try an index that is out of reach for minutes. An error of TLS is an answer: pip may know the certificate.
answers_soon() {
    $venv/bin/python - "$1" <<'PROBE'
import signal, ssl, sys, urllib.error, urllib.request
signal.alarm(5)  # ends all waiting, that for a name server too
try:
    urllib.request.urlopen(sys.argv[1]).read(1)
except urllib.error.URLError as error:
    sys.exit(not isinstance(error.reason, ssl.SSLError))
PROBE
}

install() {
    quiet=-q
    [ -t 1 ] && quiet=
    # The two variables hold the build's own tools to the same pins: older versions of pip read the first, newer the second.
    # shellcheck disable=SC2086
    PIP_CONSTRAINT=$pins PIP_BUILD_CONSTRAINT=constraints-dev.txt PIP_DISABLE_PIP_VERSION_CHECK=1 \
        $venv/bin/python -m pip install $quiet -c "$pins" "$@"
}

install_cpu_torch() {
    [ -n "${TORCH:-}" ] ||
        say "No NVIDIA driver found: installing the CPU build of torch. For the CUDA build: rm -r $venv; make run TORCH=cuda"
    if ! answers_soon "$torch_index/torch/" 2>/dev/null || ! install --no-deps --index-url "$torch_index" torch; then
        say "No torch from $torch_index: installing the build that pip finds"
    fi
}

install_packages() {
    say "Installing at the versions of $pins; the first time this takes some minutes"
    if wants_cpu_torch; then
        install_cpu_torch
    fi
    # shellcheck disable=SC2086
    install $editable "$what"
}

case ${TORCH:-cpu} in
    cpu | cuda) ;;
    *) stop "There is no build '$TORCH' of torch. Use TORCH=cpu or TORCH=cuda, or leave it out." ;;
esac
case $kind in
    app) screen=window editable=-e what=. ;;
    dev) screen=offscreen editable=-e what=".[dev]" pins=constraints-dev.txt ;;
    wheel)
        screen=offscreen editable='' venv=build/wheel-venv what=$(ls -t dist/augenmerk-*.whl | head -n 1)
        rm -rf $venv
        ;;
    *) stop "tools/set_up.sh was given '$kind'. 'app', 'dev' or 'wheel' was expected." ;;
esac
python=$(find_python) || exit 1
"$python" -P viz_app/system_libraries.py $screen
make_venv
install_packages
touch "$venv/.ready-$kind"
