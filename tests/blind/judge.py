"""Judges a run of the blind test. README.md explains the files and the verdicts.

    python judge.py fill QUESTIONS                  computes `values` from `sql` over sources/ and checks the file
    python judge.py judge QUESTIONS RUN [--json] [--gate]
    python -m unittest judge                        tests of the judge

`fill` needs DuckDB's package, in the version of benches/duckdb/requirements.txt. `--gate` ends with 1 unless no answer
is wrong and at least 80 % of the answerable questions are answered. It must not know how answers are made.
"""

import argparse
import json
import math
import re
import sys
import unittest
from pathlib import Path

SOURCES = Path(__file__).parent / "sources"
VERDICTS = ["right", "wrong", "partly", "refused"]
LABELS = ["answer", "ask", "decline"]
GROUPS = ["label", "source", "language", "kind", "chain"]
TOLERANCE = 0.005


# Figures


def number(cell):
    """Returns a cell as a number, or None. Large numbers arrive as texts."""
    if isinstance(cell, bool) or cell is None:
        return None
    try:
        found = float(cell)
    except (TypeError, ValueError):
        return None
    return found if math.isfinite(found) else None


def is_close(expected, found, tolerance):
    """Whether two numbers agree. Counts agree exactly unless the reading has a tolerance of its own."""
    if tolerance is None and isinstance(expected, int):
        return abs(found - expected) < 1e-6
    limit = TOLERANCE if tolerance is None else tolerance
    cents = 0.005000001 if abs(expected) >= 1 else 0
    return abs(found - expected) <= max(limit * abs(expected), cents, 1e-9)


def folded(text):
    """Returns a text without differences of case and of spaces."""
    return " ".join(str(text).split()).casefold()


def has_words(words, text):
    return re.search(rf"(?<!\w){re.escape(folded(words))}(?!\w)", folded(text)) is not None


def plain(cell):
    """Returns a cell without differences of case, of spaces, and of how a day, a month or a flag is written."""
    text = folded(cell)
    text = re.sub(r"[t ]00:00(:00)?$", "", text)
    text = {"yes": "true", "ja": "true", "no": "false", "nej": "false"}.get(text, text)
    return re.sub(r"^(\d{4}-\d\d)$", r"\1-01", text)


def same_cell(expected, cell, accepted):
    value = number(expected) if not isinstance(expected, str) else None
    if expected is None:
        return cell is None or cell == ""
    if value is None:
        return plain(expected) == plain(cell)
    found = number(cell)
    parts = [expected, expected * 100] if accepted.get("percent") else [expected]
    return found is not None and any(is_close(part, found, accepted.get("tolerance")) for part in parts)


def assign(left, right, fits):
    """Whether each element of `left` has an element of `right` of its own that fits (Kuhn's matching)."""
    owner = {}

    def place(item, seen):
        for at in range(len(right)):
            if at not in seen and fits(left[item], right[at]):
                seen.add(at)
                if at not in owner or place(owner[at], seen):
                    owner[at] = item
                    return True
        return False

    return all(place(item, set()) for item in range(len(left)))


def same_rows(expected, rows, accepted):
    """Whether rows have the expected ones and no others. Columns may be in any order, and there may be more of them."""
    def fits(row, found):
        return assign(row, found, lambda one, other: same_cell(one, other, accepted))

    if is_empty(expected):
        return is_empty(rows)
    if len(expected) != len(rows):
        return False
    if accepted.get("ordered"):
        return all(fits(*pair) for pair in zip(expected, rows))
    return assign(expected, rows, fits)


def is_empty(rows):
    """Whether rows have no figure: there are none, or a sum over none is null."""
    return all(cell is None for row in rows for cell in row)


def numbers_in(text):
    """Returns the numbers of an answer's first paragraph, read with a decimal point and with a comma.

    If parts of it are bold, these are the answer, and other numbers may be days or names.
    """
    first = text.strip().split("\n\n")[0]
    found = []
    for token in re.findall(r"\d[\d\s.,\u00a0\u202f']*", " | ".join(re.findall(r"\*\*(.+?)\*\*", first)) or first):
        token = re.sub(r"[\s\u00a0\u202f']", "", token).rstrip(".,")
        for decimal, group in [(".", ","), (",", ".")]:
            value = number(token.replace(group, "").replace(decimal, "."))
            found += [] if value is None else [value]
    return found


def says(expected, text, accepted):
    """Whether the answer says a single figure in words. The direction of a change is a word there."""
    if len(expected) != 1 or len(expected[0]) != 1 or number(expected[0][0]) is None or isinstance(expected[0][0], str):
        return False
    size = abs(expected[0][0])
    return any(same_cell(size, found, accepted) for found in numbers_in(text))


# Verdicts


def tables_of(run):
    """Returns the rows of each result, and its totals as a result of their own."""
    tables = run.get("tables") or ([{"rows": run["rows"]}] if run.get("rows") is not None else [])
    return [rows for table in tables for rows in (table.get("rows", []), table.get("totals")) if rows is not None]


def has_figure(expected, run, accepted):
    tables = tables_of(run)
    return any(same_rows(expected, rows, accepted) for rows in tables) or says(expected, run.get("text") or "", accepted)


def is_accepted(accepted, run):
    """Whether an answer has all figures and all words of a reading."""
    says_words = all(has_words(words, run.get("text") or "") for words in accepted.get("text", []))
    return says_words and all(has_figure(expected, run, accepted) for expected in accepted.get("values", []))


def has_any_part(question, run):
    """Whether an answer to a part of the question has the figures of a reading."""
    parts = [(expected, accepted) for accepted in question["accepted"] for expected in accepted.get("values", [])]
    return any(has_figure(expected, run, accepted) for expected, accepted in parts)


def verdict(question, run):
    """Returns the verdict: a figure outside of the accepted readings is wrong under each label."""
    label, outcome = question["label"], run["outcome"]
    if outcome == "answer":
        return "right" if any(is_accepted(one, run) for one in question["accepted"]) else "wrong"
    if outcome == "partly" and any(tables_of(run)) and not has_any_part(question, run):
        return "wrong"
    if outcome == label or (label, outcome) == ("decline", "partly"):
        return "right"
    return "partly" if outcome == "partly" else "refused"


# Counts


def wilson(count, total):
    """Returns the bounds of a proportion with 95 % confidence, by Wilson."""
    if total == 0:
        return 0.0, 1.0
    z, part = 1.959964, count / total
    middle = part + z * z / (2 * total)
    reach = z * math.sqrt(part * (1 - part) / total + z * z / (4 * total * total))
    scale = 1 + z * z / total
    return max(0.0, (middle - reach) / scale), min(1.0, (middle + reach) / scale)


def count(judged):
    """Returns the counts of verdicts with their bounds."""
    total = len(judged)
    counts = {name: sum(found == name for _, found in judged) for name in VERDICTS}
    return {"questions": total, **{name: {"count": n, "bounds": wilson(n, total)} for name, n in counts.items()}}


def judge(questions, runs):
    """Returns the counts of all questions and of each group. A question without a run has no answer."""
    by_id = {run["id"]: run for run in runs}
    strange = set(by_id) - {question["id"] for question in questions}
    if strange or len(by_id) != len(runs):
        raise ValueError(f"the run has unknown or repeated questions: {sorted(strange)}")
    judged = [(one, verdict(one, by_id.get(one["id"], {"outcome": "none"}))) for one in questions]
    report = {"all": count(judged), "answerable": count([pair for pair in judged if pair[0]["label"] == "answer"])}
    for group in GROUPS:
        def value(question):
            return ("follow-up" if question["chain"] else "first") if group == "chain" else question[group]

        names = sorted({value(question) for question in questions})
        report[group] = {name: count([pair for pair in judged if value(pair[0]) == name]) for name in names}
    report["verdicts"] = {question["id"]: found for question, found in judged}
    return report


def is_passed(report):
    answered = report["answerable"]
    return report["all"]["wrong"]["count"] == 0 and answered["right"]["count"] >= 0.8 * answered["questions"]


def show(report):
    """Prints the counts as a table."""
    def line(name, counts):
        cells = [f"{counts[one]['count']:5} ({counts[one]['bounds'][0]:4.0%} to {counts[one]['bounds'][1]:4.0%})" for one in VERDICTS]
        print(f"{name:28} {counts['questions']:5} " + " ".join(cells))

    print(f"{'':28} {'all':>5} " + " ".join(f"{name:>20}" for name in VERDICTS))
    line("all", report["all"])
    line("answerable", report["answerable"])
    for group in GROUPS:
        for name, counts in report[group].items():
            line(f"{group} {name}", counts)
    for found in ["wrong", "partly", "refused"]:
        print(f"{found}: " + " ".join(name for name, one in report["verdicts"].items() if one == found))


# Questions


def check(questions):
    """Raises an error if the questions do not have the format of README.md."""
    known = {}
    for one in questions:
        missing = {"id", "source", "language", "chain", "text", "kind", "label", "accepted"} - set(one)
        before = known.get(one.get("chain"))
        if missing or one["id"] in known or one["label"] not in LABELS:
            raise ValueError(f"{one.get('id')}: missing {sorted(missing)}, a repeated id, or an unknown label")
        if one["chain"] and (before is None or before["source"] != one["source"]):
            raise ValueError(f"{one['id']}: the question before it must stand above, with the same source")
        if one["label"] == "answer" and not one["accepted"]:
            raise ValueError(f"{one['id']}: an answerable question needs a reading")
        if any("sql" not in reading and not reading.get("text") for reading in one["accepted"]):
            raise ValueError(f"{one['id']}: a reading needs `sql` or `text`")
        known[one["id"]] = one


def connect():
    """Returns DuckDB with the file of each table as a table."""
    import duckdb

    database = duckdb.connect()
    for path in sorted(SOURCES.glob("*.csv")):
        reading = ", delim=';', decimal_separator=','" if path.stem == "housing" else ", delim=','"
        database.sql(f"CREATE TABLE {path.stem} AS FROM read_csv('{path}', header=true, sample_size=-1{reading})")
    return database


def as_cell(value):
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else float(value)


def fill(questions):
    """Computes the values of each reading: a list of rows for each of its queries."""
    database = connect()
    for question in questions:
        for reading in question["accepted"]:
            queries = reading.get("sql", [])
            queries = [queries] if isinstance(queries, str) else queries
            results = [database.sql(query).fetchall() for query in queries]
            reading["values"] = [[[as_cell(cell) for cell in row] for row in rows] for rows in results]


def read_questions(path):
    questions = json.loads(Path(path).read_text(encoding="utf-8"))
    check(questions)
    return questions


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    filling = commands.add_parser("fill")
    judging = commands.add_parser("judge")
    for one in (filling, judging):
        one.add_argument("questions")
    judging.add_argument("run")
    judging.add_argument("--json", action="store_true")
    judging.add_argument("--gate", action="store_true")
    args = parser.parse_args()
    questions = read_questions(args.questions)
    if args.command == "fill":
        fill(questions)
        text = json.dumps(questions, ensure_ascii=False, indent=2) + "\n"
        Path(args.questions).write_text(text, encoding="utf-8")
        return 0
    lines = Path(args.run).read_text(encoding="utf-8").splitlines()
    report = judge(questions, [json.loads(line) for line in lines if line.strip()])
    print(json.dumps(report, indent=2)) if args.json else show(report)
    return 0 if is_passed(report) or not args.gate else 1


# Tests


def asked(label="answer", accepted=None, **more):
    base = {"id": "q1", "source": "ads", "language": "en", "chain": None, "text": "?", "kind": "total", "label": label}
    return {**base, "accepted": accepted or [], **more}


def answered(rows=None, text="", **more):
    return {"id": "q1", "outcome": "answer", "rows": rows, "text": text, **more}


class Figures(unittest.TestCase):
    def test_counts_are_exact_and_amounts_have_a_tolerance(self):
        self.assertTrue(same_rows([[12345]], [["12345"]], {}))
        self.assertFalse(same_rows([[12345]], [[12346]], {}))
        self.assertTrue(same_rows([[12345.67]], [[12346]], {}))
        self.assertFalse(same_rows([[12345.67]], [[12445.67]], {}))
        self.assertTrue(same_rows([[12345]], [[12346]], {"tolerance": 0.001}))

    def test_a_lost_cent_is_wrong(self):
        self.assertFalse(same_rows([[0.49]], [[0]], {}))
        self.assertTrue(same_rows([[0.0]], [[0]], {}))

    def test_columns_may_be_added_and_moved_but_rows_may_not_be_added(self):
        expected = [["Sweden", 10], ["Norway", 20]]
        self.assertTrue(same_rows(expected, [[20, "norway", "x"], [10, "Sweden", None]], {}))
        self.assertFalse(same_rows(expected, [["Sweden", 20], ["Norway", 10]], {}))
        self.assertFalse(same_rows(expected, [["Sweden", 10], ["Norway", 20], ["Finland", 5]], {}))

    def test_the_order_counts_only_if_the_reading_says_so(self):
        expected, rows = [["b", 2], ["a", 1]], [["a", 1], ["b", 2]]
        self.assertTrue(same_rows(expected, rows, {}))
        self.assertFalse(same_rows(expected, rows, {"ordered": True}))

    def test_months_and_days_agree_in_each_way_of_writing(self):
        self.assertTrue(same_rows([["2026-11-01", 5]], [["2026-11", 5]], {}))
        self.assertTrue(same_rows([["2026-11-01T00:00:00", 5]], [["2026-11-01", 5]], {}))
        self.assertFalse(same_rows([["2026-11-01", 5]], [["2026-10", 5]], {}))

    def test_shares_may_be_percent(self):
        self.assertTrue(same_rows([[0.646]], [[64.6]], {"percent": True}))
        self.assertFalse(same_rows([[0.646]], [[64.6]], {}))

    def test_no_rows_and_a_sum_over_no_rows_are_the_same(self):
        self.assertTrue(same_rows([[None]], [], {}))
        self.assertTrue(same_rows([], [[None]], {}))
        self.assertFalse(same_rows([[None]], [[0]], {}))

    def test_numbers_are_read_with_both_decimal_signs(self):
        self.assertIn(1234.5, numbers_in("**1 234,50** kr"))
        self.assertIn(1234.5, numbers_in("EUR 1,234.50."))
        self.assertNotIn(7.0, numbers_in("None.\n\n*Read 7 as 8.*"))
        self.assertEqual(set(numbers_in("**3** until 29 November")), {3.0})

    def test_flags_agree_in_each_way_of_writing(self):
        self.assertTrue(same_rows([[True, 5], [False, 3]], [["yes", 5], ["Nej", 3]], {}))
        self.assertFalse(same_rows([[True, 5]], [[1, 5]], {}))


class Verdicts(unittest.TestCase):
    def test_a_figure_outside_of_the_readings_is_wrong_under_each_label(self):
        readings = [{"reading": "", "values": [[[10.0]]]}]
        self.assertEqual(verdict(asked(accepted=readings), answered([[10.0]])), "right")
        for label in LABELS:
            self.assertEqual(verdict(asked(label), answered([[11.0]])), "wrong")

    def test_an_ask_counts_only_where_it_was_labelled_so(self):
        run = {"id": "q1", "outcome": "ask"}
        found = [verdict(asked(label), run) for label in LABELS]
        self.assertEqual(found, ["refused", "right", "refused"])

    def test_a_refusal_of_an_answerable_question_is_a_miss(self):
        for outcome in ["decline", "none"]:
            self.assertEqual(verdict(asked(), {"id": "q1", "outcome": outcome}), "refused")
        self.assertEqual(verdict(asked("decline"), {"id": "q1", "outcome": "decline"}), "right")
        self.assertEqual(verdict(asked("decline"), {"id": "q1", "outcome": "none"}), "refused")

    def test_a_nearest_question_is_partly_unless_no_more_can_be_answered(self):
        run = {"id": "q1", "outcome": "partly", "rows": []}
        self.assertEqual([verdict(asked(label), run) for label in LABELS], ["partly", "partly", "right"])

    def test_all_parts_of_a_question_are_needed(self):
        readings = [{"reading": "", "values": [[[10.0]], [["a", 3.0]]]}]
        both = answered(tables=[{"rows": [[10.0]]}, {"rows": [["a", 3.0]]}])
        one = {"id": "q1", "outcome": "partly", "tables": [{"rows": [[10.0]]}]}
        other = {"id": "q1", "outcome": "partly", "tables": [{"rows": [[12.0]]}]}
        found = [verdict(asked(accepted=readings), run) for run in (both, one, other)]
        self.assertEqual(found, ["right", "partly", "wrong"])

    def test_a_single_figure_may_be_in_the_text_or_in_the_totals(self):
        readings = [{"reading": "", "values": [[[3]]]}]
        self.assertEqual(verdict(asked(accepted=readings), answered([["a"], ["b"], ["c"]], "**3**: a, b, c")), "right")
        run = answered(tables=[{"rows": [[1], [2]], "totals": [[3]]}])
        self.assertEqual(verdict(asked(accepted=readings), run), "right")

    def test_words_of_a_reading_must_be_in_the_answer(self):
        readings = [{"reading": "yes", "values": [[[5]]], "text": ["Yes"]}]
        self.assertEqual(verdict(asked(accepted=readings), answered([[5]], "**Yes.** 5")), "right")
        self.assertEqual(verdict(asked(accepted=readings), answered([[5]], "**No.** Yesterday 5")), "wrong")


class Counts(unittest.TestCase):
    def test_bounds_are_those_of_wilson(self):
        low, high = wilson(8, 10)
        self.assertAlmostEqual(low, 0.4902, 4)
        self.assertAlmostEqual(high, 0.9433, 4)
        self.assertAlmostEqual(wilson(0, 300)[1], 0.0126, 4)

    def test_a_question_without_a_run_is_refused_and_the_gate_needs_four_of_five(self):
        readings = [{"reading": "", "values": [[[1]]]}]
        questions = [asked(accepted=readings, id=f"q{n}") for n in range(5)]
        runs = [{**answered([[1]]), "id": f"q{n}"} for n in range(4)]
        report = judge(questions, runs)
        self.assertEqual(report["verdicts"]["q4"], "refused")
        self.assertTrue(is_passed(report))
        self.assertFalse(is_passed(judge(questions, runs[:3])))

    def test_a_faulty_question_file_is_refused(self):
        readings = [{"reading": "", "sql": "SELECT 1"}]
        check([asked(accepted=readings), asked(accepted=readings, id="q2", chain="q1")])
        for faulty in [asked(), asked("maybe", readings), asked(accepted=readings, chain="q9"), asked(accepted=[{"reading": ""}])]:
            with self.assertRaises(ValueError):
                check([faulty])


if __name__ == "__main__":
    sys.exit(main())
