"""The trees on a terminal, in a log, or in a picture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.text import Text

from hookspan.cli.glyphs import Glyphs, duration_text, glyphs_for, shortened
from hookspan.cli.tree import Node
from hookspan.telemetry import semconv

STYLES = {
    # What dispatches and hooks come to.
    "proceeded": "green",
    "passed": "green",
    "modified": "yellow",
    "aborted": "bold red",
    "errored": "bold magenta",
    "filtered": "dim",
    "not_reached": "dim",
    # What runs come to.
    "completed": "bold green",
    "failed": "bold red",
    "cancelled": "bold yellow",
    "interrupted": "bold yellow",
    "paused": "bold cyan",
}
"""How each outcome looks."""

EFFECTS = {
    semconv.CREWAI_HOOK_EFFECT_RAISED: "raised to the caller",
    semconv.CREWAI_HOOK_EFFECT_BLOCKED: "blocked, run went on",
    semconv.CREWAI_HOOK_EFFECT_IGNORED: "ignored, run went on",
}
"""What became of an abort, in words."""

FAIL_OPEN = "the run went on (fail-open)"
"""What became of a crash, in words."""

MAX_LINES = 500
"""How many runs and dispatches are shown; a picture of more is no picture."""

_WIDEST_LABEL = 40
_NARROWEST = 20
_USUAL_EFFECTS = {
    semconv.CREWAI_HOOK_OUTCOME_PROCEEDED: semconv.CREWAI_HOOK_EFFECT_CONTINUED,
    semconv.CREWAI_HOOK_OUTCOME_MODIFIED: semconv.CREWAI_HOOK_EFFECT_REPLACED,
}


class TreePrinter:
    """Prints trees, each node on a line of aligned columns, and what does not fit below it.

    Args:
        console: Where to.
        roots: The trees.
    """

    def __init__(self, console: Console, roots: Sequence[Node]) -> None:
        self._console = console
        self._roots = roots
        self._glyphs: Glyphs = glyphs_for(console.encoding)
        nodes = [node for root in roots for node in root.walk()]
        self._names = shortened({name for node in nodes for name, _ in node.hooks})
        self._left = MAX_LINES
        self._not_shown = max(0, len(nodes) - MAX_LINES)
        widths = [self._label(node).cell_len + 3 * depth for node, depth in _depths(roots)]
        self._label_width = min(max(widths, default=0), _WIDEST_LABEL)

    def print(self) -> None:
        """Print them, with an empty line after each trace."""
        for index, root in enumerate(self._roots):
            if index and root.trace_id != self._roots[index - 1].trace_id and self._left > 0:
                self._console.print()
            self._print_node(root, "", "")
        if self._not_shown:
            self._console.print(f"... and {self._not_shown} more, see --json")

    def _print_node(self, node: Node, lead: str, below: str) -> None:
        """Print a node and those below it.

        Args:
            node: The node.
            lead: What is drawn before it.
            below: What is drawn before what is below it.
        """
        if self._left <= 0:
            return
        self._left -= 1
        self._print_line(node, lead, below + (self._glyphs.trunk if node.children else "  "))
        for child in node.children:
            final = child is node.children[-1]
            glyph = self._glyphs.last if final else self._glyphs.branch
            under = self._glyphs.gap if final else self._glyphs.trunk
            self._print_node(child, below + glyph, below + under)

    def _print_line(self, node: Node, lead: str, hang: str) -> None:
        line = Text.assemble((lead, "dim"))
        line.append_text(self._label(node))
        line.append(" " * max(1, self._label_width + 1 - line.cell_len))
        line.append(f"{node.outcome or '-':9}", style=STYLES.get(node.outcome, ""))
        line.append(f" {duration_text(node.duration):>7} ", style="dim")
        items = list(self._items(node))
        rest = Text(" ").join(items)
        fits = line.cell_len + rest.cell_len <= self._console.width
        self._emit(line.append_text(rest) if fits else line)
        if not fits:
            for wrapped in _wrapped(items, self._console.width - len(hang)):
                self._emit(Text.assemble((hang, "dim"), wrapped))
        for note in self._notes(node):
            for wrapped in hanging(note, self._console, hang, hang + "  "):
                self._emit(wrapped)

    def _label(self, node: Node) -> Text:
        clean = self._glyphs.clean
        if node.is_dispatch:
            label = Text(clean(node.point), style="cyan")
            return label.append(f" {clean(node.about)}", style="default") if node.about else label
        icon = self._glyphs.kind(node.kind)
        label = Text(f"{icon} {clean(node.title)}", style="bold")
        return label if node.title == node.kind else label.append(f" {node.kind}", style="not bold")

    def _items(self, node: Node) -> Iterator[Text]:
        """Yield what is said of a node beside its outcome."""
        if not node.is_dispatch:
            yield from self._counts(node)
        for name, result in node.hooks:
            item = Text(f"{self._glyphs.clean(self._names[name])}=")
            yield item.append(result, style=STYLES.get(result, ""))

    def _counts(self, node: Node) -> Iterator[Text]:
        aborts = node.count(semconv.CREWAI_EXECUTION_ABORT_COUNT)
        crashes = node.count(semconv.CREWAI_EXECUTION_EXCEPTION_COUNT)
        if aborts:
            yield Text(f"{aborts} denied", style="red")
        if crashes:
            yield Text(f"{crashes} crashed", style="magenta")

    def _notes(self, node: Node) -> Iterator[Text]:
        """Yield what is worth a line of its own: what was denied, what crashed, what failed."""
        clean = self._glyphs.clean
        if node.is_dispatch and node.outcome == semconv.CREWAI_HOOK_OUTCOME_ABORTED:
            yield abort_text(
                self._glyphs,
                node.text(semconv.CREWAI_HOOK_ABORT_REASON),
                node.text(semconv.CREWAI_HOOK_ABORT_SOURCE),
                node.text(semconv.CREWAI_HOOK_EFFECT),
            )
        for name, exception in node.crashes:
            note = Text(f"{self._glyphs.crash} ", style="bold magenta")
            note.append(f"{clean(self._names.get(name, name))} crashed: {clean(exception)}")
            yield note.append(f"; {FAIL_OPEN}", style="not bold")
        usual = _USUAL_EFFECTS.get(node.outcome)
        effect = node.text(semconv.CREWAI_HOOK_EFFECT)
        if usual and effect and effect != usual:
            yield Text(f"{self._glyphs.arrow} {EFFECTS.get(effect, effect)}", style="yellow")
        error = node.text(semconv.ERROR_TYPE)
        if error and not node.is_dispatch:
            yield Text(f"{self._glyphs.abort} raised {clean(error)}", style="red")

    def _emit(self, line: Text) -> None:
        line.rstrip()
        self._console.print(line, no_wrap=True, overflow="fold", crop=False, soft_wrap=True)


def abort_text(glyphs: Glyphs, reason: str, source: str, effect: str) -> Text:
    """Return what an abort says: its reason and source, and what came of it."""
    text = Text(f"{glyphs.abort} {glyphs.clean(reason) or '(no reason)'}", style="bold red")
    text.append(f" (source: {glyphs.clean(source)})", style="not bold")
    return text.append(f" {glyphs.arrow} {EFFECTS.get(effect, effect)}", style="not bold")


def _depths(nodes: Iterable[Node], depth: int = 0) -> Iterator[tuple[Node, int]]:
    for node in nodes:
        yield node, depth
        yield from _depths(node.children, depth + 1)


def hanging(text: Text, console: Console, lead: str, hang: str) -> Iterator[Text]:
    """Yield text in lines that fit, with one thing before the first and another before the rest."""
    width = max(_NARROWEST, console.width - max(len(lead), len(hang)))
    for index, line in enumerate(text.wrap(console, width)):
        line.rstrip()
        yield Text.assemble((hang if index else lead, "dim"), line)


def _wrapped(items: Sequence[Text], width: int) -> Iterator[Text]:
    """Yield lines of whole items."""
    line = Text()
    for item in items:
        if line.cell_len and line.cell_len + 1 + item.cell_len > width:
            yield line
            line = Text()
        line = Text(" ").join([line, item]) if line.cell_len else item
    yield line
