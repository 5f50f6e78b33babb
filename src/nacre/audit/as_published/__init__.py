"""Unsound schemes, re-created as they were published, so that audits can be tried on them.

NOT PRIVATE, any of them.  They are no methods: they are not in the registry, fit no table of yours
and draw nothing.  Each is a few lines that make the published mistake on the pair of neighboring
tables which shows it, beside the same few lines mended.  An audit that does not flag the first, or
flags the second, is broken.
"""

from nacre.audit.as_published.control import Control
from nacre.audit.as_published.encoders import DECODER_NOISE_ONLY, ENCODER_WITHOUT_NOISE
from nacre.audit.as_published.gradients import BATCH_PENALTY, DETACHED_NOISE
from nacre.audit.as_published.metadata import EXACT_EXTREMES, LABEL_SHARES, SCALING, VALUE_LIST
from nacre.audit.as_published.scales import PLAIN, PRIVBAYES, SEEDED_NOISE, TEXTBOOK_SIGMA

CONTROLS: tuple[Control, ...] = (
    ENCODER_WITHOUT_NOISE,
    DECODER_NOISE_ONLY,
    BATCH_PENALTY,
    DETACHED_NOISE,
    SCALING,
    TEXTBOOK_SIGMA,
    SEEDED_NOISE,
    LABEL_SHARES,
    VALUE_LIST,
    EXACT_EXTREMES,
    PRIVBAYES,
)

__all__ = ["CONTROLS", "PLAIN", "Control"]
