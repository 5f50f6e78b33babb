"""How good are synthetic images? FID and KID on LeNet features, and classifiers trained on them."""

from nacre.evaluate.images.run import ImageEvaluation, evaluate_images

__all__ = ["ImageEvaluation", "evaluate_images"]
