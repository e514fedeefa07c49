"""Computes the rows and sums that the corpus expects, with decimal arithmetic and readers that have
nothing in common with Countersign: csv, openpyxl, xlrd, odfpy, PyArrow, sqlite3, json. How a file is
to be read is said by a person in `read` of its case, nothing is guessed here.

    python sums.py            compares with corpus.json
    python sums.py --write    writes `rows` and `sums` of each case that is stored
    python sums.py --duckdb   lets DuckDB read the UTF-8 text files again and compares the sums
"""

import csv
import datetime
import decimal
import gzip
import io
import json
import pathlib
import re
import sqlite3
import sys
import zipfile

HERE = pathlib.Path(__file__).parent
FILES = HERE / "files"
BLANK = {"", "-", "--", "—", "n/a", "N/A"}
decimal.getcontext().prec = 60


class Marked:
    """A cell of a workbook with what its format or its markup says about the currency."""

    def __init__(self, value, mark):
        self.value, self.mark = value, mark

    def __str__(self):
        return str(self.value or "")


def number(cell, read):
    """Returns a cell as a number, None if it is blank."""
    if isinstance(cell, Marked):
        cell = cell.value
    if cell is None or isinstance(cell, bool):
        return None
    if isinstance(cell, (int, decimal.Decimal)):
        return decimal.Decimal(cell)
    if isinstance(cell, float):
        return decimal.Decimal(f"{cell:.15g}")
    text = re.sub(r"[\s\u00a0\u202f\u2009]", "", str(cell))
    if text in BLANK:
        return None
    text = re.sub(r"(?i)us\$|r\$|[a-df-z€$£¥₹%]|e(?![+-]?[0-9])", "", text)
    if text in BLANK:
        return None
    sign = -1 if text.startswith("(") and text.endswith(")") else 1
    text = text.strip("()").replace("\u2212", "-")
    if text.endswith("-"):
        text, sign = text[:-1], -sign
    for group in read.get("group", ","):
        text = text.replace(group, "")
    return sign * decimal.Decimal(text.replace(read.get("decimal", "."), "."))


def currency_of(cell, signs):
    """Returns the currency of the first of the signs that a cell or its format shows."""
    shown = cell.mark if isinstance(cell, Marked) else str(cell)
    return next(code for sign, code in signs.items() if sign in shown)


def any_number(cell, read):
    """Returns a cell as a number, 0 if it is none."""
    try:
        return number(cell, read) or decimal.Decimal(0)
    except decimal.InvalidOperation:
        return decimal.Decimal(0)


def text_of(path, read):
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            data = archive.read(archive.namelist()[0])
    return data.decode(read.get("encoding", "utf-8-sig"), read.get("errors", "strict"))


def text_records(path, read):
    """Yields the first line and the cells of each record."""
    lines = io.StringIO(text_of(path, read), newline="")
    reader = csv.reader(lines, delimiter=read.get("separator", ","))
    line = 1
    for cells in reader:
        yield line, cells
        line = reader.line_num + 1


def sheet_records(path, read):
    if path.suffix == ".xlsx":
        import openpyxl

        book = openpyxl.load_workbook(path, data_only=True)
        for name in read.get("sheets", book.sheetnames[:1]):
            for line, row in enumerate(book[name].iter_rows(), 1):
                yield line, [Marked(cell.value, cell.number_format) if is_amount(cell.value) else cell.value for cell in row]
    elif path.suffix == ".xls":
        import xlrd

        sheet = xlrd.open_workbook(path).sheet_by_index(0)
        for line in range(sheet.nrows):
            yield line + 1, sheet.row_values(line)
    else:
        yield from ods_records(path)


def is_amount(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def ods_records(path):
    from odf import opendocument, table, text

    sheet = opendocument.load(path).spreadsheet.getElementsByType(table.Table)[0]
    for line, row in enumerate(sheet.getElementsByType(table.TableRow), 1):
        cells = []
        for cell in row.getElementsByType(table.TableCell):
            value = cell.getAttribute("value")
            words = "".join(str(part) for part in cell.getElementsByType(text.P))
            if words or value:
                amount = decimal.Decimal(value) if value else words
                currency = cell.getAttribute("currency")
                cells.append(Marked(amount, currency) if currency else amount)
        if cells:
            yield line, cells


def table_records(path, read):
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        found = pq.read_table(path)
        yield 1, found.column_names
        for line, row in enumerate(found.to_pylist(), 2):
            yield line, list(row.values())
    elif path.suffix == ".jsonl":
        rows = [json.loads(line, parse_float=decimal.Decimal) for line in path.read_text().splitlines()]
        names = list(dict.fromkeys(name for row in rows for name in row))
        yield 1, names
        for line, row in enumerate(rows, 1):
            yield line, [row.get(name) for name in names]
    else:
        link = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        found = link.execute(f"select * from {read['table']}")
        yield 1, [column[0] for column in found.description]
        yield from enumerate(found, 2)


def records(path, read):
    suffix = path.suffix
    if suffix in (".parquet", ".jsonl", ".sqlite"):
        yield from table_records(path, read)
    elif suffix in (".xlsx", ".xls", ".ods"):
        yield from sheet_records(path, read)
    else:
        yield from text_records(path, read)


def is_blank(cells):
    return all(cell is None or str(cell).strip() == "" for cell in cells)


def rows_of(case):
    """Returns the headings and the rows that are to be stored."""
    read = case["read"]
    left = {line for lines in read.get("leave", {}).values() for line in lines}
    names, rows = None, []
    head = read.get("header", 1)
    for line, cells in records(FILES / case["file"], read):
        if line == head and (names is None or "sheets" in read):
            names = [str(cell or "").strip() for cell in cells]
        elif names is not None and line > (0 if case["file"].endswith(".jsonl") else head):
            if line not in left and not is_blank(cells):
                rows.append(cells)
    if head == 0:
        raise ValueError("a file without headings has no names")
    return names, rows


def compute(case):
    read = case["read"]
    names, rows = rows_of(case)
    stored = {}
    for name in read.get("stored", []):
        values = [number(cells[names.index(name)], read) for cells in rows]
        stored[name] = plain(sum((value for value in values if value is not None), decimal.Decimal(0)))
    sums = []
    for name, currency in read.get("sums", {}).items():
        at = read.get("at", {}).get(name)
        at = names.index(name) if at is None else at
        by, signs = None, None
        if isinstance(currency, dict):
            by = names.index(currency["by"]) if "by" in currency else None
            signs = currency.get("signs")
        totals = {}
        for cells in rows:
            value = number(cells[at] if at < len(cells) else None, read)
            if value is None:
                continue
            code = cells[by] if by is not None else currency_of(cells[at], signs) if signs else currency
            totals[code] = totals.get(code, decimal.Decimal(0)) + value
        for code, total in sorted(totals.items(), key=lambda pair: str(pair[0])):
            sums.append({"column": name, **({"currency": code} if code else {}), "sum": plain(total)})
    return len(rows), sums, stored


def plain(value):
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def duckdb_witness(case):
    """Returns the sums of all records below the headings, as DuckDB reads them, and as csv does."""
    import duckdb

    read = case["read"]
    if read.get("encoding", "utf-8-sig") != "utf-8-sig" or not case["file"].endswith((".csv", ".tsv")):
        return None
    path = str(FILES / case["file"]).replace("'", "''")
    names, _ = rows_of(case)
    every = [cells for line, cells in records(FILES / case["file"], read) if line > read.get("header", 1) and not is_blank(cells)]
    if any(len(cells) != len(names) for cells in every):
        return None
    columns = "{" + ",".join(f"'c{at}':'VARCHAR'" for at in range(len(names))) + "}"
    skip = read.get("header", 1)
    found = duckdb.sql(f"""select * from read_csv('{path}', auto_detect=false, header=false, skip={skip}, columns={columns},
        delim='{read.get("separator", ",")}', quote='"', escape='"', strict_mode=false, null_padding=false, new_line='\\n')""").fetchall()
    result = []
    for name in read.get("sums", {}):
        at = read.get("at", {}).get(name, names.index(name) if name in names else None)
        one = sum((any_number(cells[at], read) for cells in every), decimal.Decimal(0))
        other = sum((any_number(cells[at], read) for cells in found), decimal.Decimal(0))
        result.append((name, one, other))
    return result


def main():
    corpus = json.loads((HERE / "corpus.json").read_text(encoding="utf-8"))
    wrong = 0
    for case in corpus:
        if "read" not in case:
            continue
        if "--duckdb" in sys.argv:
            for name, one, other in duckdb_witness(case) or []:
                if one != other:
                    wrong += 1
                    print(f"{case['file']}: {name}: csv {one}, DuckDB {other}")
            continue
        rows, sums, stored = compute(case)
        expected = case["expected"]
        if "--write" in sys.argv:
            expected["rows"], expected["sums"] = rows, sums
            if stored:
                expected["stored_sums"] = stored
        elif (expected.get("rows"), expected.get("sums"), expected.get("stored_sums", {})) != (rows, sums, stored):
            wrong += 1
            print(f"{case['file']}: rows {rows}, sums {sums}, stored {stored}")
    if "--write" in sys.argv:
        text = json.dumps(corpus, ensure_ascii=False, indent=1)
        (HERE / "corpus.json").write_text(text + "\n", encoding="utf-8")
    print(f"{len(corpus)} cases, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
