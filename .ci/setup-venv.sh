#!/bin/sh
# Make a virtual environment or bring it up to date, and say in plain words what stands in the way.
#
#   .ci/setup-venv.sh VENV CONSTRAINTS [arguments of pip install ...]
#   .ci/setup-venv.sh --is-current VENV     exit status 0 when VENV can be used as it is
#
# PYTHON in the environment names the interpreter to use instead of the first fit one.
set -eu

fail() {
    printf '\n*** The virtual environment %s is not ready.\n' "$venv" >&2
    printf '    %s\n' "$@" >&2
    exit 1
}

# VENV/.ready holds the checkout that VENV was made for: a copied one would test the original.
is_current() {
    [ "$(cat "$venv/.ready" 2>/dev/null)" = "$PWD" ] && "$venv/bin/python" -m pip --version >/dev/null 2>&1
}

is_fit() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

find_python() {
    found=''
    for candidate in ${PYTHON:-python3 python3.13 python3.12 python3.11}; do
        if is_fit "$candidate"; then
            printf '%s\n' "$candidate"
            return
        fi
        version=$("$candidate" --version 2>/dev/null) || version='not there'
        found="$found $candidate ($version),"
    done
    fail 'Python 3.11 or newer is needed, and none of these is fit:' "${found%,}." \
        'Install one, or name it: make PYTHON=/path/to/python3.12'
}

# run pip, keep what it prints in a log, and explain a failure
run_pip() {
    "$venv/bin/python" -m pip install --retries 3 --progress-bar off "$@" >"$log" 2>&1 && return
    tail -n 20 "$log" >&2
    if grep -qE 'NewConnectionError|NameResolution|name resolution|Connect(ion)?Timeout|ReadTimeout|timed out|Max retries|ProxyError|SSLError|CERTIFICATE_VERIFY|Connection refused|unreachable' "$log"; then
        fail 'The package index cannot be reached (see above).' \
            'Check the network, the proxy settings and the configuration of pip, then run it again.'
    elif grep -qE 'No matching distribution|no matching distributions|Could not find a version' "$log"; then
        fail 'The package index has no fitting release of a package that is named above.' \
            "The versions are pinned in $constraints; this Python may be too new for one of them."
    fi
    fail "pip failed (see above; everything it said is in $log)."
}

if [ "$1" = --is-current ]; then
    venv=$2
    is_current
    exit
fi

venv=$1
constraints=$2
shift 2

if is_current; then
    rm "$venv/.ready"
else
    python=$(find_python)
    printf 'Making %s with %s.\n' "$venv" "$("$python" --version)"
    "$python" -m venv --clear "$venv" || fail "$python has no working venv module (see above)." \
        'On Debian and Ubuntu it is a package of its own: apt-get install python3-venv'
fi

log=$venv/setup.log
printf 'Installing into %s what %s pins; the first time takes a minute or two.\n' "$venv" "$constraints"
# The pip that comes with an older Python knows neither --group nor --build-constraint.
run_pip --constraint constraints/latest.txt pip
run_pip --constraint "$constraints" --build-constraint constraints/latest.txt "$@"
printf '%s\n' "$PWD" >"$venv/.ready"
