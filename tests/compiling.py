"""How the programs of a test are compiled: as they are for users, or in about half the time."""

import contextlib
import threading

import jax
from jax._src import compiler
from jax._src.interpreters import mlir

# Without these XLA makes each fusion by LLVM alone, which takes about half as long in all.
FEW = "jax_disable_most_optimizations"
FUSIONS = ("xla_cpu_use_fusion_emitters", False)
PROGRAMS = 100  # that are written down in one context, which keeps all their constants


def shorten() -> None:
    """Let `quickly` leave out the compiler's slow way to fuse operations as well.

    JAX has no setting for it that can change while a process runs, so that its own function is
    wrapped; with a JAX or an XLA in which that cannot be done, tests only take longer.
    """
    made = getattr(compiler, "get_compile_options", None)
    if made is None or not _known():
        return

    def options(*arguments, **more):
        found = made(*arguments, **more)
        if jax.config.read(FEW):
            found.env_option_overrides = [*found.env_option_overrides, FUSIONS]
        return found

    compiler.get_compile_options = options


def share_contexts() -> None:
    """Write many programs down in one context of MLIR, each of which takes 5 ms to make.

    A program is the same in any of them; most are so small that this is a fifth of their time.
    """
    made, kept = getattr(mlir, "make_ir_context", None), threading.local()
    if made is None:
        return

    def shared():
        if not getattr(kept, "left", 0):
            kept.context, kept.left = made(), PROGRAMS
        kept.left -= 1
        return kept.context

    mlir.make_ir_context = shared


def _known() -> bool:
    """Whether XLA has the option: it refuses what it does not know."""
    with contextlib.suppress(jax.errors.JaxRuntimeError):
        jax.jit(lambda: 0, compiler_options=dict([FUSIONS]))()
        return True
    return False


def quickly(wanted: bool) -> None:
    """Compile with few optimizations from here on, or as for users.

    What was compiled the other way must not be met again.
    """
    if jax.config.read(FEW) is not wanted:
        jax.config.update(FEW, wanted)
        jax.clear_caches()
