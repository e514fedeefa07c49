"""Passes an export to programs that we did not write, and prints what they say as one JSON document.

    check.py tiles FOLDER            aics-tlog: checkpoint, every tile, every entry
    check.py proof FOLDER SEQ        tlog-scales makes the proof from the tiles; aics-tlog verifies ours
    check.py receipt FOLDER SEQ      aics-tlog verifies our proof, without tiles
    check.py statement FOLDER SEQ    scitt-cose: statement and receipt
    check.py cosigned NOTE LOGKEY WITNESSKEY    aics-tlog: a checkpoint with the cosignature of a witness

Exit code 0 when they accept it, 1 when they refuse it.
"""

import base64
import contextlib
import io
import json
import pathlib
import sys

import aics_tlog
import scitt_cose
import tlog_scales.cli


class Refused(Exception):
    """What a program says against the export."""


def log_key(folder):
    return aics_tlog.parse_vkey((folder / "key.vkey").read_text().strip())


def checked(text, key):
    """The checkpoint that a note holds, after aics-tlog verified its signature."""
    result = aics_tlog.verify_checkpoint(aics_tlog.parse_note(text), key)
    if not result.ok:
        raise Refused(str(result))
    return aics_tlog.parse_checkpoint(aics_tlog.parse_note(text).text)


def tiles(folder):
    text = (folder / "tiles/checkpoint").read_text()
    checkpoint = checked(text, log_key(folder))
    reader = aics_tlog.FileSystemTileReader(folder / "tiles")
    report = aics_tlog.audit_tiles(reader, checkpoint.size, checkpoint.root, entries=True)
    records = (folder / "records.jsonl").read_bytes().split(b"\n")
    for index in range(checkpoint.size):
        if aics_tlog.read_entry(reader, index, checkpoint.size) != records[index]:
            raise Refused("entry %d is not the record" % index)
    return {"size": report.size, "tiles": report.tiles, "bundles": report.bundles}


def split_proof(text):
    head, checkpoint = text.split("\n\n", 1)
    header, extra, index, *hashes = head.split("\n")
    if header != "c2sp.org/tlog-proof@v1" or not extra.startswith("extra ") or not index.startswith("index "):
        raise Refused("not a tlog-proof")
    record = base64.b64decode(extra[len("extra ") :], validate=True)
    path = [base64.b64decode(line, validate=True) for line in hashes]
    return record, int(index[len("index ") :]), path, checkpoint


def receipt(folder, seq):
    text = (folder / ("receipts/%s.tlog-proof" % seq)).read_text()
    record, index, path, note = split_proof(text)
    checkpoint = checked(note, log_key(folder))
    if not aics_tlog.verify_leaf_inclusion(record, index, checkpoint.size, path, checkpoint.root):
        raise Refused("the record is not in the tree")
    if json.loads(record)["seq"] != int(seq) or index != int(seq) - 1:
        raise Refused("another record")
    return {"size": checkpoint.size, "index": index}


def proof(folder, seq):
    result = receipt(folder, seq)
    output = io.StringIO()
    sys.argv = ["tlog-tiles", "gen-proof", str(folder / "tiles"), str(int(seq) - 1)]
    with contextlib.redirect_stdout(output):
        tlog_scales.cli.main()
    ours = (folder / ("receipts/%s.tlog-proof" % seq)).read_text().split("\n")
    del ours[1]  # The extra line is ours.
    if "\n".join(ours) != output.getvalue():
        raise Refused("tlog-scales makes another proof: " + output.getvalue())
    return result


def statement(folder, seq):
    data = (folder / ("receipts/%s.cose" % seq)).read_bytes()
    key = (folder / "receipts/key.pem").read_bytes()
    parsed = scitt_cose.parse_signed_statement(data, public_key_pem=key)
    if parsed["signature_verified"] is not True:
        raise Refused("the statement's signature does not hold")
    receipts = scitt_cose.extract_receipts(data)
    if len(receipts) != 1:
        raise Refused("there is not one receipt")
    result = scitt_cose.verify_receipt(receipts[0], leaf_entry_hex=parsed["payload"].hex(), log_public_key_pem=key)
    if not result.ok:
        raise Refused(str(result.errors))
    if parsed["payload"] != (folder / ("receipts/%s.json" % seq)).read_bytes():
        raise Refused("another record")
    names = {"issuer": parsed["issuer"], "subject": parsed["subject"], "content_type": parsed["content_type"]}
    return {**names, "size": result.tree_size, "index": result.leaf_index, "root": result.root}


def cosigned(note, log, witness):
    note = aics_tlog.parse_note(pathlib.Path(note).read_text())
    witness = aics_tlog.parse_vkey(witness)
    policy = aics_tlog.verify_checkpoint(note, aics_tlog.parse_vkey(log), [witness], 1)
    if not policy.ok:
        raise Refused(str(policy))
    return {"size": aics_tlog.parse_checkpoint(note.text).size}


def main(command, *arguments):
    commands = {"tiles": tiles, "proof": proof, "receipt": receipt, "statement": statement, "cosigned": cosigned}
    if command != "cosigned":
        arguments = (pathlib.Path(arguments[0]), *arguments[1:])
    try:
        document = {"ok": True, **commands[command](*arguments)}
    except Exception as error:  # Whatever a foreign program raises is its verdict.
        document = {"ok": False, "error": "%s: %s" % (type(error).__name__, error)}
    print(json.dumps(document))
    return 0 if document["ok"] else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
