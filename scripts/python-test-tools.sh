# shellcheck shell=bash
# Sourced by scripts/test, after the other tools: bubblewrap, and an environment for the sessions of Python. Missing ones are
# installed where that is safe.

command -v bwrap >/dev/null || apt_install "bubblewrap, for the tests of Python" bubblewrap || true
command -v bwrap >/dev/null || give_up "bubblewrap is missing, for the tests of Python: install your system's package$how_else"
test_python=target/test-python
if ! cmp -s scripts/test-python.txt "$test_python/installed.txt"; then
    python3 -m venv --clear "$test_python" || { apt_install "Python's venv" python3-venv && python3 -m venv --clear "$test_python"; } ||
        give_up "Python's venv is missing, for the tests of Python: install your system's package$how_else"
    # nbformat checks notebooks. Sessions have to work without it, so it lies where they do not find it.
    { "$test_python/bin/pip" install --quiet --disable-pip-version-check --requirement scripts/test-python.txt &&
        "$test_python/bin/pip" install --quiet --disable-pip-version-check --target "$test_python/nbformat" 'nbformat>=5'; } ||
        give_up "the packages for the tests of Python could not be installed: pip says why above"
    cp scripts/test-python.txt "$test_python/installed.txt"
fi
