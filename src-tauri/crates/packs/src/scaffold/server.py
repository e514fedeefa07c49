#!/usr/bin/python3 -u
"""An MCP server over standard input and output, with nothing but Python. For more than this take an SDK: modelcontextprotocol.io"""
import json
import sys

TOOLS = [
    {
        "name": "greet",
        "description": "Greets one person by name.",
        "inputSchema": {"type": "object", "required": ["who"], "properties": {"who": {"type": "string"}}},
    }
]


def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "NAME", "version": "0.1.0"}}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call" and params["name"] == "greet":
        result = {"text": f"Hello, {params['arguments']['who']}!"}
        return {"content": [{"type": "text", "text": json.dumps(result)}], "structuredContent": result}
    return {} if method == "ping" else None


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        result = answer(request["method"], request.get("params") or {})
        body = {"result": result} if result is not None else {"error": {"code": -32601, "message": "not offered"}}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **body}))
