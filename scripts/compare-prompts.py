"""Prints the answers of a model directly and through Parlor. Arguments: the model's base URL, the URLs of a Parlor with a small
and of one with a large window, and files of questions: {"max_tokens", "temperature", "questions": [{"ask", "right"}]}."""

import json
import re
import sys
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path

ONE_LINE = "You are a helpful assistant."
WIDTH = 52

model_url, small, large, *files = sys.argv[1:]


def request(url, body=None):
    data = None if body is None else json.dumps(body).encode()
    asked = urllib.request.Request(url, data, {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(asked, timeout=600) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        # An answer that Parlor ended still has its text.
        return json.load(error)


model = request(f"{model_url}/models")["data"][0]["id"]


def directly(question, settings):
    messages = [{"role": "system", "content": ONE_LINE}, {"role": "user", "content": question}]
    answer = request(f"{model_url}/chat/completions", {"model": model, "messages": messages, **settings})
    return answer["choices"][0]["message"]["content"], answer["usage"]["prompt_tokens"]


def through(parlor, question, settings):
    parameters = {"temperature": settings["temperature"], "max_completion_tokens": settings["max_tokens"]}
    body = {"message": question, "model": f"local/{model}", "parameters": parameters, "diagnostics": True}
    answer = request(f"{parlor}/api/chat/batch", body)
    payload = answer if "message" in answer else answer.get("payload") or {}
    if "message" not in payload:
        sys.exit(f"Parlor gave no answer to {question!r}: {answer}")
    usage = (payload.get("diagnostics") or {}).get("usage") or {}
    return payload["message"], usage.get("input_tokens")


def is_looping(answer):
    """The same five words four times in an answer of 25 words or more."""
    words = answer.lower().split()
    fives = Counter(tuple(words[at : at + 5]) for at in range(len(words) - 4))
    return len(words) >= 25 and max(fives.values()) >= 4


def judged(answer, right):
    if is_looping(answer):
        return "loop"
    return "right" if re.search(right, answer, re.IGNORECASE) else "wrong"


def cell(verdict, answer):
    line = " ".join(answer.split())
    line = line if len(line) <= WIDTH else line[: WIDTH - 1] + "…"
    return f"{verdict:5} {line:{WIDTH}}"


def main():
    settings = {"temperature": 0, "max_tokens": 80}
    print("Prompt tokens of “hi”, as the model's server counts them:")
    print(f"  directly, one line      {directly('hi', settings)[1]}")
    print(f"  Parlor, window 4,096    {through(small, 'hi', settings)[1]}")
    print(f"  Parlor, window 128,000  {through(large, 'hi', settings)[1]}")
    is_worse = False
    for file in files:
        asked = json.loads(Path(file).read_text())
        settings = {"temperature": asked["temperature"], "max_tokens": asked["max_tokens"]}
        counts = [Counter(), Counter()]
        print(f"\n{file}\n{'question':44} {'directly':{WIDTH + 6}} through Parlor")
        for question in asked["questions"]:
            ask, right = question["ask"], question["right"]
            answers = [directly(ask, settings)[0], through(small, ask, settings)[0]]
            verdicts = [judged(answer, right) for answer in answers]
            for count, verdict in zip(counts, verdicts):
                count[verdict] += 1
            print(f"{ask[:44]:44} {cell(verdicts[0], answers[0])} {cell(verdicts[1], answers[1])}".rstrip(), flush=True)
        total = len(asked["questions"])
        for name, count in zip(["directly", "through Parlor"], counts):
            print(f"{name:15} {count['right']} of {total} right, {count['loop']} loops")
        is_worse |= counts[1]["right"] < counts[0]["right"]
    sys.exit("Through Parlor the answers are worse." if is_worse else 0)


main()
