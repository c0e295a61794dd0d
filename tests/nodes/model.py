"""A model server that counts, and a PubMed with a few articles: what nodes call, on the host of the clients.

An answer to "count 200 at 5" is the numbers from 0 to 199 with the time of each, five a second: `17@1795303336000000 `. If an answer was cut off,
it goes on with the next number after the last one that the request has. So an answer is whole if each number is in it once, in order."""

import asyncio
import json
import re
import time

PMIDS = range(1001, 1009)

NUMBER = re.compile(r"(\d+)@\d{16} ")


def now_micros():
    return time.time_ns() // 1000


class ModelServer:
    def __init__(self):
        # The number of calls for each question that counts.
        self.calls = {}

    async def start(self, address, port):
        return await asyncio.start_server(self.serve, address, port)

    async def serve(self, reader, writer):
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            method, target, _ = head.split(" ", 2)
            length = re.search(r"(?i)content-length: (\d+)", head)
            body = await reader.readexactly(int(length[1])) if length else b""
            await self.answer(method, target, body, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            # A node that was killed or has stopped its call.
            pass
        finally:
            writer.close()

    async def answer(self, method, target, body, writer):
        path = target.partition("?")[0]
        if path.endswith("/models"):
            return await send(writer, "application/json", json.dumps({"data": [{"id": "count", "object": "model"}]}))
        if path.endswith("/chat/completions"):
            return await self.complete(json.loads(body), writer)
        if path.startswith("/eutils/"):
            return await send(writer, *pubmed(path))
        await send(writer, "text/plain", "not here", "404 Not Found")

    async def complete(self, request, writer):
        messages = [(message["role"], text_of(message)) for message in request["messages"]]
        asked = "\n".join(text for role, text in messages if role == "user")
        count = re.search(r"count (\d+) at ([\d.]+) of (\S+)", asked)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        if count:
            await self.count(int(count[1]), float(count[2]), count[3], messages, writer)
        else:
            await asyncio.sleep(0.5)
            await send_delta(writer, article_answer(asked))
        await send_delta(writer, "", "stop")
        writer.write(b"data: [DONE]\n\n")
        await writer.drain()

    async def count(self, numbers, rate, question, messages, writer):
        self.calls[question] = self.calls.get(question, 0) + 1
        written = "".join(text for role, text in messages if role == "assistant")
        found = NUMBER.findall(written + " ")
        first = int(found[-1]) + 1 if found else 0
        # The space at the end is not stored before the text that follows it.
        space = " " if written and not written.endswith(" ") else ""
        begin = time.monotonic()
        for number in range(first, numbers):
            await asyncio.sleep(max(0, begin + (number - first) / rate - time.monotonic()))
            await send_delta(writer, f"{space}{number}@{now_micros()} ")
            space = ""


def text_of(message):
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def article_answer(asked):
    """Returns one answer for every question about articles."""
    pmid = int((re.search(r"PMID (\d+)\n", asked) or [0, PMIDS[0]])[1])
    passage = f"rises by {pmid} grams"
    answer = {"relevant": pmid % 4 != 0, "reason": "It is about salt.", "category": None}
    answer["answers"] = [{"name": "Amount", "value": pmid, "passage": passage}]
    answer["claims"] = [{"text": "Salt rises.", "pmid": pmid, "passage": passage}]
    return json.dumps(answer)


def pubmed(path):
    ids = [str(pmid) for pmid in PMIDS]
    if path.endswith("esearch.fcgi"):
        return "application/json", json.dumps({"esearchresult": {"count": str(len(ids)), "idlist": ids}})
    if path.endswith("esummary.fcgi"):
        article = lambda pmid: {"title": f"Tides {pmid}", "authors": [], "source": "J", "pubdate": "2024"}
        return "application/json", json.dumps({"result": {"uids": ids, **{pmid: article(pmid) for pmid in ids}}})
    article = (
        "<PubmedArticle><MedlineCitation><PMID>{0}</PMID><Article><Abstract><AbstractText>Salt rises by {0} grams."
        "</AbstractText></Abstract></Article></MedlineCitation></PubmedArticle>"
    )
    return "text/xml", f"<PubmedArticleSet>{''.join(article.format(pmid) for pmid in ids)}</PubmedArticleSet>"


async def send(writer, kind, text, status="200 OK"):
    body = text.encode()
    writer.write(f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
    await writer.drain()


async def send_delta(writer, text, reason=None):
    delta = {"content": text} if text else {}
    chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "count", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
    writer.write(f"data: {json.dumps(chunk)}\n\n".encode())
    await writer.drain()
