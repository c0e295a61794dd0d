#!/usr/bin/env bash
# Asks a question, prints the events of the answer as they come, resumes after a cut, and asks for a summary.
#
#   PARLOR_TOKEN=parlor_… examples/chat.sh "Why is the sky blue?"
#
# PARLOR_URL is the server's URL. On Parlor's own machine no token is needed.
set -euo pipefail

url=${PARLOR_URL:-http://127.0.0.1:7387}
question=${1:?usage: chat.sh QUESTION}
question=${question//\\/\\\\} question=${question//\"/\\\"} question=${question//$'\n'/\\n}
api=(curl --silent --show-error --fail-with-body --no-buffer)
[[ -z ${PARLOR_TOKEN:-} ]] || api+=(--header "Authorization: Bearer $PARLOR_TOKEN")
events=$(mktemp)
trap 'rm -f "$events"' EXIT

send() { # path, body
    "${api[@]}" --header 'Content-Type: application/json' --data-binary "$2" "$url$1"
}
first() { # the first value of a field that is a string
    sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" "$events" | head -n 1
}

send /api/chat/stream "{\"message\":\"$question\"}" | tee "$events" || true
# Without one of these events the stream was cut off: the run continues on the server.
# After one of these statuses nothing follows.
until grep -qE '"type":"(complete|cancelled|error|reset|log_damaged)"|^: status (204|[45])' "$events"; do
    run=$(first expected_assistant_message_id)
    [[ $run ]] || exit 1
    sleep 1
    last=$(sed -n 's/^id: *//p' "$events" | tail -n 1)
    "${api[@]}" --header "Last-Event-ID: $last" --write-out '\n: status %{http_code}\n' \
        "$url/api/runs/$run/events" | tee -a "$events" || true
done

# The batch endpoint waits for the whole answer.
send /api/chat/batch "{\"message\":\"In one sentence?\",\"conversation_id\":\"$(first conversation_id)\"}"
