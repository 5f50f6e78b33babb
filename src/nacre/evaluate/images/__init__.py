"""How good are synthetic images? Features of a LeNet, classifiers trained on them, an attack."""

from nacre.evaluate.images.evaluation import ImageEvaluation
from nacre.evaluate.images.run import evaluate_images

__all__ = ["ImageEvaluation", "evaluate_images"]
