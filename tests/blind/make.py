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


def comma(cents):
    return money(cents).replace(".", ",")


def tenths(count):
    return f"{count // 10},{count % 10}"


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


BRANCHES = [("Battle", 30), ("Deal", 24), ("Sale", 26), ("Street", 12), ("Ware", 16)]
VETS = {"Battle": ["April May", "Dr Best"], "Deal": ["Dr Best", "Tom Short"], "Sale": ["Will Day", "Ruth Black"],
        "Street": ["Sunday Okafor", "Will Day"], "Ware": ["Ruth Black", "Ann Moore"]}
SPECIES = ["Dog", "Dog", "Dog", "Dog", "Cat", "Cat", "Cat", "Rabbit", "Horse"]
PETS = ["Max", "Sunday", "Lucky", "Penny", "Total Chaos", "Count Dracula", "Best Boy", "Minnie", "Friday", "Rhubarb", "Cheddar", "Top Cat",
        "Pepper", "Biscuit", "Duke", "August", "Nettle", "Zero", "Ginger", "Half Pint", "Odd Sock", "Marmalade", "Bramble", "Number One"]
CLIENTS = ["Price", "Last", "Bigger", "Winter", "Day", "Marsh", "Fairweather", "Baker", "Summers", "Little", "Weekes", "Goodyear", "Monday",
           "Hargreaves", "Most", "Ashdown", "Penrose", "Cash", "Farmer", "Quarterman"]
INSURERS = ["", "", "", "Total Paws", "Always Covered", "First Friend", "Bellwether"]
TREATMENTS = [  # treatment, type, price in pence, weight, whether insurers pay a part
    ("Consultation", "Check-ups", 4800, 34, True), ("Total Health Check", "Check-ups", 7900, 12, False),
    ("New Year Booster", "Vaccination", 5600, 14, False), ("Spring Tick Jab", "Vaccination", 3400, 10, False),
    ("Teeth Cleaning", "Dental", 21500, 8, True), ("Best Breath Plan", "Dental", 2900, 7, False),
    ("X-ray", "Diagnostics", 16800, 9, True), ("Blood Count", "Diagnostics", 8900, 11, True),
    ("Surgery", "Surgery", 68000, 5, True), ("Night Stay", "Hospital", 14500, 6, True), ("Weekend Stay", "Hospital", 39500, 2, True),
]


def vets(rng):
    patients = []
    for client in CLIENTS:
        for pet in rng.sample(PETS, rng.randint(2, 5)):
            title = "Mr Mrs Ms".split()[CLIENTS.index(client) % 3]
            home = rng.choices(*zip(*BRANCHES))[0]
            patients.append((f"{title} {client}", pet, rng.choice(SPECIES), rng.choice(INSURERS), home))
    rows, number = [], 18400
    for date in days():
        for branch, size in BRANCHES:
            if date.weekday() == 6 and branch != "Street" or branch == "Ware" and date < day("2026-02-02"):
                continue
            if branch == "Battle" and in_month(date, "2026-05") or (date.month, date.day) in [(12, 25), (12, 26), (1, 1)]:
                continue
            for _ in range(rng.randint(0, size // 11 + 1) * (140 if in_month(date, "2026-10") else 100) // 100):
                number += 1
                near = [patient for patient in patients if patient[4] == branch]
                client, pet, species, insurer, _ = rng.choice(near if rng.randint(1, 100) <= 85 else patients)
                vet = rng.choice(VETS[branch])
                late = rng.choice([0, 0, 0, 2, 9, 14]) if not insurer else rng.randint(6, 45)
                paid = date + dt.timedelta(late)
                unpaid = paid > LAST or rng.randint(1, 100) <= 3
                picked = {}
                for _ in range(rng.choice([1, 1, 1, 2, 2, 3])):
                    treatment = rng.choices(TREATMENTS, [line[3] for line in TREATMENTS])[0]
                    picked[treatment[0]] = treatment
                for treatment, kind, price, _, insured in picked.values():
                    cents = price * rng.randint(90, 130) * (2 if species == "Horse" else 1) // 10000 * 100 + rng.choice([0, 0, 50, 95])
                    share = "" if not insurer else money(cents * rng.choice([60, 70, 80]) // 100 if insured else 0)
                    rows.append([number, date, branch, vet, client, pet, species, treatment, kind, money(cents), insurer, share,
                                 "" if unpaid else paid])
    return {"vets": (["Visit no", "Visit date", "Branch", "Vet", "Client", "Pet", "Species", "Treatment", "Treatment type", "Price (GBP)",
                      "Insurer", "Insurer pays (GBP)", "Paid on"], rows)}


HOUSES = [  # house, town, type, manager, flats or other units
    ("Söndagen 3", "Vara", "Bostäder", "Maj Lund", 48), ("Söndagen 4", "Vara", "Bostäder", "Maj Lund", 36),
    ("Totalen 1", "Vara", "Lokaler", "Egen drift", 9), ("Sommaren 12", "Bro", "Bostäder", "Nora Berg", 64),
    ("Bästa Läget", "Bro", "Bostäder", "Nora Berg", 22), ("Första Kvartalet", "Bro", "Lokaler", "Sista Länken AB", 14),
    ("Bro", "Sala", "Bostäder", "Sista Länken AB", 30), ("Vaktmästaren 7", "Sala", "Bostäder", "Egen drift", 41),
    ("Garaget Norr", "Sala", "Garage", "Egen drift", 80), ("Lördagen 2", "Sunne", "Bostäder", "Maj Lund", 27),
    ("Hyresgästen 5", "Sunne", "Bostäder", "Maj Lund", 19), ("Vintern 1", "Sunne", "Lokaler", "Nora Berg", 6),
    ("Medelvägen 10", "Höör", "Bostäder", "Sista Länken AB", 55), ("Tomten 8", "Höör", "Bostäder", "Sista Länken AB", 33),
    ("Garaget Nora", "Nora", "Garage", "Nora Berg", 45), ("Aprilvädret 6", "Nora", "Bostäder", "Nora Berg", 24),
    ("Mest Ljus", "Nora", "Lokaler", "Egen drift", 11), ("Åldermannen 9", "Höör", "Bostäder", "Egen drift", 38),
]
BOUGHT, SOLD = {"Mest Ljus": "2026-03"}, {"Åldermannen 9": "2026-06"}
RENTS = {"Bostäder": 820000, "Lokaler": 2150000, "Garage": 70000}
USED = {"Bostäder": (900, 11000, 95), "Lokaler": (4200, 19000, 60), "Garage": (110, 0, 0)}
COLD = [100, 95, 80, 55, 30, 15, 10, 12, 28, 55, 78, 95]


def housing(rng):
    rows = []
    months = [dt.date(2025 + (8 + n) // 12, (8 + n) % 12 + 1, 1) for n in range(15)]
    size = {house: rng.randint(85, 115) for house, *_ in HOUSES}
    for month in months:
        for house, town, kind, manager, units in HOUSES:
            name = month.isoformat()[:7]
            if name < BOUGHT.get(house, "") or name > SOLD.get(house, "9999"):
                continue
            unread = name == "2026-11" or house == "Tomten 8" and name in ("2026-01", "2026-02")
            empty = min(units, units * rng.choice([0, 0, 3, 5, 8, 12]) // 100 + rng.choice([0, 0, 1]))
            rent = (units - empty) * RENTS[kind] * size[house] // 100
            rent = rent * (104 if name >= "2026-01" else 100) // 100
            cold, (watts, warmth, litres) = COLD[month.month - 1], USED[kind]
            power = units * watts * (200 + cold) * rng.randint(85, 115) // 30000
            heat = units * warmth * cold * rng.randint(85, 115) // 10000
            water = units * litres * rng.randint(80, 125) // 100
            power_cost, heat_cost = power * rng.randint(130, 210) // 10, heat * rng.randint(92, 104) // 10
            repairs = rng.randint(150000, 9000000) if rng.randint(1, 100) <= 55 else 0
            if house == "Sommaren 12" and name == "2026-09":
                repairs = 41250000
            faults = units * rng.randint(0, 22) // 100
            read = ["" if unread or not count else tenths(count) for count in (power, heat, water)]
            costs = ["" if unread or not cents else comma(cents) for cents in (power_cost, heat_cost)]
            rows.append([month, house, town, kind, manager, units, empty, comma(rent), *read, *costs,
                         comma(repairs) if repairs else "", faults])
    return {"housing": (["Månad", "Fastighet", "Ort", "Typ", "Förvaltare", "Enheter", "Varav tomma", "Hyror (SEK)", "El (kWh)",
                         "Fjärrvärme (kWh)", "Vatten (m³)", "Elkostnad (SEK)", "Värmekostnad (SEK)", "Reparationer (SEK)",
                         "Felanmälningar"], rows)}


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
    ("vets", vets, "2", "Visits at the five branches of a vet in England, one row for each treatment of a visit. `Insurer pays (GBP)` "
     "is the part of the price that the insurer pays; it is empty if the pet is not insured. A row without `Paid on` is not paid yet.",
     "2025-09-01 to 2026-11-29"),
    ("housing", housing, "2", "A monthly sheet of a housing company in Sweden, one row for each property (`Fastighet`) and month. "
     "`Enheter` is how many flats, premises or parking spaces it has, `Varav tomma` how many of them are empty. Amounts are in SEK. "
     "Meters of November are not read yet.", "2025-09 to 2026-11; electricity, heating and water until 2026-10"),
]

# Values that are always on the cards: names with other words in them, and campaigns with something special.
SHOWN = {"Spa Weekends", "Easter Sale", "Total Body", "Always There", "Daily Deals", "May Day", "Weekend Getaways", "Aurora", "Returned Goods Ltd",
         "Total Body Lotion", "Sunday Roast Pan", "May", "Reading", "Nice", "Best sellers", "Total Rewards", "Marknad", "Budgethotell",
         "/easter", "/top-10", "Direct", "First Line", "Partner", "Sunday Okafor", "Dr Best", "April May", "Total Chaos", "Best Boy",
         "Mr Price", "Mrs Last", "Total Health Check", "New Year Booster", "Dental", "Total Paws", "Always Covered",
         "Söndagen 3", "Totalen 1", "Bästa Läget", "Bro", "Vara", "Sista Länken AB"}


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
            made[f"sources/{table}.csv"] = as_csv(head, rows, ";" if name == "housing" else ",")
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
