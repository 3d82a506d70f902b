"""The command `eagle`: `demo` shows what it does, `bench` how fast, `doctor` tests the machine."""

from __future__ import annotations

import argparse
import importlib.util
from collections.abc import Sequence
from pathlib import Path


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="eagle",
        description="Run kernels over a batch, until each sample is done.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    demo = commands.add_parser("demo", help="show what it does, in a few seconds, with a picture")
    demo.add_argument(
        "--out",
        type=Path,
        default=Path("steps_per_launch.png"),
        metavar="FILE",
        help="where the picture goes (default: %(default)s)",
    )
    demo.add_argument(
        "--n",
        type=_samples,
        default=100_000,
        metavar="N",
        help="samples in the batch (default: %(default)s)",
    )
    bench = commands.add_parser(
        "bench", help="measure kernels on this machine, and what it could do at most"
    )
    bench.add_argument(
        "--n",
        type=_samples,
        default=100_000,
        metavar="N",
        help="samples in each batch (default: %(default)s)",
    )
    bench.add_argument(
        "--plot", type=Path, metavar="FILE", help="also draw it, into this file (needs matplotlib)"
    )
    commands.add_parser("doctor", help="say what is here, and test that kernels run right")
    options = parser.parse_args(argv)
    if options.command == "demo":
        from eagle.demo import demo as show

        show(options.n, options.out)
        return 0
    if options.command == "bench":
        if options.plot is not None and importlib.util.find_spec("matplotlib") is None:
            parser.error("for --plot: pip install 'accipiter[plot]'")
        from eagle.bench import bench as measure
        from eagle.bench import objection

        plot: Path | None = options.plot
        if plot is not None and not plot.suffix and not plot.is_dir():
            plot = plot.with_name(f"{plot.name}.png")
        wrong = objection(options.n, plot)
        if wrong:
            parser.error(wrong)
        measure(options.n, plot)
        return 0
    from eagle.doctor import doctor

    return doctor()


def _samples(text: str) -> int:
    try:
        number = int(text.replace(",", "").replace("_", ""))
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1, got {text!r}")
    return number
