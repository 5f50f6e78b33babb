"""What is said of the label by group: who compares agents by their refunds looks at this."""

from collections.abc import Iterator, Sequence

from nacre.evaluate.findings.amounts import amount_of
from nacre.evaluate.findings.finding import Finding
from nacre.evaluate.findings.words import Listed, listed, percent
from nacre.evaluate.tables.label_groups import LabelGroups
from nacre.schema import Schema

# In standard deviations of the label. Where 8% of the rows have a class, groups that are off by
# 3.3% are avoided and by 1.6% to be taken care with; of one half, by 6% and 3%.
AVOID_LABEL, CARE_LABEL = 0.12, 0.06
TOPIC = "Label by group"
GROUPS = 2  # that are named for each column


def label_findings(found: Sequence[LabelGroups], label: str, schema: Schema) -> Iterator[Finding]:
    """Sentences about the columns by which the label is farthest off."""
    worst = sorted(found, key=lambda groups: -groups.gap)
    bad = [groups for groups in worst if groups.gap > AVOID_LABEL]
    doubtful = [groups for groups in worst if CARE_LABEL < groups.gap <= AVOID_LABEL]

    def shown(some: Sequence[LabelGroups]) -> Listed:
        return listed([_said(each, label, schema) for each in some], 3, "; ")

    if bad:
        weight = 10 * min(bad[0].gap, 1.0) + min(len(bad), 10) / 10
        columns = shown(bad)
        text = f"Do not compare {label} by group: {columns.text}."
        yield Finding("avoid", TOPIC, text, weight, columns.rest)
    if doubtful:
        columns = shown(doubtful)
        text = f"Take care with {label} by group: {columns.text}."
        yield Finding("care", TOPIC, text, min(len(doubtful), 10) / 10, columns.rest)
    if worst and not bad and not doubtful:
        what = f"Shares of {label}" if worst[0].value is not None else f"Means of {label}"
        yield Finding("good", TOPIC, f"{what} by groups of other columns are about right.")


def _said(found: LabelGroups, label: str, schema: Schema) -> str:
    """How the label goes by one column, and in the worst groups."""

    def text(value: float) -> str:
        return percent(value) if found.value is not None else amount_of(label, schema).text(value)

    def reach(values: Sequence[float]) -> str:
        return f"{text(min(values))} to {text(max(values))}"

    here, real = ([getattr(r, side) for r in found.rates] for side in ("synthetic", "real"))
    what = f"mean {label}" if found.value is None else f"{label} = {found.value}"
    groups = ", ".join(
        f"{text(r.synthetic)} instead of {text(r.real)} where {r.group}"
        for r in found.rates[:GROUPS]
    )
    return f"{what} by {found.by} ({reach(here)} here, {reach(real)} in the real table; {groups})"
