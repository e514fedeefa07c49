"""Writes the tables of the blind test into sources/ and a card for each source into cards/.

The same seed gives the same bytes. It must not know the product: question writers see only the cards.
    python make.py           writes all files
    python make.py --check   ends with 1 if a file differs from what would be written
"""

import csv
import datetime as dt
import io
import random
import sys
from pathlib import Path

HERE = Path(__file__).parent
FIRST, LAST = dt.date(2025, 9, 1), dt.date(2026, 11, 29)
MOMENT = dt.datetime(2026, 11, 30, 9, 0)


def day(text):
    return dt.date.fromisoformat(text)


def days(first=FIRST, last=LAST):
    return [first + dt.timedelta(n) for n in range((last - first).days + 1)]


def in_month(date, month):
    return date.isoformat().startswith(month)


def money(cents):
    return f"{cents // 100}.{cents % 100:02}"


# Account, currency, advertiser, campaign, formats, pace in percent, parts of the plan (first, last, budget),
# first day of a pause, month without rows, note. A campaign without a plan runs the whole time.
CAMPAIGNS = [
    ("Northlight", "EUR", "Lagoon Resorts", "Spa Weekends", "VDS", 98, [("2026-09-01", "2026-11-30", 45000)], "", "", ""),
    ("Northlight", "EUR", "Lagoon Resorts", "Easter Sale", "VD", 104, [("2026-03-16", "2026-04-06", 12000)], "", "", ""),
    ("Northlight", "EUR", "Lagoon Resorts", "Mediterranean Cruises", "VD", 82,
     [("2026-10-01", "2026-10-31", 20000), ("2026-11-01", "2026-12-31", 40000)], "", "", "raised in November"),
    ("Northlight", "EUR", "Total Body", "Total Body", "DS", 118, [("2026-11-01", "2026-11-30", 18000)], "", "", ""),
    ("Northlight", "EUR", "Total Body", "Weekend Warriors", "VD", 97, [("2026-06-01", "2026-08-31", 24000)], "", "", ""),
    ("Northlight", "EUR", "Aurora Foods", "May Flowers", "VD", 101, [("2026-05-01", "2026-05-31", 9000)], "", "", ""),
    ("Harbour", "GBP", "Harbour", "Always There", "S", 100, [], "", "", ""),
    ("Harbour", "GBP", "Rhododendron Gardens", "Spring Planting", "DS", 91, [("2026-03-01", "2026-05-31", 20000)], "", "", ""),
    ("Harbour", "GBP", "Rhododendron Gardens", "Christmas Trees", "VD", 130, [("2026-11-27", "2026-12-24", 15000)], "", "", ""),
    ("Harbour", "GBP", "Cheddar & Sons", "Daily Deals", "DS", 100, [("2026-07-01", "2026-12-31", 36800)], "2026-11-16", "",
     "paused since 16 Nov"),
    ("Harbour", "GBP", "Cheddar & Sons", "Black Friday", "VD", 110, [("2025-11-20", "2025-11-30", 10000)], "", "", ""),
    ("Pinecone Media", "EUR", "Fjord Ferries", "Summer Crossings", "VD", 96, [("2026-06-01", "2026-08-31", 70000)], "", "2026-07", ""),
    ("Pinecone Media", "EUR", "Fjord Ferries", "Last Minute", "DS", 135, [("2026-09-01", "2026-12-31", 40000)], "2026-11-28", "", ""),
    ("Pinecone Media", "EUR", "Budget Beds", "Budget Beds Autumn", "VD", 70, [("2026-10-15", "2026-12-15", 22000)], "", "", ""),
    ("Pinecone Media", "EUR", "Budget Beds", "New Year Offers", "VD", 100, [("2026-12-15", "2027-01-15", 14000)], "", "", ""),
    ("Pinecone Media", "EUR", "Aurora Foods", "Recipes of the Month", "DS", 100, [("2025-09-01", "2025-12-31", 20000)], "", "", ""),
]
FORMATS = {"V": ("Video", 1200), "D": ("Display", 400), "S": ("Search", 2500)}


def pacing(rng):
    rows, plan = [], []
    for account, currency, advertiser, campaign, formats, pace, parts, pause, gap, note in CAMPAIGNS:
        for first, last, budget in parts:
            plan.append([account, advertiser, campaign, currency, budget, first, last, note])
        for first, last, budget in parts or [(FIRST.isoformat(), LAST.isoformat(), 45500)]:
            length = (day(last) - day(first)).days + 1
            end = min(day(last), LAST, day(pause) - dt.timedelta(1) if pause else LAST)
            for date in days(day(first), end):
                if gap and in_month(date, gap):
                    continue
                for letter in formats:
                    name, cpm = FORMATS[letter]
                    cents = budget * pace * rng.randint(70, 130) // (length * len(formats) * 100)
                    seen = cents * 1000 * rng.randint(90, 110) // (cpm * 100)
                    rows.append([date, account, advertiser, campaign, f"{campaign} - {name}", currency, money(cents), seen])
    rows.sort(key=lambda row: row[0])
    head = ["Date", "Account", "Advertiser", "Campaign", "Line item", "Currency", "Spend", "Impressions"]
    plan_head = ["Account", "Advertiser", "Campaign", "Currency", "Budget", "First day", "Last day", "Note"]
    return {"pacing_delivery": (head, rows), "pacing_plan": (plan_head, plan)}


ADS = [  # campaign, countries, first, last, month without rows
    ("Brand Search", "Sweden Denmark", "2025-09-01", "2026-11-29", ""),
    ("Top Picks", "Denmark", "2025-10-01", "2025-12-31", ""),
    ("Total Body Care", "Sweden", "2026-01-07", "2026-03-31", ""),
    ("Easter Sale", "Sweden Norway", "2026-03-23", "2026-04-06", ""),
    ("May Day", "Norway", "2026-04-20", "2026-05-05", ""),
    ("Norway", "Norway", "2026-08-01", "2026-11-29", ""),
    ("Weekend Getaways", "Sweden Finland", "2026-04-10", "2026-06-30", ""),
    ("Free Clicks", "Sweden", "2026-09-01", "2026-11-29", "2026-10"),
    ("Scandinavian Rhubarb", "Finland", "2026-08-15", "2026-11-20", ""),
]


def ads(rng):
    rows = []
    for campaign, countries, first, last, gap in ADS:
        for date in days(day(first), day(last)):
            if in_month(date, "2026-07") or gap and in_month(date, gap):
                continue
            for country in countries.split():
                for device, size in [("Mobile", 60), ("Desktop", 35)] + [("Tablet", 5)] * (campaign == "Easter Sale"):
                    seen = rng.randint(40, 80) * size
                    clicks = seen * rng.randint(20, 60) // 1000
                    cost = clicks * rng.randint(300, 900)
                    orders = clicks * rng.randint(0, 60) // 1000
                    value = orders * rng.randint(19900, 89900)
                    rows.append([date, campaign, country, device, seen, clicks, money(cost), orders, money(value)])
    rows.sort(key=lambda row: row[0])
    return {"ads": (["Day", "Campaign", "Country", "Device", "Impr.", "Clicks", "Cost (SEK)", "Conversions", "Conv. value (SEK)"], rows)}


PRODUCTS = [  # product, category, price in cents
    ("Total Body Lotion", "Body care", 1890), ("Monday Soap", "Body care", 650), ("Sunday Roast Pan", "Kitchen", 5490),
    ("Cutlery for Two", "Kitchen", 3900), ("Rhododendron Fertiliser", "Garden", 1250), ("Spring Bulbs", "Garden", 890),
    ("Aurora", "Lamps", 12900), ("Average Lamp", "Lamps", 4590), ("Gift Card", "Best sellers", 5000), ("Weekend Bag", "Best sellers", 8900),
]
CUSTOMERS = ["Aurora", "Kvarnen AB", "Blue Door", "Returned Goods Ltd", "First Avenue", "Monday Club", "Fern & Co", "Smörgås & Co",
             "Northern Thread", "Old Mill", "Total Interiors", "Lagom Hem", "Three Oaks", "Paper Crane", "Zwiebel Feinkost"]
CITIES = ["Stockholm,Sweden", "Uppsala,Sweden", "Oslo,Norway", "Aarhus,Denmark", "Nice,France", "Reading,United Kingdom",
          "Bath,United Kingdom", "May,United Kingdom"]


def orders(rng):
    rows, number = [], 40210
    home = {customer: CITIES[at % len(CITIES)].split(",") for at, customer in enumerate(CUSTOMERS)}
    for date in days(last=MOMENT.date()):
        if in_month(date, "2026-02"):
            continue
        times = sorted(rng.randint(0, 24 * 60 - 1) for _ in range(rng.randint(1, 5)))
        for minute in times:
            number += 1
            at = dt.datetime.combine(date, dt.time(minute // 60, minute % 60))
            customer = rng.choice(CUSTOMERS)
            for product, category, price in rng.sample(PRODUCTS, rng.randint(1, 3)):
                count = rng.randint(1, 4)
                net = price * count * rng.choice([100, 100, 90, 80]) // 100
                returned = "yes" if rng.randint(1, 100) <= 7 else "no"
                if at < MOMENT:
                    rows.append([number, at.strftime("%Y-%m-%d %H:%M"), customer, product, category, *home[customer], count,
                                 money(net), returned])
    return {"orders": (["Order ID", "Ordered at", "Customer", "Product", "Category", "City", "Country", "Qty", "Net amount (EUR)",
                        "Returned"], rows)}


DEPARTMENTS = ["Marknad", "Försäljning", "Support", "IT", "Total Rewards", "Ledning"]
COSTS = [("Löner", 400000), ("Resor", 30000), ("Programvara", 45000), ("Lokaler", 60000), ("Marknad", 80000), ("Budgethotell", 12000)]


def budget(rng):
    rows = []
    months = [dt.date(2025 + (8 + n) // 12, (8 + n) % 12 + 1, 1) for n in range(16)]
    for department in DEPARTMENTS:
        for cost, size in COSTS:
            yearly = size * rng.randint(50, 150) // 100
            for month in months:
                if department == "IT" and in_month(month, "2026-07"):
                    continue
                planned = "" if (department, cost) == ("Ledning", "Budgethotell") else yearly // 100 * 100
                share = 90 if in_month(month, "2026-11") else 100
                actual = "" if month > LAST else money(yearly * rng.randint(75, 125) * share // 100)
                rows.append([department, cost, month, planned, actual])
    return {"budget": (["Avdelning", "Kostnadsslag", "Månad", "Budget", "Utfall"], rows)}


PAGES = [("/", 90), ("/pricing", 40), ("/blog/weekend-guide", 35), ("/easter", 15), ("/top-10", 30), ("/contact", 10)]
CHANNELS = [("Organic Search", 100), ("Paid Search", 70), ("Direct", 80), ("Email", 30), ("Social", 40), ("May Partners", 10)]


def web(rng):
    rows = []
    for date in days():
        for page, weight in PAGES:
            for channel, size in CHANNELS:
                for device, part in [("mobile", 6), ("desktop", 4)]:
                    if in_month(date, "2026-01") or rng.randint(1, 100) > 16:
                        continue
                    sessions = 1 + weight * size * part * rng.randint(60, 140) // 10000
                    users = sessions * rng.randint(75, 98) // 100 + 1
                    views = sessions * rng.randint(110, 320) // 100
                    bounces = sessions * rng.randint(25, 65) // 100
                    sales = sessions * rng.randint(0, 50) // 1000
                    rows.append([date, page, channel, device, sessions, min(users, sessions), views, bounces, sales])
    return {"web": (["Date", "Page", "Channel", "Device", "Sessions", "Users", "Pageviews", "Bounces", "Conversions"], rows)}


TEAMS = [("Billing", 30), ("First Line", 12), ("Returns", 45), ("Night Shift", 90), ("Open Platform", 60), ("Partner", 75)]


def tickets(rng):
    rows, number = [], 7000
    for date in days(last=MOMENT.date()):
        if in_month(date, "2026-03"):
            continue
        for minute in sorted(rng.randint(360, 1300) for _ in range(rng.randint(3, 11))):
            number += 1
            opened = dt.datetime.combine(date, dt.time(minute // 60, minute % 60))
            team, speed = rng.choice(TEAMS)
            priority = rng.choice(["low", "normal", "normal", "normal", "high", "urgent"])
            channel = rng.choice(["email", "email", "chat", "phone", "web form", "Partner"])
            answer = speed * rng.randint(20, 300) // 100
            closed = opened + dt.timedelta(minutes=answer + rng.randint(10, 4000))
            score = rng.choice(["", "", 1, 2, 3, 4, 4, 5, 5])
            is_open = closed >= MOMENT or rng.randint(1, 100) <= 2
            if opened < MOMENT:
                waits = opened + dt.timedelta(minutes=answer) >= MOMENT
                rows.append([f"T-{number}", opened.strftime("%Y-%m-%d %H:%M"), "" if is_open else closed.strftime("%Y-%m-%d %H:%M"),
                             team, priority, channel, "" if waits else answer, "" if is_open else score])
    return {"tickets": (["ticket", "opened_at", "closed_at", "team", "priority", "channel", "minutes_to_answer", "satisfaction"], rows)}


CLUBS = [("Total Body", "Bath", 420), ("Sunday Street", "Reading", 260), ("North Yard", "Bath", 150)]
PLANS = [("Off-Peak", 1900, 20), ("Total Body", 3900, 35), ("Weekend", 2400, 45)]


def gym(rng):
    rows = []
    members = {(club, plan): size * part // 100 for club, _, size in CLUBS for plan, _, part in PLANS}
    for date in days():
        for club, city, _ in CLUBS:
            for plan, fee, part in PLANS:
                if club == "Sunday Street" and in_month(date, "2026-08"):
                    continue
                joined, left = rng.randint(0, 3), rng.randint(0, 2) + (rng.randint(1, 3) == 1)
                members[club, plan] += joined - left
                count = max(members[club, plan], 5)
                visits = count * rng.randint(8, 30) // 100
                fees = count * fee if date.day == 1 else joined * fee
                rows.append([date, club, city, plan, count, joined, left, visits, money(fees)])
    return {"gym": (["Date", "Club", "City", "Membership", "Members at end of day", "Joined", "Left", "Visits", "Fees (GBP)"], rows)}


TITLES = [("Norrdalens Tidning", 29900), ("Helgbladet", 14900), ("Veckans Kronor", 9900), ("Mora Morgon", 24900)]
TOWNS = ["Mora", "Kil", "Maj", "Storvik", "Åmål", "Första byn"]
CHANNELS_SV = ["Webb", "Telefon", "Butik", "Ombud", "Mora Morgon"]
OFFERS = ["", "", "", "Sommar för halva priset", "Första månaden", "Påskerbjudande"]


def newspaper(rng):
    rows, people = [], []
    for number in range(260):
        start = FIRST + dt.timedelta(rng.randint(-200, 430))
        end = start + dt.timedelta(rng.randint(90, 900))
        people.append((30100 + number, start, end, *rng.choice(TITLES), rng.choice(["Papper", "Digital", "Digital"]), rng.choice(TOWNS),
                       rng.choice(CHANNELS_SV), rng.choice(OFFERS)))
    for date in days():
        for number, start, end, title, price, edition, town, channel, offer in people:
            if date.day != min(start.day, 28) or not start <= date < end or in_month(date, "2026-04") and title == "Helgbladet":
                continue
            full = price if edition == "Papper" else price * 60 // 100
            discount = full // 2 if offer and (date - start).days < 95 else 0
            paid = "Nej" if rng.randint(1, 100) <= (40 if in_month(date, "2026-11") else 3) else "Ja"
            comma = [money(cents).replace(".", ",") for cents in (full - discount, discount)]
            rows.append([date, number, title, edition, town, channel, offer, *comma, paid])
    return {"newspaper": (["Fakturadatum", "Prenumerationsnr", "Titel", "Upplaga", "Ort", "Säljkanal", "Kampanj", "Belopp (SEK)",
                           "Rabatt (SEK)", "Betald"], rows)}


SOURCES = [  # name, function, rounds, subject, period
    ("pacing", pacing, "1 and 2", "Advertising that an agency runs for its clients: what was spent and shown each day, and the plan: "
     "how much is to be spent from which to which day. Amounts are in the currency of the row. One campaign has no plan.",
     "2025-09-01 to 2026-11-29; plans until 2027-01-15"),
    ("ads", ads, "1 and 2", "An export of a shop's ads, one row for each day, campaign, country and device. Amounts are in SEK.",
     "2025-09-01 to 2026-11-29"),
    ("orders", orders, "1 and 2", "Orders of a web shop, one row for each product of an order. Amounts are in EUR without tax.",
     "2025-09-01 to 2026-11-30, before 9 in the morning"),
    ("budget", budget, "1", "A company's budget sheet, one row for each department, type of cost and month. `Utfall` is what was really "
     "spent; months to come have none. Amounts are in SEK.", "2025-09 to 2026-12; `Utfall` until 2026-11"),
    ("web", web, "1", "Visits of a web site, one row for each day, page, channel and device.", "2025-09-01 to 2026-11-29"),
    ("tickets", tickets, "1 and 2", "A table of a database with support tickets, one row each. A ticket without `closed_at` is open. "
     "`satisfaction` is from 1 to 5, and empty if the customer gave none.", "2025-09-01 to 2026-11-30, before 9 in the morning"),
    ("gym", gym, "2", "Three gyms, one row for each day, club and membership. `Members at end of day` is how many members there are, "
     "not how many came.", "2025-09-01 to 2026-11-29"),
    ("newspaper", newspaper, "2", "Invoices for subscriptions of a newspaper publisher in Sweden, one row each. Amounts are in SEK "
     "without tax.", "2025-09-01 to 2026-11-29"),
]

# Values that are always on the cards: names with other words in them, and campaigns with something special.
SHOWN = {"Spa Weekends", "Easter Sale", "Total Body", "Always There", "Daily Deals", "May Day", "Weekend Getaways", "Aurora", "Returned Goods Ltd",
         "Total Body Lotion", "Sunday Roast Pan", "May", "Reading", "Nice", "Best sellers", "Total Rewards", "Marknad", "Budgethotell",
         "/easter", "/top-10", "Direct", "First Line", "Partner", "Sunday Street", "Weekend", "Helgbladet", "Maj", "Mora Morgon"}


def as_csv(head, rows, delimiter):
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows([head, *rows])
    return text.getvalue()


def as_sql(head, rows):
    """Returns the tickets as a script for psql. It creates the table and copies the rows into it."""
    types = ["text PRIMARY KEY", "timestamp NOT NULL", "timestamp", "text", "text", "text", "integer", "smallint"]
    columns = ",\n".join(f"    {name} {kind}" for name, kind in zip(head, types))
    lines = ["\t".join(str(cell) if cell != "" else "\\N" for cell in row) for row in rows]
    return f"CREATE TABLE tickets (\n{columns}\n);\nCOPY tickets FROM stdin;\n" + "\n".join(lines) + "\n\\.\n"


def card(rng, name, rounds, subject, period, tables):
    lines = [f"# {name}", "", subject, "", f"Period: {period}. Now it is Monday 2026-11-30, 09:00 in Stockholm.", f"Rounds: {rounds}."]
    for table, (head, rows) in tables.items():
        lines += ["", f"Table `{table}`, {len(rows)} rows", "", "| column | five values |", "|---|---|"]
        for at, column in enumerate(head):
            values = sorted({str(row[at]) for row in rows} - {""})
            shown = [value for value in values if value in SHOWN]
            others = [value for value in values if value not in SHOWN]
            chosen = [*shown, *rng.sample(others, min(5 - len(shown), len(others)))]
            lines.append(f"| {column} | {' · '.join(chosen)} |")
    return "\n".join(lines) + "\n"


def files():
    """Returns all files with their content."""
    made = {}
    for name, write, rounds, subject, period in SOURCES:
        tables = write(random.Random(f"blind {name}"))
        for table, (head, rows) in tables.items():
            made[f"sources/{table}.csv"] = as_csv(head, rows, ";" if name == "newspaper" else ",")
        if name == "tickets":
            made["sources/tickets.sql"] = as_sql(*tables["tickets"])
        made[f"cards/{name}.md"] = card(random.Random(f"card {name}"), name, rounds, subject, period, tables)
    return made


def main():
    differing = []
    for path, content in files().items():
        target = HERE / path
        if not target.exists() or target.read_text(encoding="utf-8") != content:
            differing.append(path)
        if "--check" not in sys.argv:
            target.parent.mkdir(exist_ok=True)
            target.write_text(content, encoding="utf-8", newline="\n")
    if "--check" in sys.argv and differing:
        sys.exit(f"These files differ: {', '.join(differing)}")


if __name__ == "__main__":
    main()
