"""The command line: ``hookspan run``, ``demo``, ``points`` and ``mixin``."""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that the arguments name.

    Args:
        arguments: Those of the command line, without the program's name; None for `sys.argv`.

    Returns:
        The exit code of the command. What the program under ``hookspan run`` raises is raised.
    """
    # Nothing is imported before it is known to be wanted: the demonstration takes seconds.
    from hookspan.cli.arguments import parser  # noqa: PLC0415 - see above

    top = parser()
    options = top.parse_args(arguments)
    if options.command == "demo":
        from hookspan.cli.demo.show import demo  # noqa: PLC0415 - see above

        return demo(as_json=options.json, color=not options.no_color, svg=options.svg)
    if options.command == "points":
        from hookspan.cli.points import points  # noqa: PLC0415 - see above

        return points(check=options.check, color=not options.no_color)
    if options.command == "run":
        from hookspan.cli.run import run  # noqa: PLC0415 - see above

        return run(options)
    if options.command == "mixin":
        from hookspan.cli.mixin import mixin  # noqa: PLC0415 - see above

        return mixin(options)
    top.print_help()
    return 0
