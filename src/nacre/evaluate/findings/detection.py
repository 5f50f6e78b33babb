"""What is said of a classifier that tells synthetic rows from real ones."""

from collections.abc import Iterator, Sequence

from nacre.evaluate.findings.finding import Finding
from nacre.evaluate.scores.score import Score

HARDLY = 0.55  # an area under the curve at which rows look alike, also to one who looks for it
NAMED = 3


def detection_findings(scores: Sequence[Score]) -> Iterator[Finding]:
    """One sentence; a note, as a table may be told from real rows and still be right on average."""
    whole = next((score for score in scores if not score.part), None)
    if whole is None:
        return
    area = f"area under the curve {whole.value:.2f}, where 0.50 is guessing"
    if whole.value <= HARDLY + 2 * (whole.error or 0.0):
        yield Finding("good", "Told apart", f"A classifier hardly tells the rows apart: {area}.")
        return
    telling = sorted((score for score in scores if score.part), key=lambda score: score.value)
    said = ", ".join(f"{score.part} ({score.value:.2f} without it)" for score in telling[:NAMED])
    what = f" What gives them away most: {said}." if said else ""
    text = f"A boosted classifier tells synthetic rows from real ones: {area}.{what}"
    yield Finding("note", "Told apart", text, whole.value)
