#!/usr/bin/env python3
"""A small MCP server for tests: it asks the user in the middle of a call. Its tools are described in the words of a file beside it."""
import json
import pathlib
import sys

WORDS = pathlib.Path(__file__).with_name("words.txt")
FORM = {
    "type": "object",
    "required": ["country", "grams"],
    "properties": {
        "country": {"type": "string", "title": "Country", "enum": ["SE", "NO", "JP"], "enumNames": ["Sweden", "Norway", "Japan"]},
        "grams": {"type": "integer", "title": "Weight", "description": "In grams, with the envelope", "minimum": 1, "maximum": 2000},
        "registered": {"type": "boolean", "title": "Registered", "description": "Signed for by the one who gets it", "default": False},
        "note": {"type": "string", "title": "Note for the postman"},
    },
}
QUESTIONS = {
    "price": {"message": "Where does the letter go, and how heavy is it?", "requestedSchema": FORM},
    "terms": {"mode": "url", "elicitationId": "terms", "message": "Please read the terms before you post anything.", "url": "https://post.example/terms"},
}


def tools():
    rows = [line.split(": ", 1) for line in WORDS.read_text().splitlines()]
    return [{"name": name, "description": about, "inputSchema": {"type": "object"}} for name, about in rows]


def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def ask(name):
    """What the user said; messages that come in between are not for now."""
    send(id="question", method="elicitation/create", params=QUESTIONS[name])
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("id") == "question":
            return message.get("result") or {"action": "error"}
    return {"action": "gone"}


def price(said):
    if said["action"] != "accept":
        return f"No price: the question was answered with {said['action']}."
    content = said["content"]
    kind = "registered" if content.get("registered") else "plain"
    return f"A {kind} letter of {content['grams']} g to {content['country']} costs {20 + content['grams']} kr."


def answer(request):
    method, params = request.get("method"), request.get("params") or {}
    if method == "initialize":
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "post", "version": "1"}}
    if method == "tools/list":
        return {"tools": tools()}
    if method == "tools/call":
        said = ask(params["name"])
        text = price(said) if params["name"] == "price" else f"The terms: {said['action']}."
        return {"content": [{"type": "text", "text": json.dumps({"text": text})}]}
    return {} if method == "ping" else None


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        result = answer(request)
        send(id=request["id"], **({"error": {"code": -32601, "message": "unknown method"}} if result is None else {"result": result}))
