"""The demo on images: digits to a private model, synthetic digits and a report, step by step."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.text import Text

import nacre
from nacre.demo import DELTA, Report
from nacre.evaluate.tables.extras import require
from nacre.model import Model
from nacre.rows.pictures import contact_sheet, enlarged, picture_bytes, require_pillow

EPSILON = 5.0  # a few digits: at 1 they would drown in noise
IMAGES = 1_500  # a round number: how many there really are is private
DRAWN = 5_000
TIMES = 6
MODEL, SET, SHEET, REPORT = FILES = ("digits.nacre", "digits.npz", "digits.png", "digits.html")


def run(
    folder: Path,
    *,
    epsilon: float,
    seed: int | None,
    console: Console,
    bars: Callable[[], AbstractContextManager[Report]],
) -> Model:
    """Fit, sample and evaluate digits; leave the files `FILES` in `folder`.

    Files of these names are replaced: asking is the caller's. `bars` opens a progress display; it
    is closed again before anything is printed.
    """
    require("sklearn")  # before the work, not after it
    require_pillow()
    started = time.perf_counter()
    train, test, schema = nacre.datasets.digits()
    console.print(
        f"Handwritten digits, 8 x 8 pixels: {len(train.images):,} to learn from, "
        f"{len(test.images):,} kept to test with."
    )
    console.rule("plan: what will be released, before anything is spent", align="left")
    planned = nacre.plan(schema, epsilon=epsilon, delta=DELTA, rows=IMAGES)
    console.print(str(planned), markup=False)

    console.rule("fit: the only step that reads the private images", align="left")
    with bars() as report:
        model = nacre.fit(
            train, schema, epsilon=epsilon, delta=DELTA, seed=seed, on_progress=report
        )
    model.save(folder / MODEL, replace=True)
    console.print(f"{model.method}: {model.guarantee}", style="bold green", markup=False)

    console.rule("sample: as many images as you like, at no further cost", align="left")
    images, labels = synthetic = model.sample(DRAWN, seed=seed)
    np.savez_compressed(folder / SET, images=images, labels=labels)
    sheet = contact_sheet(images.reshape(-1, *schema.shape), labels)
    (folder / SHEET).write_bytes(picture_bytes(enlarged(sheet, TIMES)))
    console.print(f"{DRAWN:,} synthetic digits; some of each are in {folder / SHEET}.")

    console.rule("evaluate: the data holder's own eyes, not private", align="left")
    with bars() as report:
        found = nacre.evaluate(
            train,
            synthetic,
            schema,
            test=test,
            guarantee=model,
            on_progress=report,
        )
    found.to_html(folder / REPORT)
    console.print(found.summary(), markup=False)
    shown = shlex.quote(str(folder / MODEL))
    for name, what in (
        (REPORT, "how good the synthetic digits are; confidential"),
        (SHEET, "ten synthetic digits of each class; yours to share"),
        (SET, f"{DRAWN:,} synthetic digits; yours to share"),
        (MODEL, f"the model and its certificate; try `nacre show {shown} --verify`"),
    ):
        console.print(Text.assemble((f"{folder / name}", "bold cyan"), f"  {what}"))
    console.print(f"Done in {time.perf_counter() - started:.0f} seconds.")
    return model
