"""Something valid, changed at random: text by its words, bytes by flips, cuts and copies."""

import random

VALUES = (
    "null", "[]", "{}", "-1", "1e309", ".nan", "true", "''", "'\\0'", "[[]]", "9" * 400, "0x10",
    "2000-13-45", "*x", "&x [*x]", "!!python/object:os.system ls", "'" + "a" * 70_000 + "'",
    "1970-01-01", "-.inf", "'=cmd()'", "\t", "\ud7ff", "{a: {b: [1, {c: d}]}}",
)  # fmt: skip
SCHEMA = """nacre: 1
label: income
columns:
  age: {type: integer, low: 17, high: 90}
  wage: {type: real, low: 0, high: 1000, decimals: 2, nullable: true}
  sex: {type: categorical, values: [Female, Male]}
  degree: {type: ordinal, values: [low, mid, high]}
  seen: {type: datetime, low: 2000-01-01, high: 2024-12-31, step: 1d}
  income: {type: categorical, values: ["<=50K", ">50K"]}
constraints:
  - age >= 18 if sex = Male
"""
ROWS = """age,wage,sex,degree,seen,income
20,5.5,Male,low,2001-02-03,<=50K
30,,Female,high,2003-01-01,>50K
"""


def changed_text(text: str, rng: random.Random) -> str:
    """A line, a word or a few characters of it made something else."""
    kind = rng.randrange(5)
    if kind == 0:
        lines = text.split("\n")
        place = rng.randrange(len(lines))
        lines[place] = lines[rng.randrange(len(lines))]
        return "\n".join(lines)
    if kind == 1:
        start = rng.randrange(len(text))
        return text[:start] + text[start + rng.randrange(1, 30) :]
    parts = text.replace("{", " { ").replace(",", " , ").replace("}", " } ").split(" ")
    for _ in range(rng.randrange(1, 3)):
        parts[rng.randrange(len(parts))] = rng.choice(VALUES)
    return " ".join(parts)


def changed_bytes(data: bytes, rng: random.Random) -> bytes:
    """Some bytes flipped, cut out or doubled."""
    found = bytearray(data)
    for _ in range(rng.randrange(1, 8)):
        place = rng.randrange(len(found))
        kind = rng.randrange(3)
        if kind == 0:
            found[place] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del found[place : place + rng.randrange(1, 50)]
        else:
            found[place:place] = found[: rng.randrange(1, 60)]
        if not found:
            return b"x"
    return bytes(found)
