"""Makes the sample database: sample_database.py FOLDER_OF_CSV_FILES DATABASE."""

import csv
import os
import sqlite3
import sys
from datetime import datetime
from pathlib import Path


def read(name):
    with open(Path(sys.argv[1]) / name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def number(text):
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        return None


def day(text):
    for form in ("%Y-%m-%d", "%Y/%m/%d", "%m/%d/%Y", "%b %d %Y"):
        try:
            return datetime.strptime(text.strip(), form).strftime("%Y-%m-%d")
        except ValueError:
            pass
    return text


def employment():
    for row in read("us-employment.csv"):
        month = day(row.pop("month"))[:7]
        for industry, jobs in row.items():
            if industry not in ("nonfarm_change",):
                yield month, industry, number(jobs)


TABLES = {
    "employment": ("month TEXT, industry TEXT, jobs INTEGER, PRIMARY KEY (month, industry)", employment),
    "electricity": (
        "year INTEGER, source TEXT, generation INTEGER, PRIMARY KEY (year, source)",
        lambda: ((int(day(row["year"])[:4]), row["source"], number(row["net_generation"])) for row in read("iowa-electricity.csv")),
    ),
    "weather": (
        "date TEXT PRIMARY KEY, precipitation REAL, temp_max REAL, temp_min REAL, wind REAL, weather TEXT",
        lambda: (
            (day(row["date"]), *(number(row[name]) for name in ("precipitation", "temp_max", "temp_min", "wind")), row["weather"])
            for row in read("seattle-weather.csv")
        ),
    ),
    "stocks": (
        "symbol TEXT, month TEXT, price REAL, PRIMARY KEY (symbol, month)",
        lambda: ((row["symbol"], day(row["date"])[:7], number(row["price"])) for row in read("stocks.csv")),
    ),
    "airports": (
        "iata TEXT PRIMARY KEY, name TEXT, city TEXT, state TEXT, country TEXT, latitude REAL, longitude REAL",
        lambda: (
            (*(row[name] for name in ("iata", "name", "city", "state", "country")), number(row["latitude"]), number(row["longitude"]))
            for row in read("airports.csv")
        ),
    ),
}

target = Path(sys.argv[2])
new = target.with_suffix(".new")
new.unlink(missing_ok=True)
database = sqlite3.connect(new)
for name, (columns, rows) in TABLES.items():
    database.execute(f"CREATE TABLE {name} ({columns})")
    rows = list(rows())
    marks = ", ".join("?" for _ in rows[0])
    database.executemany(f"INSERT OR IGNORE INTO {name} VALUES ({marks})", rows)
database.commit()
database.close()
os.replace(new, target)
