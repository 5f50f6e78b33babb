"""Words that have an order: low, medium, high; never, sometimes, always; grade I, II, III.

The scales are those that everybody knows.  A draft only offers an order: words may mean something
else in a trade of their own.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from nacre.schema.draft.names import words

FEWEST = 3  # of two values the order says nothing
# From lowest to highest; what stands between bars is one place.
SCALES = tuple(
    [place.strip().split("|") for place in scale.split(",")]
    for scale in (
        "none|no|zero, very low|lowest, low|lower, medium|moderate|mid|middle|average|normal, "
        "high|higher|elevated, very high|highest, extreme",
        "none|no, trivial|minimal|negligible|very mild, minor|mild|slight|light|low, "
        "moderate|medium, major|severe|serious|significant|high, "
        "critical|dangerous|very severe|extreme, fatal|lethal",
        "xxs, xs|extra small, s|small, m|medium, l|large, xl|extra large, xxl|2xl, xxxl|3xl",
        "tiny|very small, small|little, medium|midsize|mid-size|middle|moderate, large|big, "
        "very large|huge|extra large",
        "very short, short, medium|average, long|tall, very long|very tall",
        "never, hardly ever|almost never, rarely|seldom, sometimes|occasionally, often|frequently, "
        "usually|mostly|very often, almost always, always",
        "strongly disagree, disagree, neutral|neither agree nor disagree|undecided, agree, "
        "strongly agree",
        "very dissatisfied, dissatisfied, neutral|neither, satisfied, very satisfied",
        "very poor|very bad|terrible, poor|bad, fair|average|ok|okay|acceptable|mediocre, good, "
        "very good, excellent|outstanding",
        "not at all, a little|slightly, somewhat|moderately, quite|quite a bit, very|a lot, "
        "extremely",
        "very unlikely, unlikely, possible|neutral, likely, very likely, certain",
        "elective|routine|non-urgent|planned, semi-urgent|less urgent, urgent, "
        "emergency|emergent|immediate",
        "freezing, cold, cool, mild|lukewarm, warm, hot, very hot",
        "very slow, slow, medium|moderate|normal, fast, very fast",
        "none|basic, bronze, silver, gold, platinum, diamond",
        "intern|trainee|apprentice, junior, mid|middle|intermediate|regular, senior, "
        "lead|principal, executive",
        "novice|beginner|elementary, basic, intermediate|medium, advanced|proficient, "
        "expert|native",
        "infant|baby, toddler, child, adolescent|teen|teenager|youth, young adult, adult, "
        "middle-aged, senior|elderly|old",
        "none|no education, primary|elementary|primary school, "
        "secondary|high school|secondary school, associate|some college, "
        "bachelor|bachelors|bachelor's|college|graduate|undergraduate, "
        "master|masters|master's|postgraduate, doctorate|doctoral|phd",
        "hourly, daily, weekly, biweekly|fortnightly, monthly, quarterly, "
        "semiannually|half-yearly, yearly|annually|annual",
        "very early, early, mid|middle|medium, late, very late",
        "before, during, after",
        "primary, secondary, tertiary, quaternary",
        "first|1st, second|2nd, third|3rd, fourth|4th, fifth|5th, sixth|6th, seventh|7th, "
        "eighth|8th, ninth|9th, tenth|10th",
        "i, ii, iii, iv, v, vi, vii, viii, ix, x, xi, xii",
        "f, e-, e, e+, d-, d, d+, c-, c, c+, b-, b, b+, a-, a, a+",
    )
)
LETTERS = len(SCALES) - 1  # which are mostly names of groups
LETTERS_IN_A_ROW = 5
GRADED = {"grade", "grades", "rating", "mark", "marks"}  # by the column's name, letters are grades
HEADS = r"(stage|grade|level|class|phase|tier|degree|step|year|week|band|rank)"
HEADED = re.compile(rf"^{HEADS}\s*[-_:]?\s*(\d+|[ivx]+)$")
NUMBER = re.compile(r"\d+(?:\.\d+)?")
BELOW = re.compile(r"^\W*<|\b(under|below|less|up to|fewer|younger)\b")


def ordered_words(name: str, values: Sequence[str]) -> list[str] | None:
    """The values from lowest to highest, if a known scale has all of them; None otherwise.

    Examples:
        >>> ordered_words("pain", ["severe", "mild", "Moderate", "none"])
        ['none', 'mild', 'Moderate', 'severe']
        >>> ordered_words("finding", ["Stage II", "Stage I", "Stage III"])
        ['Stage I', 'Stage II', 'Stage III']
        >>> ordered_words("age", ["65 and over", "15 to 64 years", "under 5", "5 to 14 years"])
        ['under 5', '5 to 14 years', '15 to 64 years', '65 and over']
        >>> ordered_words("ward", ["A", "B", "C"])
    """
    if len(values) < FEWEST:
        return None
    said = [" ".join(value.lower().replace("_", " ").split()) for value in values]
    heads = [HEADED.match(each) for each in said]
    if all(heads) and len({found[1] for found in heads if found}) == 1:
        return _sorted(values, _numerals([found[2] for found in heads if found]))
    for which, scale in enumerate(SCALES):
        if which == LETTERS and not GRADED & {*words(name)}:
            continue
        places = {each: place for place, those in enumerate(scale) for each in those}
        if all(each in places for each in said):
            return _sorted(values, [places[each] for each in said])
    return _sorted(values, _ranges(said))


def letters_in_a_row(name: str, values: Sequence[str]) -> list[str] | None:
    """Single letters of which none is left out, which may be grades: A to G, or a to e.

    Of fewer than `LETTERS_IN_A_ROW` the name has to say so: A, B and C are wards.  Where it does,
    A is the highest, and stands last.

    Examples:
        >>> letters_in_a_row("energy", ["C", "A", "B", "E", "D"])
        ['A', 'B', 'C', 'D', 'E']
        >>> letters_in_a_row("rating", ["A", "B", "C"])
        ['C', 'B', 'A']
        >>> letters_in_a_row("ward", ["A", "B", "C"]), letters_in_a_row("x", list("ABCDG"))
        (None, None)
    """
    graded = bool(GRADED & {*words(name)})
    found = sorted(values)
    if len(found) < (FEWEST if graded else LETTERS_IN_A_ROW) or not all(
        len(each) == 1 and each.isascii() and each.isalpha() for each in found
    ):
        return None
    if any(ord(one) + 1 != ord(other) for one, other in itertools.pairwise(found)):
        return None
    return found[::-1] if graded else found


def _sorted(values: Sequence[str], places: Sequence[float] | None) -> list[str] | None:
    """Values by their places; None where two share one."""
    if places is None or len({*places}) < len(values):
        return None
    return [value for _, value in sorted(zip(places, values, strict=True))]


def _numerals(said: Sequence[str]) -> list[float] | None:
    roman = [each for (each,) in SCALES[LETTERS - 1]]
    if all(each in roman for each in said):
        return [float(roman.index(each)) for each in said]
    return [float(each) for each in said] if all(each.isdigit() for each in said) else None


def _ranges(said: Sequence[str]) -> list[float] | None:
    """Where ranges in words begin: "under 5", "5 to 14 years", "65 and over"."""
    found = [[float(number) for number in NUMBER.findall(each)] for each in said]
    if not all(len(each) in (1, 2) for each in found):
        return None
    ends = sorted((each[0], each[1]) for each in found if len(each) == 2)
    apart = all(one[1] <= other[0] for one, other in itertools.pairwise(ends))
    if len(ends) < 2 or not apart or any(low >= high for low, high in ends):
        return None
    # What ends at a number comes before what begins there.
    return [
        each[0] - 0.5 * (len(each) == 1 and BELOW.search(text) is not None)
        for each, text in zip(found, said, strict=True)
    ]
