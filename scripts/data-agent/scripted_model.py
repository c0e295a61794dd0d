"""A script that plays a model with OpenAI's protocol: it answers three questions with Parlor's tools for databases. What it
says about the numbers it reads from their results. scripted_model.py FILE_FOR_THE_ADDRESS"""

import json
import re
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


def rows(result):
    lines = [line for line in result.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def lost_jobs(results):
    worst = rows(results[-1])
    list_ = "\n".join(f"- {name.replace('_', ' ')}: {change} thousand jobs" for name, change, _ in worst[:5])
    return f"From January to December 2009 these industries lost the most jobs:\n\n{list_}\n\nSource: table `employment` (U.S. BLS)."


def electricity(results):
    table = {(year, source): int(value) for year, source, value in rows(results[2])}
    years = sorted({year for year, _ in table})
    first, last = years[0], years[-1]
    parts = []
    for source in sorted({source for _, source in table}):
        before, after = table[first, source], table[last, source]
        parts.append(f"| {source} | {before:,} | {after:,} | {after / before - 1:+.0%} |")
    head = f"| source | {first} | {last} | change |\n| --- | ---: | ---: | ---: |\n"
    return f"Net generation in Iowa, in thousand MWh:\n\n{head}" + "\n".join(parts) + "\n\nRenewables grew the most."


def wettest(results):
    (month, rain, days), *_ = rows(results[2])
    return f"**Month {month}**: {rain} mm a year on average, on {days} days."


QUERIES = {
    "jobs": (
        [
            ("subject_overview", {}),
            ("table_docs", {"table": "employment"}),
            (
                "sql_query",
                {
                    "query": "SELECT a.industry, b.jobs - a.jobs AS change, round(100.0 * (b.jobs - a.jobs) / a.jobs, 1) AS percent\n"
                    "FROM employment a JOIN employment b ON b.industry = a.industry\n"
                    "WHERE a.month = '2009-01' AND b.month = '2009-12'\n"
                    "  AND a.industry NOT IN ('nonfarm', 'private', 'goods_producing', 'service_providing', 'private_service_providing')\n"
                    "ORDER BY change LIMIT 10"
                },
            ),
        ],
        lost_jobs,
    ),
    "electricity": (
        [
            ("table_docs", {"table": "electricity"}),
            ("view_column_values", {"table": "electricity", "column": "source"}),
            (
                "sql_query",
                {
                    "query": "SELECT year, source, generation FROM electricity\n"
                    "WHERE year IN (SELECT min(year) FROM electricity UNION SELECT max(year) FROM electricity)\nORDER BY year, source"
                },
            ),
        ],
        electricity,
    ),
    "wettest": (
        [
            # The first query has a mistake, which the error explains.
            ("sql_query", {"query": "SELECT month, sum(rain) FROM weather GROUP BY month"}),
            ("table_docs", {"table": "weather"}),
            (
                "sql_query",
                {
                    "query": "SELECT substr(date, 6, 2) AS month, round(sum(precipitation) / count(DISTINCT substr(date, 1, 4)), 1) AS rain_mm,\n"
                    "       round(1.0 * sum(precipitation > 0) / count(DISTINCT substr(date, 1, 4)), 1) AS days\nFROM weather GROUP BY 1 ORDER BY 2 DESC"
                },
            ),
        ],
        wettest,
    ),
}
# With Python, two questions have a chart: a picture, and one that shows its values under the pointer.
CHARTS = {
    "electricity": (
        "generation",
        {
            "code": "import matplotlib.pyplot as plt\n"
            "table = generation.pivot(index='year', columns='source', values='generation')\n"
            "table.T.plot.bar(rot=0, title='Net generation in Iowa, thousand MWh')\n"
            "plt.show()",
            "show": ["table"],
        },
    ),
    "wettest": (
        "rain",
        {
            "code": "import plotly.express as px\n"
            "px.bar(rain.sort_values('month'), x='month', y='rain_mm', hover_data='days', title='Rain in a month, mm')"
        },
    ),
}
HELP = "This is a script and no model: it knows the three questions that the page Data suggests. Connect a model to ask anything."


def next_step(messages, tools):
    """Returns a tool call, or a text."""
    text = lambda message: message["content"] if isinstance(message.get("content"), str) else json.dumps(message.get("content"))
    # The pictures of a tool follow its result, in a message of the user.
    is_question = lambda at: messages[at]["role"] == "user" and messages[at - 1]["role"] != "tool"
    asked = max((at for at in range(len(messages)) if is_question(at)), default=0)
    question = re.sub(r"<!--.*?-->", "", text(messages[asked]), flags=re.S).lower()
    results = [text(message) for message in messages[asked:] if message["role"] == "tool"]
    for word, (calls, answer) in QUERIES.items():
        if word in question:
            if word in CHARTS and "jupyter_notebook" in tools:
                *before, (name, query) = calls
                frame, chart = CHARTS[word]
                calls = [*before, (name, {**query, "df_name": frame}), ("jupyter_notebook", chart)]
            if len(results) < len(calls):
                return calls[len(results)]
            try:
                return answer(results)
            except Exception as error:
                return f"The script did not get the rows that it expected ({error!r}). They are in the table."
    return HELP


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, body, kind):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.send(json.dumps({"object": "list", "data": [{"id": "scripted", "object": "model"}]}).encode(), "application/json")

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        tools = [tool["function"]["name"] for tool in request.get("tools", [])]
        step = next_step(request["messages"], tools) if tools else HELP
        if isinstance(step, tuple):
            name, arguments = step
            call = {"index": 0, "id": f"call_{time.time_ns()}", "type": "function"}
            call["function"] = {"name": name, "arguments": json.dumps(arguments)}
            deltas, reason = [{"role": "assistant", "content": None, "tool_calls": [call]}], "tool_calls"
        else:
            deltas, reason = [{"content": word} for word in re.findall(r"\S+\s*|\s+", step)], "stop"
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for delta in [*deltas, None]:
            choice = {"index": 0, "delta": delta or {}, "finish_reason": None if delta else reason}
            chunk = {"id": "c", "object": "chat.completion.chunk", "model": "scripted", "choices": [choice]}
            self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
            self.wfile.flush()
            time.sleep(0.02)
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
Path(sys.argv[1]).write_text(f"http://127.0.0.1:{server.server_port}/v1")
server.serve_forever()
