"""A checklist by NIST SP 800-226, "Guidelines for Evaluating Differential Privacy Guarantees".

The publication (2025) stacks what a guarantee rests on as a pyramid: privacy parameters and unit of
privacy on top, then algorithms, utility and bias, and below them access control, trust model, side
channels and how the data were collected.  What follows from the certificate is ticked and said;
what only the data holder knows stays open, with the question.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from nacre.publish import told
from nacre.publish.told import Report
from nacre.vault.guarantee import upwards

TITLE = "Checklist by NIST SP 800-226"
LEAD = (
    "What a differential privacy guarantee rests on, from the top of the publication’s pyramid to "
    "its base. [x] follows from the certificate, which `nacre show MODEL --verify` recomputes; [ ] "
    "is for the data holder to answer. It is an aid, not a certification by anybody."
)
STRONG, WEAK = 1.0, 10.0


def to_markdown(report: Report) -> str:
    """The checklist, for people to fill in and keep beside the release."""
    lines = [f"# {TITLE}", "", told.product(report), "", LEAD]
    for title, items in _sections(report).items():
        lines += ["", f"## {title}", "", *items]
    return "\n".join(lines) + "\n"


def _sections(report: Report) -> dict[str, list[str]]:
    return {
        "Privacy parameters": list(_parameters(report)),
        "Unit of privacy": list(_unit(report)),
        "Algorithms and correctness": list(_algorithms(report)),
        "Utility": [
            _open("Is the data good enough for its use? What was it tested on, and by whom?"),
            _known("What can be said in public of its quality is on the public page."),
        ],
        "Bias": [
            _open("Which groups are small? Noise hits them hardest; were they looked at?"),
            _open("Is it said with the data that groups and rare values may be distorted?"),
        ],
        "Access control": [
            _open("Who can read the private rows, and the machine on which the model was made?"),
            _open("Are evaluations and reports on private rows kept as confidential as these?"),
            _open("Is there one ledger for all releases of this data set, and who may open it?"),
        ],
        "Trust model": [
            _known(
                "Central: the holder is trusted with the rows. Receivers need not be trusted; they "
                "may know every row but one."
            ),
            _open("Do the people in the data know, and accept, that the holder is trusted?"),
        ],
        "Side channels": [
            _known(told.FLOATING),
            _known("Noise comes from the operating system’s generator, never from the seed."),
            _known(told.SIDE),
            _open("Could anybody else watch the machine while the model was made?"),
        ],
        "Data collection exposure": [
            _open("How were the data collected, moved and stored, and when will they be deleted?"),
            _open("Was more collected than is needed?"),
        ],
    }


def _parameters(report: Report) -> Iterator[str]:
    found = report.together
    epsilon = upwards(found.epsilon, 4)
    yield _known(f"ε = {epsilon:g}, δ = {upwards(found.delta, 4):g}: approximate DP, not pure.")
    factor = f"{math.exp(min(found.epsilon, 50)):,.3g}"
    yield _known(
        f"One {found.unit} changes the probability of any outcome by a factor of {factor} at most, "
        "up to δ."
    )
    if found.epsilon > WEAK:
        yield _open(f"ε is above {WEAK:g}, which by itself promises little. Why is it enough?")
    elif found.epsilon > STRONG:
        yield _open(f"ε is between {STRONG:g} and {WEAK:g}. Why is it small enough here?")
    yield _open("Is δ far below one over the number of people?")
    yield _open("Which other releases were made from the same people? Their ε and δ add up.")


def _unit(report: Report) -> Iterator[str]:
    found = report.together
    yield _known(f"{told.unit(found)}. {told.neighbors(found)}")
    if found.most_rows is None:
        yield _open(
            "Has every person one row only? If not, a person’s ε is that many times larger."
        )
    else:
        yield _open(
            "Does the column of ids name one person by one id, and not a visit or a device?"
        )
    yield _open("Do households or families need protection as one unit?")


def _algorithms(report: Report) -> Iterator[str]:
    for release in told.releases(report):
        yield _known(told.mechanism(release))
    yield _known(told.COMPOSED)
    yield _known(told.AFTER)
    yield _known(told.unprotected(report))
    yield _open("Are the schema’s bounds and values known without looking at the rows?")
    yield _open("Were method and settings chosen without trying them on these rows?")
    if report.together.hidden:
        yield _known("α-LMDP was asked for, too; it hides an aggregate and is no part of ε.")
    yield _known(f"Software: {told.software(report)}.")


def _known(text: str) -> str:
    return f"- [x] {text}"


def _open(text: str) -> str:
    return f"- [ ] {text}"
