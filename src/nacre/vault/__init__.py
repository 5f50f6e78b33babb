"""The privacy kernel: the only code that computes with private rows for a release."""

from nacre.vault.accountant import epsilon_of
from nacre.vault.bound import Adjacency, Bound, Segment
from nacre.vault.doors.choose import Choice, Choices
from nacre.vault.doors.keys import Keys
from nacre.vault.doors.steps import Program, Stage, Steps
from nacre.vault.doors.sum import Sum, Sums, count_question
from nacre.vault.doors.votes import Ballots, Teacher, Votes
from nacre.vault.gaussian_dp import gaussian_delta, gaussian_epsilon, gaussian_mu
from nacre.vault.guarantee import Guarantee, Hidden
from nacre.vault.plan import Plan
from nacre.vault.question import AbstractQuestion, Expected
from nacre.vault.release import Release
from nacre.vault.vault import Vault

__all__ = [
    "AbstractQuestion",
    "Adjacency",
    "Ballots",
    "Bound",
    "Choice",
    "Choices",
    "Expected",
    "Guarantee",
    "Hidden",
    "Keys",
    "Plan",
    "Program",
    "Release",
    "Segment",
    "Stage",
    "Steps",
    "Sum",
    "Sums",
    "Teacher",
    "Vault",
    "Votes",
    "count_question",
    "epsilon_of",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_mu",
]
