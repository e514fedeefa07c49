#!/usr/bin/env python3
"""Verifies an export of a Countersign audit log, from FORMAT.md alone: python3 verify.py FOLDER

Needs nothing but Python's own library. Prints one JSON document; exit code 0 when the log holds, 5 when it does not, 2 when
called wrongly. "whole" is false for an export of one session or decision: its records are proven to be in the log, but it does
not show whether others were left out, and "anchored" is null there because it is unknown. "unchecked" lists files of the folder that
were not checked: those for people and other programs, and those that no export has.
"""

import base64
import datetime
import hashlib
import json
import os
import re
import stat
import sys

MAX_SAFE = 2**53 - 1
MAX_NUMBER = 2**64 - 1
MAX_LISTED = 100
MAX_LEVELS = 16
MAX_FILE = 256 << 20
MAX_BODY = 1 << 20
MAX_VALUE = 32 << 20
MAX_REVEAL = 2 * (MAX_VALUE + MAX_BODY)
MAX_PROOF = 8 << 10
MAX_RECEIPT = 4 << 20
MAX_DEPTH = 64


class Bad(Exception):
    """A fault of what is being read."""


# --- Ed25519 (RFC 8032), verification only ------------------------------------------------------------------------------

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)


def point_add(a, b):
    x1, y1, z1, t1 = a
    x2, y2, z2, t2 = b
    e1 = (y1 - x1) * (y2 - x2) % P
    e2 = (y1 + x1) * (y2 + x2) % P
    c = 2 * t1 * t2 * D % P
    d = 2 * z1 * z2 % P
    e, f, g, h = e2 - e1, d - c, d + c, e2 + e1
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def point_mul(n, a):
    result = (0, 1, 1, 0)
    while n:
        if n & 1:
            result = point_add(result, a)
        a = point_add(a, a)
        n >>= 1
    return result


def same_point(a, b):
    return (a[0] * b[2] - b[0] * a[2]) % P == 0 and (a[1] * b[2] - b[1] * a[2]) % P == 0


def point_from(data):
    number = int.from_bytes(data, "little")
    sign, y = number >> 255, number & (2**255 - 1)
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT_OF_MINUS_ONE % P
    if (x * x - square) % P:
        return None
    if x == 0 and sign:
        return None
    if x & 1 != sign:
        x = P - x
    return (x, y, 1, x * y % P)


BASE_Y = 4 * pow(5, P - 2, P) % P
BASE = point_from(BASE_Y.to_bytes(32, "little"))


def small_order(point):
    return same_point(point_mul(8, point), (0, 1, 1, 0))


def signature_holds(public, message, signature):
    key, r = point_from(public), point_from(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if key is None or r is None or s >= L or small_order(key) or small_order(r):
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % L
    return same_point(point_mul(s, BASE), point_add(r, point_mul(k, key)))


# --- Canonical JSON -----------------------------------------------------------------------------------------------------

ESCAPES = {code: "\\u%04x" % code for code in range(32)}
ESCAPES.update(str.maketrans({'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}))


def quoted(text):
    return '"' + text.translate(ESCAPES) + '"'


def canonical(value, depth=MAX_DEPTH):
    if depth == 0:
        raise Bad("nested too deeply")
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, list):
        return "[" + ",".join(canonical(item, depth - 1) for item in value) + "]"
    names = sorted(value, key=lambda name: name.encode("utf-16-be"))
    return "{" + ",".join(quoted(name) + ":" + canonical(value[name], depth - 1) for name in names) + "}"


def integer(text):
    number = int(text)
    if abs(number) > MAX_SAFE:
        raise Bad("an integer is too large")
    return number


def refuse(text):
    raise Bad("a number is not an integer")


def unique(pairs):
    result = dict(pairs)
    if len(result) != len(pairs):
        raise Bad("a name occurs twice")
    return result


def parse(line):
    try:
        text = line.decode("utf-8")
        value = json.loads(text, parse_float=refuse, parse_int=integer, parse_constant=refuse, object_pairs_hook=unique)
        again = canonical(value).encode("utf-8")
    except (ValueError, RecursionError) as error:
        raise Bad("not JSON as the format wants it") from error
    if again != line:
        raise Bad("not in canonical form")
    return value


# --- Pieces of the format -----------------------------------------------------------------------------------------------


def sha(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def decode64(text):
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError as error:
        raise Bad("not base64") from error
    if base64.b64encode(data).decode() != text:
        raise Bad("not base64 in its one form")
    return data


def is_hash(text):
    return isinstance(text, str) and re.fullmatch("[0-9a-f]{64}", text) is not None


def is_count(value):
    return isinstance(value, int) and not isinstance(value, bool)


def vkey(origin, public):
    key_id = sha(origin.encode(), b"\n\x01", public)[:4]
    return "%s+%s+%s" % (origin, key_id.hex(), base64.b64encode(b"\x01" + public).decode())


def public_of(origin, text):
    if not isinstance(text, str) or not text.startswith(origin + "+"):
        raise Bad("a key is not written as a vkey of this log")
    data = decode64(text[len(origin) + 10 :])
    public = data[1:]
    point = point_from(public) if len(public) == 32 else None
    if point is None or small_order(point) or vkey(origin, public) != text:
        raise Bad("a key is not written as a vkey of this log")
    return public


INSTANT = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)\.\d{3}Z", re.ASCII)


def check_body(line):
    if len(line) > MAX_BODY:
        raise Bad("too long")
    body = parse(line)
    if not isinstance(body, dict):
        raise Bad("not an object")
    names = set(body)
    required = {"v", "seq", "at", "type", "fields", "commitments", "prev"}
    if not required <= names or not names <= required | {"session", "turn"}:
        raise Bad("its members are not those of a record")
    if not (is_count(body["v"]) and body["v"] == 1 and is_count(body["seq"]) and body["seq"] >= 0):
        raise Bad("not version 1")
    texts = [body["at"], body["type"], body["prev"], body.get("session", ""), body.get("turn", "")]
    if not all(isinstance(text, str) for text in texts):
        raise Bad("a member is not text")
    match = INSTANT.fullmatch(body["at"])
    try:
        datetime.datetime(*(int(part) for part in match.groups()))
    except (AttributeError, ValueError) as error:
        raise Bad("its time is not one") from error
    if not re.fullmatch("[a-z_]+", body["type"]):
        raise Bad("its type is not a name")
    if not isinstance(body["fields"], dict) or not isinstance(body["commitments"], dict):
        raise Bad("fields or commitments are not objects")
    if not all(is_hash(value) for value in body["commitments"].values()):
        raise Bad("a commitment is not a hash")
    return body


def commitment(name, salt, text):
    pointer = "/commitments/" + name.replace("~", "~0").replace("/", "~1")
    return sha(b"\x02", salt, quoted(pointer).encode(), text.encode()).hex()


class Tree:
    """The peaks of the tree, largest first."""

    def __init__(self):
        self.size, self.peaks = 0, []

    def push(self, leaf):
        rest = self.size
        while rest & 1:
            leaf = sha(b"\x01", self.peaks.pop(), leaf)
            rest >>= 1
        self.peaks.append(leaf)
        self.size += 1

    def root(self):
        if not self.peaks:
            return sha(b"")
        root = self.peaks[-1]
        for peak in reversed(self.peaks[:-1]):
            root = sha(b"\x01", peak, root)
        return root


class Note:
    def __init__(self, text):
        match = re.fullmatch("(([^\n]+)\n(0|[1-9][0-9]{0,19})\n([^\n]+)\n)\n\u2014 ([^\n ]+) ([^\n]+)\n", text)
        if match is None:
            raise Bad("not a signed note")
        self.text, self.origin, self.size = match[1], match[2], int(match[3])
        self.root, blob = decode64(match[4]), decode64(match[6])
        if match[5] != self.origin or len(self.root) != 32 or len(blob) != 68 or self.size > MAX_NUMBER:
            raise Bad("not a signed note")
        self.key_id, self.signature = blob[:4], blob[4:]

    def check(self, public):
        if self.key_id != sha(self.origin.encode(), b"\n\x01", public)[:4]:
            raise Bad("signed with another key")
        if not signature_holds(public, self.text.encode(), self.signature):
            raise Bad("the signature does not match")


def pieces_of(text):
    at = 0
    while (end := text.find("\n\n", at)) >= 0:
        yield text[at:end]
        at = end + 2
    yield text[at:]


def split_notes(text):
    pieces = pieces_of(text[:-1] if text.endswith("\n") else "")
    notes, last = {}, -1
    for head in pieces:
        signature = next(pieces, None)
        if signature is None:
            raise Bad("checkpoint.txt is cut")
        whole = head + "\n\n" + signature + "\n"
        size = Note(whole).size
        if size <= last:
            raise Bad("the checkpoints are not in order")
        notes[size], last = whole, size
    return notes


def check_inclusion(index, size, leaf, proof, root):
    if root_of(index, size, leaf, proof) != root:
        raise Bad("the proof leads elsewhere")


def root_of(index, size, leaf, proof):
    if index >= size:
        raise Bad("the record lies outside the tree")
    place, last, value = index, size - 1, leaf
    for step in proof:
        if last == 0:
            raise Bad("the proof is too long")
        if place & 1 or place == last:
            value = sha(b"\x01", step, value)
            while place and not place & 1:
                place, last = place >> 1, last >> 1
        else:
            value = sha(b"\x01", value, step)
        place, last = place >> 1, last >> 1
    if last:
        raise Bad("the proof is too short")
    return value


# --- Keys ---------------------------------------------------------------------------------------------------------------


class Keys:
    """current, anchored, trusted as in FORMAT.md 4."""

    def __init__(self):
        self.state, self.installation = None, None

    @property
    def origin(self):
        return "audit/" + (self.installation or "")

    def step(self, body):
        fields = body["fields"]
        if self.state is None:
            if body["type"] != "log_opened":
                raise Bad("the log does not begin with log_opened")
            self.installation = fields.get("installation")
            if not isinstance(self.installation, str):
                raise Bad("no installation")
        if body["type"] == "log_opened":
            current = public_of(self.origin, fields.get("key"))
            anchored = fields.get("anchored")
            if not isinstance(anchored, bool) or "anchored_key" not in fields:
                raise Bad("no word on the keyring")
            kept = fields["anchored_key"]
            stated = (current, anchored, None if kept is None else public_of(self.origin, kept))
            expected = self.state or (current, anchored, current if anchored else None)
            if stated != expected or fields.get("installation") != self.installation:
                raise Bad("another key or installation than before")
            self.state = stated
        elif body["type"] == "key_rotated":
            self.rotate(body, fields)

    def rotate(self, body, fields):
        current, _, trusted = self.state
        new = public_of(self.origin, fields.get("new_key"))
        if public_of(self.origin, fields.get("old_key")) != current:
            raise Bad("changes from a key that was not in force")
        anchored = fields.get("anchored")
        if not isinstance(anchored, bool):
            raise Bad("no word on the keyring")
        lines = ["countersign audit key rotation v1", self.origin, str(body["seq"]), body["prev"], fields["old_key"], fields["new_key"]]
        text = "".join(line + "\n" for line in lines).encode()

        def signed(name, key):
            try:
                signature = decode64(fields[name])
            except (Bad, KeyError, TypeError):
                return False
            return len(signature) == 64 and signature_holds(key, text, signature)

        if not signed("new_signature", new):
            raise Bad("the new key did not sign the change")
        if anchored and trusted not in (None, new) and not signed("old_signature", trusted):
            raise Bad("the key changes without the old key's signature")
        self.state = (new, anchored, new if anchored else trusted)


# --- The formats of other programs (FORMAT.md 10) -----------------------------------------------------------------------


def regular(path, flags):
    """Opens regular files only: a pipe may never answer, and a device may never end."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise OSError("not a file")
    return os.open(path, flags | os.O_NONBLOCK)


def read_bytes(path, most=MAX_FILE):
    try:
        with open(path, "rb", opener=regular) as file:
            data = file.read(most + 1)
            if len(data) > most:
                raise Bad("%s is too long" % path)
            return data
    except OSError as error:
        raise Bad("%s cannot be read" % path) from error


def cosigned_note(data):
    """The note of a checkpoint that may have the lines of witnesses behind the log's own."""
    try:
        text = data.decode("utf-8")
    except ValueError as error:
        raise Bad("not a signed note") from error
    match = re.fullmatch("(.+?\n\n[^\n]+\n)((?:[^\n]*\n)*)", text, re.DOTALL)
    if match is None:
        raise Bad("not a signed note")
    for line in match[2].split("\n")[:-1]:
        parts = re.fullmatch("\u2014 ([^ ]+) (.+)", line)
        if parts is None or len(decode64(parts[2])) < 5:
            raise Bad("not a signed note")
    return match[1], Note(match[1])


def tile_name(start, index, width):
    groups = ["%03d" % (index % 1000)]
    while index >= 1000:
        index //= 1000
        groups.insert(0, "x%03d" % (index % 1000))
    return start + "/".join(groups) + (".p/%d" % width if width < 256 else "")


class Tiles:
    """The files of a tiled log, made from the records and compared with those in the folder."""

    def __init__(self, folder, notes):
        self.folder, self.faults, self.names = os.path.join(folder, "tiles"), [], {"tiles/checkpoint"}
        self.size, self.seen, self.levels, self.entries = 0, 0, [], []
        try:
            own, note = cosigned_note(read_bytes(os.path.join(self.folder, "checkpoint")))
            if not notes or own != notes[max(notes)]:
                raise Bad("it is not the newest one of checkpoint.txt")
            self.size = note.size
        except Bad as error:
            self.faults.append("tiles/checkpoint: %s" % error)

    def compare(self, name, expected):
        self.names.add("tiles/" + name)
        try:
            if read_bytes(os.path.join(self.folder, name)) != expected:
                raise Bad("it was changed")
        except Bad as error:
            self.faults.append("tiles/%s: %s" % (name, error))

    def bundle(self, index):
        if all(len(entry) < 1 << 16 for entry in self.entries):
            data = b"".join(len(entry).to_bytes(2, "big") + entry for entry in self.entries)
            self.compare(tile_name("tile/entries/", index, len(self.entries)), data)
        self.entries = []

    def push(self, line):
        if self.seen == self.size:
            return
        self.seen += 1
        self.entries.append(line)
        value = sha(b"\x00", line)
        for level in range(64):
            if level == len(self.levels):
                self.levels.append([0, []])
            tile = self.levels[level]
            tile[1].append(value)
            if len(tile[1]) < 256:
                return
            if level == 0:
                self.bundle(tile[0])
            self.compare(tile_name("tile/%d/" % level, tile[0], 256), b"".join(tile[1]))
            tree = Tree()
            for item in tile[1]:
                tree.push(item)
            value = tree.root()
            self.levels[level] = [tile[0] + 1, []]

    def finish(self):
        for level, (index, hashes) in enumerate(self.levels):
            if hashes and level == 0:
                self.bundle(index)
            if hashes:
                self.compare(tile_name("tile/%d/" % level, index, len(hashes)), b"".join(hashes))
        return self.faults


def decimal(text):
    if re.fullmatch("0|[1-9][0-9]{0,19}", text) is None or int(text) > MAX_NUMBER:
        raise Bad("not a number")
    return int(text)


def check_proof_file(data, origin, public, seq):
    """Returns the record that a tlog-proof proves, and the size and root of its tree."""
    try:
        head, checkpoint = data.decode("utf-8").split("\n\n", 1)
    except ValueError as error:
        raise Bad("not a tlog-proof") from error
    lines = head.split("\n")
    if len(lines) < 3 or lines[0] != "c2sp.org/tlog-proof@v1" or lines[1][:6] != "extra " or lines[2][:6] != "index ":
        raise Bad("not a tlog-proof")
    record, index, path = decode64(lines[1][6:]), decimal(lines[2][6:]), [decode64(line) for line in lines[3:]]
    if any(len(value) != 32 for value in path):
        raise Bad("not a tlog-proof")
    note = cosigned_note(checkpoint.encode("utf-8"))[1]
    note.check(public)
    check_inclusion(index, note.size, sha(b"\x00", record), path, note.root)
    if note.origin != origin or index != seq - 1:
        raise Bad("it names another log or record")
    return record, note.size, note.root


def cbor_head(kind, number):
    for size, code in ((1, 24), (2, 25), (4, 26), (8, 27)):
        if number < 24:
            return bytes([kind << 5 | number])
        if number < 1 << 8 * size:
            return bytes([kind << 5 | code]) + number.to_bytes(size, "big")
    raise Bad("not CBOR")


def cbor(value):
    """The deterministic form of a value: None, int, bytes, str, list, dict (in its order), or (tag, value)."""
    if value is None:
        return b"\xf6"
    if isinstance(value, int):
        return cbor_head(0, value) if value >= 0 else cbor_head(1, -1 - value)
    if isinstance(value, bytes):
        return cbor_head(2, len(value)) + value
    if isinstance(value, str):
        return cbor_head(3, len(value.encode())) + value.encode()
    if isinstance(value, list):
        return cbor_head(4, len(value)) + b"".join(cbor(item) for item in value)
    if isinstance(value, dict):
        return cbor_head(5, len(value)) + b"".join(cbor(name) + cbor(item) for name, item in value.items())
    return cbor_head(6, value[0]) + cbor(value[1])


def statement_parts(origin, public, seq):
    thumbprint = sha(cbor({1: 1, -1: 6, -2: public}))
    claims = {1: origin, 2: "record/%d" % seq}
    statement = cbor({1: -8, 3: "application/json", 4: thumbprint, 15: claims})
    return statement, cbor({1: -8, 4: thumbprint, 15: claims, 395: 1})


def path_length(index, size):
    length, last = 0, size - 1
    while last:
        length += index & 1 or index != last
        index, last = index >> 1, last >> 1
    return length


def check_statement(data, origin, public, seq, record):
    """The receipt's tree and path and both signatures are read from their places; all else must be as FORMAT.md says. Returns the
    size and root of the tree."""
    protected, receipt_protected = statement_parts(origin, public, seq)
    start = b"\xd2\x84" + cbor(receipt_protected) + b"\xa1\x19\x01\x8c\xa1\x20\x81"
    place = data.find(start)
    if place < 0:
        raise Bad("not a statement of this log")
    inner = data[place + len(start) :]
    # The proof is a byte string that begins with an array of three and the size of the tree.
    skip = {24: 2, 25: 3}.get(inner[0] & 31, 1) if inner else 0
    size, used = cbor_number(inner[skip + 1 :])
    if not 0 <= seq - 1 < size:
        raise Bad("not a statement of this log")
    count = path_length(seq - 1, size)
    at = skip + 1 + used + len(cbor(seq - 1)) + len(cbor_head(4, count))
    path = [inner[at + 34 * n + 2 : at + 34 * n + 34] for n in range(count)]
    proof = cbor([size, seq - 1, path])
    at = len(cbor(proof)) + 3
    receipt_signature, signature = inner[at : at + 64], data[-64:]
    receipt = cbor((18, [receipt_protected, {396: {-1: [proof]}}, None, receipt_signature]))
    if data != cbor((18, [protected, {394: [receipt]}, record, signature])) or len(receipt_signature) != 64:
        raise Bad("not a statement of this log")
    root = root_of(seq - 1, size, sha(b"\x00", record), path)
    for header, payload, signed in ((receipt_protected, root, receipt_signature), (protected, record, signature)):
        if not signature_holds(public, cbor(["Signature1", header, b"", payload]), signed):
            raise Bad("a signature does not match")
    return size, root


def cbor_number(data):
    code = data[0] if data else 255
    if code < 24:
        return code, 1
    size = {24: 1, 25: 2, 26: 4, 27: 8}.get(code)
    if size is None or len(data) <= size:
        raise Bad("not CBOR")
    return int.from_bytes(data[1 : size + 1], "big"), size + 1


class Receipts:
    """The receipts' faults, and what each of them says of the log: its name, its record and, if it has one, its tree."""

    def __init__(self, folder, origin, key):
        self.folder, self.origin = os.path.join(folder, "receipts"), origin
        self.faults, self.claims, self.leaves, self.roots, self.names = [], [], {}, {}, set()
        if not os.path.isdir(self.folder):
            return
        try:
            self.public = public_of(origin, key[:-1])
        except Bad as error:
            self.faults.append("the receipts: %s" % error)
            return
        for name in sorted(os.listdir(self.folder)):
            match = re.fullmatch("([1-9][0-9]*)\\.(json|tlog-proof|cose)", name)
            if match is None:
                continue
            self.names.add("receipts/" + name)
            try:
                if int(match[1]) > MAX_NUMBER:
                    raise Bad("no record has this number")
                record, tree = self.check(match[1], match[2])
                self.claims.append((name, int(match[1]), sha(b"\x00", record), tree))
                self.leaves[int(match[1])] = None
                if tree:
                    self.roots[tree[0]] = None
            except Bad as error:
                self.faults.append("receipts/%s: %s" % (name, error))

    def check(self, number, ending):
        """Returns the record of a file that holds by itself, and the size and root of its tree."""
        seq, path = int(number), os.path.join(self.folder, number)
        record, tree = read_bytes(path + ".json", MAX_RECEIPT), None
        if ending == "json":
            if check_body(record)["seq"] != seq or not os.path.isfile(path + ".tlog-proof"):
                raise Bad("another record, or its proof is missing")
        elif ending == "cose":
            tree = check_statement(read_bytes(path + ".cose", MAX_RECEIPT), self.origin, self.public, seq, record)
        else:
            proven, *tree = check_proof_file(read_bytes(path + ".tlog-proof", MAX_RECEIPT), self.origin, self.public, seq)
            if proven != record:
                raise Bad("it proves another record")
        return record, tree

    def push(self, leaf, tree):
        """Takes the next record of a whole log, and the tree with it."""
        if tree.size in self.leaves:
            self.leaves[tree.size] = leaf
        if tree.size in self.roots:
            self.roots[tree.size] = tree.root()

    def finish(self):
        for name, seq, leaf, tree in self.claims:
            if self.leaves[seq] != leaf:
                self.faults.append("receipts/%s: records.jsonl has another record, or none" % name)
            elif tree and self.roots[tree[0]] != tree[1]:
                self.faults.append("receipts/%s: its tree is not one of this log" % name)
        return self.faults


# --- Verification -------------------------------------------------------------------------------------------------------


class Figures:
    """The figures of an export of some records: each is the one of its record, and its rows have their hashes."""

    def __init__(self, folder):
        self.faults, self.names, self.lines = [], set(), {}
        self.folder = os.path.join(folder, "data")
        if not os.path.isdir(self.folder):
            return
        try:
            for text in read_text(self.folder, "figures.jsonl").splitlines():
                self.add_line(json.loads(text))
            self.names.add("data/figures.jsonl")
        except (Bad, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            self.faults.append("data/figures.jsonl: %s" % error)

    def add_line(self, line):
        if line["record"] in self.lines:
            raise Bad("record %d is named twice" % line["record"])
        self.lines[line["record"]] = line
        if line.get("left_out") is not None:
            return
        versions = {}
        for source in line["sources"]:
            parts = source["place"]["parts"]
            versions[source["name"]] = source.get("version")
            if source.get("version") != sha(canonical(parts).encode("utf-8")).hex():
                raise Bad("record %d: the parts are not those of the data version" % line["record"])
            for part in parts:
                self.check_file("parts", part["file"], part["hash"])
                for other in part.get("without") or []:
                    if "of" in other:
                        self.check_file("parts", other["of"], other["of"].split(".")[0])
        stated = line["data_version"]
        if stated != versions and [stated] != (list(versions.values()) or [""]):
            raise Bad("record %d: the data version names other sources" % line["record"])
        self.check_file("figures", "%d.csv" % line["record"], line["csv"], False)

    def check_file(self, below, name, wanted, is_proven=True):
        place = "data/%s/%s" % (below, name)
        if os.path.basename(name) != name or name in ("", ".", ".."):
            raise Bad("%s is no name of a file" % place)
        if place in self.names:
            return
        found = hashlib.sha256()
        try:
            with open(os.path.join(self.folder, below, name), "rb", opener=regular) as file:
                while piece := file.read(1 << 20):
                    found.update(piece)
        except OSError as error:
            raise Bad("%s cannot be read" % place) from error
        if found.hexdigest() != wanted:
            raise Bad("%s has another hash" % place)
        if is_proven:
            self.names.add(place)

    def add_value(self, reveal):
        line = self.lines.pop(reveal["seq"], None) if reveal["member"] == "result" else None
        if line is None:
            return
        try:
            result = json.loads(json.loads(reveal["value"]))
            if isinstance(result.get("result"), dict):
                result = result["result"]
            good = result["query"] == line["query_hash"] and result["data_version"] == line["data_version"]
            good = good and result["definitions"] == line["definitions"] and result["sql"] == line["sql"]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            good = False
        if not good:
            self.faults.append("data/figures.jsonl: the figures of record %d are others" % reveal["seq"])

    def finish(self):
        self.faults += ["data/figures.jsonl: the export has no figures of record %d" % seq for seq in self.lines]
        return self.faults


def read_text(folder, name):
    try:
        return read_bytes(os.path.join(folder, name)).decode("utf-8")
    except ValueError as error:
        raise Bad("%s cannot be read" % name) from error


def lines_of(folder, name, most):
    try:
        with open(os.path.join(folder, name), "rb", opener=regular) as file:
            while line := file.readline(most + 1):
                if not line.endswith(b"\n"):
                    raise Bad("%s has a line that is too long" % name if len(line) > most else "%s is cut" % name)
                yield line[:-1]
    except OSError as error:
        raise Bad("%s cannot be read" % name) from error


def is_flat(line):
    """Whether nothing but four members with texts and a number is outside of quotes, so that reading the line takes no more memory
    than its texts."""
    outside = line.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"', 15)[::2]
    return len(outside) == 8 and outside[:5] + outside[6:] == [b"{", b":", b",", b":", b",", b":", b"}"] and len(outside[5]) < 32


def reveals_of(folder):
    for line in lines_of(folder, "reveals.jsonl", MAX_REVEAL):
        if not is_flat(line):
            raise Bad("reveals.jsonl has a line that is no reveal")
        reveal = parse(line)
        good = isinstance(reveal, dict) and set(reveal) == {"member", "salt", "seq", "value"}
        if not (good and is_count(reveal["seq"]) and reveal["seq"] >= 0 and is_hash(reveal["salt"]) and isinstance(reveal["member"], str) and isinstance(reveal["value"], str)):
            raise Bad("reveals.jsonl has a line that is no reveal")
        yield reveal


class Report:
    def __init__(self):
        self.problems, self.records, self.checkpoints, self.root = [], 0, 0, sha(b"")
        self.unknown, self.anchored, self.whole = [], False, True
        self.checked = {"key.vkey", "checkpoint.txt", "records.jsonl", "reveals.jsonl"}
        self.unchecked, self.unchecked_total = [], 0

    def add(self, seq, message):
        self.problems.append({"seq": seq, "message": message})

    def document(self):
        problems = sorted(self.problems, key=lambda p: (p["seq"] is None, p["seq"] or 0))
        return {
            "ok": not problems,
            "records": self.records,
            "checkpoints": self.checkpoints,
            "root": self.root.hex(),
            "whole": self.whole,
            "anchored": self.anchored,
            "unknown_outcomes": [] if problems else self.unknown,
            "unchecked": self.unchecked,
            "unchecked_total": self.unchecked_total,
            "problems": problems,
        }


def verify(folder):
    report = Report()
    try:
        if os.path.exists(os.path.join(folder, "proofs.jsonl")):
            report.whole, report.anchored = False, None
        key, notes = read_text(folder, "key.vkey"), split_notes(read_text(folder, "checkpoint.txt"))
        run = whole if report.whole else partial
        run(folder, key, notes, report)
        if not report.problems:
            names = sorted(files_of(folder, "", MAX_LEVELS) - report.checked)
            report.unchecked, report.unchecked_total = names[:MAX_LISTED], len(names)
    except Bad as error:
        report.add(None, str(error))
    return report.document()


def files_of(folder, start, levels):
    """The names of all files below a folder. Links are listed and not followed."""
    found = set()
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return found
    for entry in entries:
        name = start + os.fsencode(entry.name).decode("utf-8", "replace")
        if entry.is_dir(follow_symlinks=False) and levels > 1:
            found |= files_of(entry.path, name + "/", levels - 1)
        else:
            found.add(name)
    return found


def note_call(calls, body):
    """Keeps the intents without an outcome so far, by call."""
    call = body["fields"].get("call")
    if isinstance(call, str) and body["type"] == "tool_intent":
        calls[call] = body["seq"]
    elif isinstance(call, str) and body["type"] == "tool_outcome":
        calls.pop(call, None)


def whole(folder, key, notes, report):
    tree, keys, prev, signed, calls = Tree(), Keys(), "0" * 64, 0, {}
    reveals = reveals_of(folder)
    reveal = next(reveals, None)
    records = lines_of(folder, "records.jsonl", MAX_BODY)
    tiles = Tiles(folder, notes) if os.path.isdir(os.path.join(folder, "tiles")) else None
    receipts = Receipts(folder, Note(notes[max(notes)]).origin if notes else "", key)
    stopped = False
    while not stopped:
        seq = tree.size + 1
        try:
            line = next(records, None)
            if line is None:
                break
            body = check_body(line)
            if body["seq"] != seq or body["prev"] != prev:
                raise Bad("it does not follow the record before")
            keys.step(body)
        except Bad as error:
            report.add(seq, "record %d: %s" % (seq, error))
            stopped = True
            break
        note_call(calls, body)
        leaf = sha(b"\x00", line)
        tree.push(leaf)
        prev = leaf.hex()
        if tiles:
            tiles.push(line)
        receipts.push(leaf, tree)
        hidden = dict(body["commitments"])
        while reveal is not None and reveal["seq"] == seq:
            expected = hidden.pop(reveal["member"], None)
            if expected != commitment(reveal["member"], bytes.fromhex(reveal["salt"]), reveal["value"]):
                report.add(seq, "record %d: the value of %r is not the recorded one" % (seq, reveal["member"]))
            reveal = next(reveals, None)
        if seq in notes:
            try:
                note = Note(notes.pop(seq))
                if note.origin != keys.origin:
                    raise Bad("it names another log")
                note.check(keys.state[0])
                if note.root != tree.root():
                    raise Bad("the records are not those that were signed")
                report.checkpoints += 1
                signed = seq
            except Bad as error:
                report.add(signed + 1, "the checkpoint over %d records: %s" % (seq, error))
                stopped = True
    report.records, report.root = tree.size, tree.root()
    if keys.state:
        report.anchored = keys.state[1]
    report.unknown = sorted(calls.values())
    if stopped:
        return
    if notes or reveal is not None:
        report.add(tree.size + 1, "a checkpoint or value speaks of a record that is not there")
    if report.checkpoints == 0:
        report.add(1, "no checkpoint signs the records")
    if not report.problems and key != vkey(keys.origin, keys.state[0]) + "\n":
        report.add(1, "key.vkey is not the key that the records name")
    if not report.problems:
        for fault in (tiles.finish() if tiles else []) + receipts.finish():
            report.add(None, fault)
    report.checked |= receipts.names | (tiles.names if tiles else set())


def partial(folder, key, notes, report):
    calls = {}
    if len(notes) != 1:
        raise Bad("there must be one checkpoint")
    note = Note(next(iter(notes.values())))
    if not key.endswith("\n"):
        raise Bad("key.vkey is cut")
    report.root, report.checkpoints = note.root, 1
    public = public_of(note.origin, key[:-1])
    try:
        note.check(public)
    except Bad as error:
        report.add(None, "the checkpoint: %s" % error)
    proofs, reveals, last = lines_of(folder, "proofs.jsonl", MAX_PROOF), reveals_of(folder), 0
    figures = Figures(folder)
    reveal = next(reveals, None)
    for line in lines_of(folder, "records.jsonl", MAX_BODY):
        proof_line = next(proofs, None)
        proof = parse(proof_line) if proof_line is not None else None
        if not isinstance(proof, dict) or set(proof) != {"proof", "seq"} or not is_count(proof["seq"]) or proof["seq"] < 0:
            raise Bad("proofs.jsonl does not fit the records")
        if not isinstance(proof["proof"], list) or not all(is_hash(item) for item in proof["proof"]):
            raise Bad("proofs.jsonl has a line that is no proof")
        seq = proof["seq"]
        try:
            body = check_body(line)
            if body["seq"] != seq or seq <= last:
                raise Bad("out of order")
            check_inclusion(seq - 1, note.size, sha(b"\x00", line), [bytes.fromhex(item) for item in proof["proof"]], note.root)
        except Bad as error:
            report.add(seq, "record %d: %s" % (seq, error))
            return
        note_call(calls, body)
        while reveal is not None and reveal["seq"] == seq:
            if body["commitments"].pop(reveal["member"], None) != commitment(reveal["member"], bytes.fromhex(reveal["salt"]), reveal["value"]):
                report.add(seq, "record %d: the value of %r is not the recorded one" % (seq, reveal["member"]))
            figures.add_value(reveal)
            reveal = next(reveals, None)
        report.records, last = report.records + 1, seq
    if reveal is not None or next(proofs, None) is not None:
        report.add(None, "there are values or proofs for records that are not in the export")
    if report.records == 0:
        report.add(None, "the export has no record")
    report.unknown = sorted(calls.values())
    receipts = Receipts(folder, note.origin, key)
    for fault in receipts.faults + figures.finish():
        report.add(None, fault)
    report.checked |= receipts.names | figures.names | {"proofs.jsonl"}


def main(arguments):
    if len(arguments) != 1 or arguments[0] in ("-h", "--help"):
        print(__doc__, file=sys.stderr)
        return 2
    document = verify(arguments[0])
    # Escapes keep what a file holds from steering the terminal.
    print(json.dumps(document, indent=2))
    return 0 if document["ok"] else 5


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
