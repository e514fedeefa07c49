"""Asks all questions of the blind test unattended, through the real program, and writes a run file for judge.py.

    python run.py CSIGN QUESTIONS RUN [--postgres ADDRESS] [--keep FOLDER]

CSIGN is a development build of `csign` with `csign-data` beside it: only such a build takes its clock from
COUNTERSIGN_TEST_NOW. Each source has a fresh profile of its own, in which its files are imported as a person would.
ADDRESS is a table with the rows of sources/tickets.sql, on a server that asks for no password, such as
postgresql://reader@127.0.0.1:5432/blind?table=public.tickets; without it the tickets are imported from their CSV file.
It must not know how questions are read. `python -m unittest run` tests how answers are read.
"""

import argparse
import datetime as dt
import json
import re
import shlex
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import judge

HERE = Path(__file__).parent
MESSAGES = HERE.parents[1] / "messages"
START = dt.datetime(2026, 11, 30, 8, 0, tzinfo=dt.timezone.utc)  # 09:00 in Stockholm
LIMIT = 300  # seconds for a command

# The tables of a source, if they are not only the one of its name. `product`: questions about the program itself.
TABLES = {"pacing": ["pacing_delivery", "pacing_plan"], "product": ["pacing_delivery", "pacing_plan"]}
# The answers of a person to the questions of an import.
DECISIONS = {"pacing_delivery": ["--answer", "total_rows=keep"], "budget": ["--answer", "period_rows=keep"], "housing": ["--answer", "period_rows=keep"], "orders": ["--zone", "Europe/Stockholm"], "tickets": ["--zone", "Europe/Stockholm"]}

# Texts of the program that are no answers, by the outcome that they mean; the first one that is found counts. A text
# with a reading beside it, such as `data_nearest`, is decided by the text before it.
OUTCOMES = [
    ("ask", "data_several which_one which_thing which_section how_many look_for_what whole_number is_it_this_one ask_again"),
    ("decline", "data_no_forecast data_no_cause data_no_significance data_no_funnel data_no_cohort data_too_long"),
    ("partly", "data_without"),
    ("decline", "data_unknown_words unused_words off_topic cannot_do not_in_handbook unknown_name negated unranked ask_for_change"),
    ("none", "not_understood words_not_understood unfinished tool_off tool_failed no_calls_left nothing_found none_available"),
]


def patterns():
    """Returns the texts of OUTCOMES in all languages as expressions, each with its outcome."""
    found = []
    for outcome, keys in OUTCOMES:
        for path in sorted(MESSAGES.glob("*/offline.json")):
            texts = json.loads(path.read_text(encoding="utf-8"))
            for key in keys.split():
                parts = re.split(r"\{\w+\}", texts[key])
                found.append((outcome, re.compile(".+?".join(re.escape(part) for part in parts))))
    return found


class Profile:
    """A fresh profile with the tables of a source."""

    def __init__(self, program, folder):
        self.program, self.folder, self.began = program, folder, time.monotonic()
        self.files = folder / "files"
        self.files.mkdir(parents=True)

    def environment(self):
        """Returns the environment of a command. No command starts before the end of an earlier one."""
        names = {"HOME": "home", "XDG_DATA_HOME": "share", "XDG_STATE_HOME": "state", "XDG_CONFIG_HOME": "config", "XDG_RUNTIME_DIR": "run"}
        for name in names.values():
            (self.folder / name).mkdir(exist_ok=True)
        now = START + dt.timedelta(seconds=time.monotonic() - self.began)
        fixed = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TZ": "Europe/Stockholm", "SHELL": "/bin/sh"}
        fixed["COUNTERSIGN_TEST_NOW"] = now.isoformat(timespec="milliseconds")
        return {**fixed, **{variable: str(self.folder / name) for variable, name in names.items()}}

    def command(self, *args):
        return [self.program, "--data-dir", str(self.folder / "data"), *args]

    def run(self, command):
        ran = subprocess.run(command, env=self.environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT, text=True)
        return ran.returncode, ran.stdout, ran.stderr

    def must(self, command):
        code, out, errors = self.run(command)
        if code != 0:
            raise RuntimeError(f"{shlex.join(command)} ended with {code}:\n{out}\n{errors}")

    def at_a_terminal(self, *args):
        """Runs a command that only a person at a terminal may give."""
        self.must(["script", "--quiet", "--return", "--flush", "--command", shlex.join(self.command(*args)), "/dev/null"])

    def add(self, table, postgres):
        if table == "tickets" and postgres:
            self.at_a_terminal("data", "add", postgres, "--name", table)
            return
        copy = self.files / f"{table}.csv"
        copy.write_bytes((judge.SOURCES / copy.name).read_bytes())
        self.at_a_terminal("data", "allow", str(self.files))
        self.must(self.command("data", "add", str(copy), "--name", table, "--yes", "--json", *DECISIONS.get(table, [])))

    def ask(self, session, text):
        """Asks a question. Returns the events of its turn."""
        try:
            code, out, errors = self.run(self.command("ask", "--json", "--model", "offline", "--session", session, "--", text))
        except subprocess.TimeoutExpired:
            return [], f"no answer in {LIMIT} seconds"
        events = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
        return events, errors if code else ""


def read_tables(data):
    """Returns the tables in the result of a tool. A chart has its figures inside of it."""
    if isinstance(data, dict) and isinstance(data.get("result"), dict):
        data = data["result"]
    if isinstance(data, dict) and isinstance(data.get("rows"), list) and "columns" in data:
        columns = [one["name"] if isinstance(one, dict) else one for one in data["columns"]]
        return [{"columns": columns, "rows": data["rows"], **({"totals": data["totals"]} if data.get("totals") else {})}]
    tables = []
    for value in data.values() if isinstance(data, dict) else []:
        if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
            columns = [name for name, cell in value[0].items() if not isinstance(cell, (dict, list))]
            tables.append({"columns": columns, "rows": [[row.get(name) for name in columns] for row in value]})
    return tables


def read_answer(question, events, errors, texts):
    """Returns a line of the run file."""
    final = next((event for event in events if event["type"] == "final"), None)
    line = {"id": question["id"], "outcome": "none", "columns": [], "rows": [], "tables": [], "text": errors}
    if final is None:
        return line
    if not final["at"].startswith(START.date().isoformat()):
        raise RuntimeError("The program ignores COUNTERSIGN_TEST_NOW: it is no development build.")
    bodies = [event["item"]["body"] for event in events if event["type"] == "item"]
    results = [body["data"] for body in bodies if body["kind"] == "tool_result" and body["outcome"] == "ok"]
    line["text"] = final["text"]
    line["tables"] = [table for data in results for table in read_tables(data)]
    if line["tables"]:
        line.update(columns=line["tables"][0]["columns"], rows=line["tables"][0]["rows"])
    said = final["text"].replace("*", "").replace("\\", "")
    if final["status"] == "ok":
        outcome = next((outcome for outcome, pattern in texts if pattern.search(said)), "answer")
        # Figures beside a refusal are those of another part of the question.
        line["outcome"] = "partly" if outcome in ("decline", "none") and line["tables"] else outcome
    line["choices"] = [choice["message"] for choice in final.get("choices", [])]
    return line


def session_of(question, by_id):
    """Returns the session of a chain, which its first question names."""
    while question["chain"]:
        question = by_id[question["chain"]]
    return f"blind-{question['id']}"


def run_source(profile, source, questions, by_id, postgres):
    """Asks the questions of a source. Yields a line for each."""
    for table in TABLES.get(source, [source]):
        profile.add(table, postgres)
    texts = patterns()
    for question in questions:
        began = time.monotonic()
        events, errors = profile.ask(session_of(question, by_id), question["text"])
        line = read_answer(question, events, errors, texts)
        line["seconds"] = round(time.monotonic() - began, 2)
        yield line


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("csign", "questions", "run"):
        parser.add_argument(name)
    parser.add_argument("--postgres")
    parser.add_argument("--keep", help="a new folder in which the profiles stay")
    args = parser.parse_args()
    questions = judge.read_questions(args.questions)
    by_id = {question["id"]: question for question in questions}
    program = str(Path(args.csign).resolve())
    with tempfile.TemporaryDirectory() as temporary, open(args.run, "w", encoding="utf-8") as run:
        folder = Path(args.keep or temporary).resolve()
        for source in dict.fromkeys(question["source"] for question in questions):
            profile = Profile(program, folder / source)
            own = [question for question in questions if question["source"] == source]
            for line in run_source(profile, source, own, by_id, args.postgres):
                run.write(json.dumps(line, ensure_ascii=False) + "\n")
                run.flush()
                print(f"{line['id']}: {line['outcome']}", file=sys.stderr)


class Answers(unittest.TestCase):
    def read(self, text, data=None, status="ok"):
        body = {"kind": "tool_result", "outcome": "ok", "data": data}
        events = [{"type": "item", "item": {"body": body}}] if data else []
        final = {"type": "final", "at": "2026-11-30T08:00:01Z", "status": status, "text": text}
        return read_answer({"id": "q1"}, [*events, final], "", patterns())

    def test_the_outcome_is_read_from_the_text_in_each_language(self):
        texts = {"answer": "**12** clicks.", "ask": "Detta kan läsas på flera sätt, med olika siffror. Vilket menar du?",
                 "partly": "Without “current” I can answer: clicks", "none": "Det förstod jag inte.",
                 "decline": "“next year”: figures of the future are not computed. I can answer: clicks"}
        for outcome, text in texts.items():
            self.assertEqual(self.read(text)["outcome"], outcome)
        self.assertEqual(self.read("12", status="error")["outcome"], "none")

    def test_rows_of_queries_charts_and_other_tools_are_read(self):
        data = {"columns": [{"name": "clicks"}], "rows": [[12]], "totals": [[12]]}
        for given in (data, {"kind": "bars", "result": data}):
            self.assertEqual(self.read("12", given)["tables"], [{"columns": ["clicks"], "rows": [[12]], "totals": [[12]]}])
        found = self.read("12", {"campaigns": [{"name": "Oak", "days": [], "spend": 5}]})
        self.assertEqual((found["columns"], found["rows"]), (["name", "spend"], [["Oak", 5]]))

    def test_figures_beside_a_refusal_are_partly_an_answer(self):
        data = {"columns": ["clicks"], "rows": [[12]]}
        self.assertEqual(self.read("12\n\nDet förstod jag inte.", data)["outcome"], "partly")

    def test_the_clock_of_the_program_must_be_that_of_the_test(self):
        with self.assertRaises(RuntimeError):
            read_answer({"id": "q1"}, [{"type": "final", "at": "2026-12-01T08:00:00Z"}], "", [])

    def test_a_chain_has_one_session(self):
        by_id = {"a": {"id": "a", "chain": None}, "b": {"id": "b", "chain": "a"}, "c": {"id": "c", "chain": "b"}}
        self.assertEqual({session_of(one, by_id) for one in by_id.values()}, {"blind-a"})


if __name__ == "__main__":
    main()
