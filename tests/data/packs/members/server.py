#!/usr/bin/env python3
"""A small MCP server behind an address, for tests, with its own sign-in: only who has its token is answered."""
import argparse
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

TOKEN = "members-token"
TOOLS = [{"name": "count", "description": "Counts the members.", "inputSchema": {"type": "object"}}]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def base(self):
        return f"http://127.0.0.1:{self.server.server_port}"

    def do_GET(self):
        url, base = urlsplit(self.path), self.base()
        if url.path == "/.well-known/oauth-protected-resource/mcp":
            return self.answer(200, {"resource": f"{base}/mcp", "authorization_servers": [base]})
        if url.path == "/.well-known/oauth-authorization-server":
            return self.answer(200, {
                "issuer": base, "authorization_endpoint": f"{base}/authorize", "token_endpoint": f"{base}/token",
                "registration_endpoint": f"{base}/register", "code_challenge_methods_supported": ["S256"],
                "response_types_supported": ["code"], "grant_types_supported": ["authorization_code", "refresh_token"],
                "token_endpoint_auth_methods_supported": ["none"],
            })
        if url.path == "/authorize":
            asked = {name: values[0] for name, values in parse_qs(url.query).items()}
            good = asked.get("response_type") == "code" and asked.get("code_challenge_method") == "S256"
            back = {"state": asked["state"], **({"code": "granted"} if good else {"error": "invalid_request"})}
            return self.answer(302, {}, Location=f"{asked['redirect_uri']}?{urlencode(back)}")
        self.answer(405 if url.path == "/mcp" else 404, {})

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        match urlsplit(self.path).path:
            case "/register":
                self.answer(201, {"client_id": "registered", "redirect_uris": json.loads(body)["redirect_uris"]})
            case "/token":
                asked = {name: values[0] for name, values in parse_qs(body.decode()).items()}
                good = asked.get("code") == "granted" and asked.get("code_verifier") and asked.get("resource") == f"{self.base()}/mcp"
                token = {"access_token": TOKEN, "token_type": "Bearer", "expires_in": 3600, "refresh_token": "again"}
                self.answer(*((200, token) if good else (400, {"error": "invalid_grant"})))
            case "/mcp":
                self.speak(json.loads(body))
            case _:
                self.answer(404, {})

    def speak(self, request):
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            where = f'Bearer resource_metadata="{self.base()}/.well-known/oauth-protected-resource/mcp"'
            return self.answer(401, {}, **{"WWW-Authenticate": where})
        if "id" not in request:
            return self.answer(202, {})
        results = {
            "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "members", "version": "1"}},
            "tools/list": {"tools": TOOLS},
            "tools/call": {"content": [{"type": "text", "text": json.dumps({"text": "There are 42 members."})}]},
        }
        result = results.get(request.get("method"))
        body = {"error": {"code": -32601, "message": "unknown method"}} if result is None else {"result": result}
        self.answer(200, {"jsonrpc": "2.0", "id": request["id"], **body})

    def answer(self, status, value, **headers):
        body = json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    ThreadingHTTPServer(("127.0.0.1", parser.parse_args().port), Handler).serve_forever()
