#!/usr/bin/env python3
"""A small web API on this computer, for the pack beside it, the guide and the tests.

It keeps parcels and rooms in memory and forgets them when it ends. Holding a parcel needs `Authorization: Bearer
demo-token`, everything else no key. The same Idempotency-Key never changes anything twice.
"""

import argparse
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

TOKEN = "demo-token"
PARCELS = {
    1001: {"number": 1001, "to": "Ada Lovelace", "status": "on its way", "expected": "2026-11-24", "held": False},
    1002: {"number": 1002, "to": "Grace Hopper", "status": "delivered", "expected": "2026-11-20", "held": False},
    1003: {"number": 1003, "to": "Karen Spärck Jones", "status": "waiting", "expected": "2026-11-27", "held": False},
}
ROOMS = [
    {"name": "Falun", "seats": 4, "screen": True},
    {"name": "Kiruna", "seats": 8, "screen": True},
    {"name": "Ystad", "seats": 2, "screen": False},
]
BOOKED = set()
DONE = {}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path, query = self.parts()
        match path:
            case ["parcels"]:
                wanted = query.get("status", [None])[0]
                self.answer(200, {"items": [p for p in PARCELS.values() if wanted in (None, p["status"])]})
            case ["parcels", number] if number.isdigit() and int(number) in PARCELS:
                self.answer(200, PARCELS[int(number)])
            case ["rooms"]:
                seats = int(query.get("seats", ["0"])[0])
                self.answer(200, {"items": [r for r in ROOMS if r["seats"] >= seats]})
            case _:
                self.answer(404, {"error": "There is no such thing."})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        path, _ = self.parts()
        if path[0] == "parcels" and self.headers.get("Authorization") != f"Bearer {TOKEN}":
            return self.answer(401, {"error": "The key is missing or wrong."})
        key = self.headers.get("Idempotency-Key")
        if key in DONE:
            return self.answer(200, DONE[key])
        match path:
            case ["rooms", name, "bookings"]:
                room = next((r for r in ROOMS if r["name"].lower() == name.lower()), None)
                if room is None:
                    return self.answer(404, {"error": "There is no such room."})
                if room["name"] in BOOKED:
                    return self.answer(409, {"error": "It is taken already."})
                BOOKED.add(room["name"])
                booking = {"room": room["name"], "booked": True}
                if key:
                    DONE[key] = booking
                self.answer(201, booking)
            case ["parcels", number, "hold"] if number.isdigit() and int(number) in PARCELS:
                parcel = PARCELS[int(number)]
                if parcel["status"] == "delivered":
                    return self.answer(409, {"error": "It has been delivered already."})
                parcel.update(held=True, until=body.get("until"))
                if key:
                    DONE[key] = dict(parcel)
                self.answer(200, parcel)
            case _:
                self.answer(404, {"error": "There is no such thing."})

    def parts(self):
        url = urlsplit(self.path)
        return [unquote(part) for part in url.path.strip("/").split("/")], parse_qs(url.query)

    def answer(self, status, value):
        body = json.dumps(value, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=8787)
    server = ThreadingHTTPServer(("127.0.0.1", parser.parse_args().port), Handler)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
