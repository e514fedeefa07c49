"""Services on this computer for the tests, each on a free port that is printed first.

    authority.py stamps FOLDER      a time stamp authority (RFC 3161) by `openssl ts`; makes its keys in FOLDER
    authority.py other FOLDER       the same, but it stamps something else than what it is asked for
    authority.py answers STATUS TEXT    answers every request with this status and text
"""

import http.server
import pathlib
import subprocess
import sys

CONFIG = """
[tsa]
default_tsa = own
[own]
serial = {folder}/serial
crypto_device = builtin
signer_cert = {folder}/tsa.pem
certs = {folder}/ca.pem
signer_key = {folder}/tsa.key
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
accuracy = secs:1
ess_cert_id_alg = sha256
"""


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


def make_keys(folder):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tsa.cnf").write_text(CONFIG.format(folder=folder))
    (folder / "serial").write_text("01")
    usage = folder / "usage.cnf"
    usage.write_text("extendedKeyUsage=critical,timeStamping\n")
    new = ("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc")
    openssl(*new, "-x509", "-subj", "/CN=Test root", "-keyout", folder / "ca.key", "-out", folder / "ca.pem", "-days", 3650)
    openssl(*new, "-subj", "/CN=Test authority", "-keyout", folder / "tsa.key", "-out", folder / "tsa.csr")
    issue = ("x509", "-req", "-in", folder / "tsa.csr", "-CA", folder / "ca.pem", "-CAkey", folder / "ca.key")
    openssl(*issue, "-CAcreateserial", "-days", 3650, "-extfile", usage, "-out", folder / "tsa.pem")


def stamp(folder, query, is_other):
    (folder / "query.tsq").write_bytes(query)
    if is_other:
        openssl("ts", "-query", "-data", folder / "tsa.cnf", "-sha256", "-cert", "-out", folder / "query.tsq")
    openssl("ts", "-reply", "-config", folder / "tsa.cnf", "-queryfile", folder / "query.tsq", "-out", folder / "reply.tsr")
    return (folder / "reply.tsr").read_bytes()


def main(command, *arguments):
    folder = pathlib.Path(arguments[0]).absolute()
    if command != "answers":
        make_keys(folder)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if command == "answers":
                status, answer = int(arguments[0]), arguments[1].encode()
            else:
                status, answer = 200, stamp(folder, body, command == "other")
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    print("listening on http://127.0.0.1:%d" % server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
