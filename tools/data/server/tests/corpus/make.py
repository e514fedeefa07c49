"""Makes the workbooks and binary files of the corpus with the programs that make them elsewhere:
openpyxl, XlsxWriter, xlwt, odfpy, LibreOffice, SheetJS, ExcelJS, PyArrow, DuckDB, SQLite. Two
workbooks are written as XML in the way of Excel and of Google Sheets. The text files of the corpus
are not made here. Run once; the results are part of the tree.

    python make.py [NODE_MODULES]
"""

import datetime as dt
import decimal
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import zipfile

FILES = pathlib.Path(__file__).parent / "files"
D = dt.date
HEAD = ["Day", "Campaign", "Spend (EUR)", "Clicks", "CTR"]
ROWS = [
    (D(2026, 11, 1), "Oak", 1234.5, 410, 0.0332),
    (D(2026, 11, 2), "Oak", 980.1, 377, 0.0342),
    (D(2026, 11, 3), "Elm & Co <new>", 0.3, 9, 0.0111),
]


def openpyxl_files():
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["Campaign name", "Campaign ID", "By Day", "Currency", "Cost", "Impressions",
                  "Clicks (destination)", "CTR (destination)"])
    for row in [("Launch", "1790000000000001", "2026-11-01", "SEK", 120.25, 10500, 160, "1.52%"),
                ("Launch", "1790000000000001", "2026-11-02", "SEK", 98.75, 9100, 121, "1.33%"),
                ("Retarget", "1790000000000002", "2026-11-02", "SEK", 10, 800, 40, "5%"),
                ("Total of 3 results", "-", "-", "SEK", 229, 20400, 321, "1.57%")]:
        sheet.append(row)
    book.save(FILES / "tiktok-days.xlsx")

    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, month in (("October", 10), ("November", 11)):
        sheet = book.create_sheet(name)
        sheet.append(["Day", "Campaign", "Cost"])
        sheet.append([D(2026, month, 1), "Oak", 100])
        sheet.append([D(2026, month, 2), "Oak", 100.5])
    book.create_sheet("Notes").append(["Prepared for the board"])
    book.save(FILES / "sheets-of-months.xlsx")

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["Day", "Campaign ID", "Campaign", "Spend"])
    for row in [(D(2026, 11, 1), 120210000000000000, "Oak", 100), (D(2026, 11, 1), 120210000000000000, "Elm", 50),
                (D(2026, 11, 2), 120210000000000000, "Oak", 110), (D(2026, 11, 2), 120210000000000000, "Elm", 40)]:
        sheet.append(row)
    book.save(FILES / "rounded-ids.xlsx")

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["Day", "Campaign", "Cost"])
    sheet.append([D(2026, 11, 1), "Oak", "=50+50"])
    sheet.append([D(2026, 11, 2), "Oak", "=B2"])
    book.save(FILES / "formulas-without-values.xlsx")


def xlsxwriter_files():
    import xlsxwriter

    book = xlsxwriter.Workbook(FILES / "pinterest-days.xlsx", {"constant_memory": True})
    day, percent = book.add_format({"num_format": "yyyy-mm-dd"}), book.add_format({"num_format": "0.00%"})
    sheet = book.add_worksheet("Report")
    sheet.write_row(0, 0, HEAD)
    for at, (when, name, spend, clicks, ctr) in enumerate(ROWS, 1):
        sheet.write_datetime(at, 0, dt.datetime.combine(when, dt.time()), day)
        sheet.write_row(at, 1, [name, spend, clicks])
        sheet.write_number(at, 4, ctr, percent)
    hidden = book.add_worksheet("Lookup")
    hidden.write_row(0, 0, ["Code", "Name"])
    hidden.write_row(1, 0, [1, "Oak"])
    hidden.hide()
    book.close()

    book = xlsxwriter.Workbook(FILES / "error-cells.xlsx")
    sheet = book.add_worksheet()
    sheet.write_row(0, 0, ["Day", "Campaign", "Cost", "Clicks", "CPC"])
    for at in range(1, 8):
        sheet.write_string(at, 0, f"2026-11-{at:02}")
        sheet.write_row(at, 1, ["Oak", 10 * at, at])
        sheet.write_formula(at, 4, f"=C{at + 1}/D{at + 1}", None, 10)
    sheet.write_formula(3, 2, "=VLOOKUP(1,A:B,2)", None, "#N/A")
    sheet.write_formula(4, 4, "=C5/0", None, "#DIV/0!")
    book.close()

    book = xlsxwriter.Workbook(FILES / "moments.xlsx", {"date_1904": True})
    moment = book.add_format({"num_format": "dd/mm/yyyy hh:mm:ss"})
    sheet = book.add_worksheet("Orders")
    sheet.write_row(0, 0, ["Ordered at", "Order number", "Amount (SEK)"])
    for at, when in enumerate([dt.datetime(2026, 11, 1, 8, 0), dt.datetime(2026, 11, 1, 23, 59, 59),
                               dt.datetime(2026, 11, 30, 0, 0)], 1):
        sheet.write_datetime(at, 0, when, moment)
        sheet.write_row(at, 1, [f"000{at}", 100.05 * at])
    book.close()


def xlwt_file():
    import xlwt

    book = xlwt.Workbook()
    sheet = book.add_sheet("Kostnader")
    style = xlwt.easyxf(num_format_str="YYYY-MM-DD")
    for at, name in enumerate(["Datum", "Leverantör", "Belopp", "Valuta"]):
        sheet.write(0, at, name)
    for at, row in enumerate([(D(2026, 11, 1), "Tryckeri", 1250.5, "SEK"), (D(2026, 11, 2), "Radio", 98000, "SEK"),
                              (D(2026, 11, 3), "Kredit", -20.25, "SEK")], 1):
        sheet.write(at, 0, row[0], style)
        for to, value in enumerate(row[1:], 1):
            sheet.write(at, to, value)
    book.save(str(FILES / "expenses-biff.xls"))


def odfpy_file():
    from odf.opendocument import OpenDocumentSpreadsheet
    from odf.table import Table, TableCell, TableRow
    from odf.text import P

    book = OpenDocumentSpreadsheet()
    table = Table(name="Plan")
    book.spreadsheet.addElement(table)

    def cell(row, kind, value, text, **more):
        added = TableCell(valuetype=kind, **({"value": value} if kind == "float" else {}), **more)
        added.addElement(P(text=text))
        row.addElement(added)

    head = TableRow()
    for name in ["Kampagne", "Beginn", "Ende", "Budget (EUR)"]:
        cell(head, "string", None, name)
    table.addElement(head)
    for name, start, end, budget in [("Marke", "2026-11-01", "2026-11-30", "3000.5"),
                                     ("Generisch", "2026-11-15", "2026-12-31", "12500")]:
        row = TableRow()
        cell(row, "string", None, name)
        cell(row, "date", None, start, datevalue=start)
        cell(row, "date", None, end, datevalue=end)
        cell(row, "float", budget, budget)
        row.addElement(TableCell(numbercolumnsrepeated=1000))
        table.addElement(row)
    table.addElement(TableRow(numberrowsrepeated=1048000))
    book.save(str(FILES / "plan-odf.ods"))


def libreoffice_files():
    """Converts one text file, so that LibreOffice decides about types and styles."""
    text = "Day,Campaign,Spend (EUR),Clicks\n2026-11-01,Ek,1234.5,410\n2026-11-02,Ek,980.1,377\n2026-11-03,Åsen,0.3,9\n"
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "calc-days.csv"
        source.write_text(text, encoding="utf-8")
        for form in ("xlsx", "ods", "xls"):
            subprocess.run(["soffice", "--headless", f"-env:UserInstallation=file://{folder}/profile",
                            "--infilter=CSV:44,34,76,1", "--convert-to", form, "--outdir", str(FILES), str(source)],
                           check=True, stdout=subprocess.DEVNULL)


SHEETJS = """
const X = require('xlsx');
const rows = [['Start time','Campaign','Spend','Swipe-ups','Currency'],
  [new Date(Date.UTC(2026,10,1)),'Snap A',12.34,100,'NOK'],[new Date(Date.UTC(2026,10,2)),'Snap A',0.1,1,'NOK'],
  [new Date(Date.UTC(2026,10,3)),'Snap B',0.2,0,'NOK']];
const sheet = X.utils.aoa_to_sheet(rows, {cellDates: false, dateNF: 'yyyy-mm-dd', UTC: true});
const book = X.utils.book_new(); X.utils.book_append_sheet(book, sheet, 'Ads');
X.writeFile(book, 'snapchat-days.xlsx'); X.writeFile(book, 'binary.xlsb');
"""
EXCELJS = """
const E = require('exceljs');
const book = new E.Workbook(); const sheet = book.addWorksheet('Campaigns');
sheet.addRow(['Date','Campaign','Currency','Spend','7 Day Total Sales']);
sheet.addRow([new Date(Date.UTC(2026,10,1)),{richText:[{text:'Brand '},{font:{bold:true},text:'exact'}]},'USD',758.2,12450]);
sheet.addRow([new Date(Date.UTC(2026,10,2)),'Launch','USD',{formula:'500+73.16',result:573.16},8920.5]);
sheet.addRow(['Total','','USD',{formula:'SUM(D2:D3)',result:1331.36},{formula:'SUM(E2:E3)',result:21370.5}]);
book.xlsx.writeFile('amazon-days.xlsx');
"""


def node_files(modules):
    for script in (SHEETJS, EXCELJS):
        subprocess.run(["node", "-e", script], check=True, cwd=FILES, env={"NODE_PATH": modules, "PATH": "/usr/bin:/bin:/usr/local/bin", "TZ": "UTC"})


def packed(name, parts):
    with zipfile.ZipFile(FILES / name, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in parts.items():
            info = zipfile.ZipInfo(path, (2026, 11, 30, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n' + text)


MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
RELS = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
KIND = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'
TYPES = 'xmlns="http://schemas.openxmlformats.org/package/2006/content-types"'
SHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def book_parts(sheet, strings, styles, book):
    return {
        "[Content_Types].xml": f'<Types {TYPES}><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="{SHEET}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="{SHEET}.worksheet+xml"/><Override PartName="/xl/sharedStrings.xml" ContentType="{SHEET}.sharedStrings+xml"/><Override PartName="/xl/styles.xml" ContentType="{SHEET}.styles+xml"/></Types>',
        "_rels/.rels": f'<Relationships {PACKAGE}><Relationship Id="rId1" Type="{KIND}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/_rels/workbook.xml.rels": f'<Relationships {PACKAGE}><Relationship Id="rId3" Type="{KIND}/sharedStrings" Target="sharedStrings.xml"/><Relationship Id="rId2" Type="{KIND}/styles" Target="styles.xml"/><Relationship Id="rId1" Type="{KIND}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/workbook.xml": book, "xl/styles.xml": styles, "xl/sharedStrings.xml": strings, "xl/worksheets/sheet1.xml": sheet,
    }


def excel_like():
    """As Excel writes: spans, phonetic parts, floats with all digits, a formula with its value."""
    strings = ["Month sheet", "Day", "Campaign", "Cost", "Share", "Total"]
    shared = "".join(f"<si><t>{text}</t></si>" for text in strings)
    shared += '<si><r><t xml:space="preserve">Oak </t></r><r><rPr><b/></rPr><t>Søk</t></r><phoneticPr fontId="1" type="noConversion"/></si>'
    styles = f'<styleSheet {MAIN}><numFmts count="1"><numFmt numFmtId="164" formatCode="[$-41D]d\\ mmmm\\ yyyy;@"/></numFmts><fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts><fills count="1"><fill><patternFill patternType="none"/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf numFmtId="0"/></cellStyleXfs><cellXfs count="4"><xf numFmtId="0"/><xf numFmtId="164" applyNumberFormat="1"/><xf numFmtId="44" applyNumberFormat="1"/><xf numFmtId="10" applyNumberFormat="1"/></cellXfs></styleSheet>'
    rows = [(46327, "100.10000000000001", "0.33333333333333331"), (46328, "200.19999999999999", "0.66666666666666663"), (46329, "9.9999999999999995E-2", "1E-3")]
    body = '<row r="1" spans="1:4"><c r="A1" t="s"><v>0</v></c></row>'
    body += '<row r="3" spans="1:4">' + "".join(f'<c r="{c}3" t="s"><v>{at}</v></c>' for c, at in zip("ABCD", (1, 2, 3, 4))) + "</row>"
    for at, (day, cost, share) in enumerate(rows, 4):
        body += f'<row r="{at}" spans="1:4"><c r="A{at}" s="1"><v>{day}</v></c><c r="B{at}" t="s"><v>6</v></c><c r="C{at}" s="2"><v>{cost}</v></c><c r="D{at}" s="3"><v>{share}</v></c></row>'
    body += '<row r="7" spans="1:4"><c r="A7" t="s"><v>5</v></c><c r="C7" s="2"><f>SUM(C4:C6)</f><v>300.40000000000003</v></c></row>'
    sheet = f'<worksheet {MAIN} {RELS}><dimension ref="A1:D7"/><sheetViews><sheetView workbookViewId="0"/></sheetViews><sheetFormatPr defaultRowHeight="15"/><sheetData>{body}</sheetData><pageMargins left="0.7" right="0.7" top="0.75" bottom="0.75" header="0.3" footer="0.3"/></worksheet>'
    book = f'<workbook {MAIN} {RELS}><fileVersion appName="xl" lastEdited="7"/><workbookPr defaultThemeVersion="166925"/><sheets><sheet name="Månad" sheetId="1" r:id="rId1"/></sheets><calcPr calcId="191029"/></workbook>'
    packed("excel-days.xlsx", book_parts(sheet, f'<sst {MAIN} count="9" uniqueCount="7">{shared}</sst>', styles, book))


def google_sheets_like():
    """As Google Sheets writes: no dimension, every text shared, a style on each cell, empty styled cells."""
    strings = ["Date", "Campaign", "Cost", "Conversions", "ROAS", "Brand", "Generic", "n/a"]
    shared = "".join(f"<si><t>{text}</t></si>" for text in strings)
    styles = f'<styleSheet {MAIN}><numFmts count="2"><numFmt numFmtId="164" formatCode="M/d/yyyy"/><numFmt numFmtId="165" formatCode="&quot;$&quot;#,##0.00"/></numFmts><fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts><fills count="1"><fill><patternFill patternType="none"/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf numFmtId="0"/></cellStyleXfs><cellXfs count="4"><xf numFmtId="0"/><xf numFmtId="164" applyNumberFormat="1"/><xf numFmtId="165" applyNumberFormat="1"/><xf numFmtId="4" applyNumberFormat="1"/></cellXfs></styleSheet>'
    body = '<row r="1">' + "".join(f'<c r="{c}1" s="0" t="s"><v>{at}</v></c>' for at, c in enumerate("ABCDE")) + '<c r="F1" s="0"/></row>'
    for at, (day, name, cost, conv, roas) in enumerate([(46327, 5, "1234.5", "12.0", '<c r="E2" s="3"><v>3.1</v></c>'), (46328, 6, "0.1", "0.5", '<c r="E3" s="3" t="s"><v>7</v></c>'), (46329, 5, "0.2", "0.0", '<c r="E4" s="3"><v>0.0</v></c>')], 2):
        body += f'<row r="{at}"><c r="A{at}" s="1"><v>{day}.0</v></c><c r="B{at}" s="0" t="s"><v>{name}</v></c><c r="C{at}" s="2"><v>{cost}</v></c><c r="D{at}" s="3"><v>{conv}</v></c>{roas}<c r="F{at}" s="0"/></row>'
    sheet = f'<worksheet {MAIN} {RELS}><sheetPr/><sheetViews><sheetView workbookViewId="0"/></sheetViews><sheetData>{body}</sheetData></worksheet>'
    book = f'<workbook {MAIN} {RELS}><workbookPr/><sheets><sheet state="visible" name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>'
    packed("google-sheets-days.xlsx", book_parts(sheet, f'<sst {MAIN} count="9" uniqueCount="8">{shared}</sst>', styles, book))


def tables():
    import duckdb
    import pyarrow as pa
    import pyarrow.parquet as pq

    days = [D(2026, 11, 1), D(2026, 11, 2), D(2026, 11, 3)]
    money = [decimal.Decimal("9007199254740993.01"), decimal.Decimal("0.10"), decimal.Decimal("-0.05")]
    pq.write_table(pa.table({
        "day": pa.array(days, pa.date32()), "campaign": ["Oak", "Oak", None],
        "spend": pa.array(money, pa.decimal128(20, 2)), "clicks": pa.array([10, 12, 0], pa.int64()),
        "currency": ["EUR", "EUR", "EUR"], "active": [True, False, None],
    }), FILES / "decimals.parquet")
    pq.write_table(pa.table({
        "date": pa.array([dt.datetime(2026, 11, 1, 8), dt.datetime(2026, 11, 2, 9, 30)], pa.timestamp("ms")),
        "cost": pa.array([0.1, 0.2], pa.float64()), "impressions": pa.array([1000, 2000], pa.int32()),
    }), FILES / "floats.parquet", compression="gzip")
    target = FILES / "duckdb.parquet"
    duckdb.sql("select date '2026-11-01' + i::int as day, 'Oak' as campaign, (i + 0.25)::decimal(18,2) as cost from range(5) t(i)").write_parquet(str(target), compression="zstd")

    for name, more in (("spend.sqlite", False), ("two-tables.sqlite", True)):
        path = FILES / name
        path.unlink(missing_ok=True)
        link = sqlite3.connect(path)
        link.execute("create table spend (day text, campaign text, amount text, clicks integer, currency text)")
        link.executemany("insert into spend values (?,?,?,?,?)", [
            ("2026-11-01", "Oak", "100.10", 10, "EUR"), ("2026-11-02", "Oak", "0.20", 2, "EUR"), ("2026-11-03", "Elm", "50.05", None, "EUR")])
        if more:
            link.execute("create table notes (id integer primary key, note text)")
            link.execute("insert into notes values (1, 'late')")
        link.commit()
        link.close()


def hidden_files():
    """A filter in openpyxl, and rows that odfpy marks as filtered. Both leave the rows in the file."""
    import openpyxl

    rows = [(D(2026, 11, 1), "Oak", 100.5, 10), (D(2026, 11, 2), "Elm", 7, 1), (D(2026, 11, 3), "Oak", 20.25, 2),
            (D(2026, 11, 4), "Elm", 9, 1)]
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["Day", "Campaign", "Cost", "Clicks"])
    for row in rows:
        sheet.append(row)
    sheet.auto_filter.ref = "A1:D5"
    sheet.auto_filter.add_filter_column(1, ["Oak"])
    sheet.row_dimensions[3].hidden = sheet.row_dimensions[5].hidden = True
    sheet.column_dimensions["D"].hidden = True
    book.save(FILES / "filtered-rows.xlsx")

    import xlwt

    book = xlwt.Workbook()
    sheet = book.add_sheet("Data")
    money = xlwt.easyxf(num_format_str='#,##0.00 "kr"')
    for at, line in enumerate([["Dag", "Kampanj", "Kostnad"]] + [[str(day), name, cost] for day, name, cost, _ in rows]):
        for column, value in enumerate(line):
            sheet.write(at, column, value, money if at and column == 2 else xlwt.Style.default_style)
    sheet.row(2).hidden = sheet.row(4).hidden = True
    book.save(str(FILES / "filtered-rows.xls"))

    from odf.table import TableRow

    lines = [["Day", "Campaign", "Cost"]] + [[str(day), name, cost] for day, name, cost, _ in rows]
    more = {2: {"visibility": "filter"}, 4: {"visibility": "collapse"}}
    ods("filtered-rows.ods", lines, lambda at: TableRow(**more.get(at, {})))


def ods(name, lines, new_row, new_cell=None):
    """Writes lines of texts and numbers. `new_cell` can make other cells of numbers."""
    from odf.opendocument import OpenDocumentSpreadsheet
    from odf.table import Table, TableCell
    from odf.text import P

    book = OpenDocumentSpreadsheet()
    table = Table(name="Data")
    book.spreadsheet.addElement(table)
    for at, line in enumerate(lines):
        row = new_row(at)
        for value in line:
            if isinstance(value, str):
                cell = TableCell(valuetype="string")
                cell.addElement(P(text=value))
            else:
                cell = new_cell(value) if new_cell else TableCell(valuetype="float", value=value)
            row.addElement(cell)
        table.addElement(row)
    book.save(str(FILES / name))


def currency_format_files():
    """Amounts whose currency is only in the number format of their cells."""
    import openpyxl
    from odf.table import TableCell, TableRow
    from odf.text import P

    def book(name, formats, cost="Cost", title=None):
        book = openpyxl.Workbook()
        sheet = book.active
        for row in [[title]] if title else []:
            sheet.append(row)
        sheet.append(["Day", "Campaign", cost, "Uplift"])
        for at, form in enumerate(formats, 1):
            sheet.append([D(2026, 11, at), "Oak", 100.5 * at, 0.125 * at])
            sheet.cell(sheet.max_row, 3).number_format = form
            sheet.cell(sheet.max_row, 4).number_format = "0.0%"
        book.save(FILES / name)

    book("format-sek.xlsx", ["#,##0.00\\ [$kr-41D]"] * 3)
    book("format-two-currencies.xlsx", ["[$€-407] #,##0.00", "[$£-809]#,##0.00", "[$€-407] #,##0.00"])
    book("format-contradicts-heading.xlsx", ["[$SEK] #,##0.00"] * 2, cost="Cost (EUR)")
    book("format-contradicts-title.xlsx", ["[$€-407] #,##0.00"] * 2, title="Currency: SEK")

    def money(value):
        code, number = ("NOK", value) if value != 7.25 else ("DKK", value)
        cell = TableCell(valuetype="currency", currency=code, value=number)
        cell.addElement(P(text=f"kr {number}"))
        return cell

    lines = [["Dag", "Kampanje", "Beløp"]] + [[f"2026-11-0{at}", "Eik", value] for at, value in ((1, 100.5), (2, 7.25), (3, 9.5))]
    ods("format-currencies.ods", lines, lambda _: TableRow(), money)


def uncomputed_files():
    """Formulas that no program computed: XlsxWriter writes 0, xlwt and odfpy write nothing. Error cells
    and merged cells of the old formats."""
    import xlsxwriter
    import xlwt
    from odf.table import TableCell, TableRow
    from odf.text import P

    book = xlsxwriter.Workbook(FILES / "uncomputed-zeros.xlsx")
    sheet = book.add_worksheet()
    sheet.write_row(0, 0, ["Day", "Campaign", "Clicks", "Cost"])
    for at in range(1, 4):
        sheet.write_row(at, 0, [f"2026-11-0{at}", "Oak", 10 * at])
        sheet.write_formula(at, 3, f"=C{at + 1}*1.5")
    book.close()

    book = xlwt.Workbook()
    sheet = book.add_sheet("Data")
    for row, line in enumerate([["Day", "Campaign", "Clicks", "Cost"], ["2026-11-01", "Oak", 10], ["2026-11-02", "Oak", 20]]):
        for column, value in enumerate(line):
            sheet.write(row, column, value)
        if row:
            sheet.write(row, 3, xlwt.Formula(f"C{row + 1}*1.5"))
    book.save(str(FILES / "uncomputed.xls"))

    book = xlwt.Workbook()
    sheet = book.add_sheet("Data")
    for column, name in enumerate(["Day", "Campaign", "Cost", "Clicks"]):
        sheet.write(0, column, name)
    sheet.write_merge(1, 2, 0, 0, "2026-11-01")
    sheet.write_merge(1, 2, 2, 2, 50.5)
    for row, (day, name, cost, clicks) in enumerate([(None, "Oak", None, 1), (None, "Elm", None, 2), ("2026-11-02", "Oak", 9, 3)], 1):
        for column, value in enumerate([day, name, cost, clicks]):
            if value is not None:
                sheet.write(row, column, value)
    book.save(str(FILES / "merged-cells.xls"))

    book = xlwt.Workbook()
    sheet = book.add_sheet("Data")
    for row, line in enumerate([["Day", "Campaign", "Cost"], ["2026-11-01", "Oak", 5], ["2026-11-02", "Oak"], ["2026-11-03", "Oak", 6]]):
        for column, value in enumerate(line):
            sheet.write(row, column, value)
    sheet.row(2).set_cell_error(2, "#DIV/0!")
    book.save(str(FILES / "error-cells.xls"))

    def cell(value):
        if value is None:
            return TableCell(formula="of:=[.B2]*2", valuetype="float")
        if value is ...:
            error = TableCell(formula="of:=1/0", valuetype="string", stringvalue="")
            error.addElement(P(text="#DIV/0!"))
            return error
        return TableCell(valuetype="float", value=value)

    lines = [["Day", "Campaign", "Cost"], ["2026-11-01", "Oak", 5.5], ["2026-11-02", "Oak", None], ["2026-11-03", "Oak", ...], ["2026-11-04", "Elm", 2]]
    ods("errors-and-uncomputed.ods", lines, lambda _: TableRow(), cell)


def times_since_1970():
    import pyarrow as pa
    import pyarrow.parquet as pq

    moments = [1793534400123, 1793538000456, 1793620800789]
    pq.write_table(pa.table({
        "ts": pa.array(moments, pa.int64()), "campaign": ["Oak", "Elm", "Oak"], "vintage": pa.array([2019, 2021, 2019], pa.int32()),
        "cost": pa.array([decimal.Decimal("1.50"), decimal.Decimal("2.25"), decimal.Decimal("-0.05")], pa.decimal128(18, 2)),
    }), FILES / "milliseconds.parquet")
    path = FILES / "seconds.sqlite"
    path.unlink(missing_ok=True)
    link = sqlite3.connect(path)
    link.execute("create table orders (created integer, shop text, zip integer, net real)")
    link.executemany("insert into orders values (?,?,?,?)", [
        (1793534400, "Bern", 3011, 10.1), (1793538000, "Bern", 3012, 0.2), (1793620800, "Rom", 184, 5)])
    link.commit()
    link.close()


if __name__ == "__main__":
    openpyxl_files()
    xlsxwriter_files()
    xlwt_file()
    odfpy_file()
    libreoffice_files()
    if len(sys.argv) > 1:
        node_files(sys.argv[1])
    excel_like()
    google_sheets_like()
    tables()
    hidden_files()
    currency_format_files()
    uncomputed_files()
    times_since_1970()
