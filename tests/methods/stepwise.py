"""Which methods train step by step: their cost is a privacy-loss distribution, which takes time."""

from nacre.errors import NacreError
from nacre.vault import Adjacency, Steps


def asks_for_steps(method, encoder) -> bool:
    """Whether the method would train step by step on such rows; no if it would refuse them."""
    try:
        questions = method.questions(encoder, Adjacency.ADD_REMOVE, 200)
    except NacreError:
        return False
    return any(isinstance(question, Steps) for question in questions)
