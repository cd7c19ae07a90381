"""Programs that never import crewAI: they are run as python runs them."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from tests.cli.processes import NOTHING_SEEN, SOURCE, hookspan, python

SHOW = """\
import sys, threading, time
def late():
    time.sleep(0.2)
    print("late", sys.modules["__main__"].__file__)
threading.Thread(target=late).start()
print(__name__, __file__, __spec__, __builtins__, sys.argv, sys.path[0])
print(sorted(name for name in globals() if not name.startswith("_")), "crewai" in sys.modules)
sys.exit(3)
"""

PROGRAMS = {
    "exit code": SHOW,
    "message": "import sys\nsys.exit('a message')\n",
    "exception": "def f():\n    raise ValueError('x')\nf()\n",
    "chained": "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise KeyError('x') from e\n",
    "syntax error": "x = (\n",
    "interrupt": "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nwhile True: pass\n",
    "own excepthook": (
        "import sys\n"
        "sys.excepthook = lambda *a: print('hook', a[0].__name__, a[2].tb_lineno)\n"
        "1 / 0\n"
    ),
    "atexit": "import atexit\natexit.register(print, 'bye')\n",
    "future": "print('def f(x: no_such_name): pass')\ndef f(x: 'no_such_name'): pass\n",
    "coding": "# coding: latin-1\nprint('\xe9')\n",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_script_does_what_it_does_under_python(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    script = folder / "script.py"
    script.write_text(PROGRAMS[name], encoding="latin-1")
    arguments = [str(Path("folder", "script.py")), "a", "--json", "--", "-m", "b"]

    expected = python(*arguments, cwd=tmp_path)
    seen = hookspan("run", *arguments, cwd=tmp_path)

    assert (seen.code, seen.stdout) == (expected.code, expected.stdout)
    assert seen.stderr == expected.stderr + NOTHING_SEEN


def test_the_programs_end_as_they_should(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(PROGRAMS["interrupt"], encoding="utf-8")

    assert hookspan("run", "script.py", cwd=tmp_path).code == -signal.SIGINT


@pytest.mark.parametrize("arguments", [["-m", "pack.mod"], ["-m", "pack"], ["folder"]])
def test_a_module_or_folder_does_what_it_does_under_python(
    tmp_path: Path, arguments: list[str]
) -> None:
    for path in ("pack/__init__.py", "pack/mod.py", "pack/__main__.py", "folder/__main__.py"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        text = "import os, sys\npath = os.path.abspath(sys.path[0])\n"
        text += "print(__name__, __file__, __package__, sys.argv, path)\n"
        (tmp_path / path).write_text(text + "1 / (__name__ != '__main__')\n", encoding="utf-8")
    (tmp_path / "pack" / "__init__.py").write_text("", encoding="utf-8")

    expected = python(*arguments, "a", "-m", cwd=tmp_path)
    seen = hookspan("run", *arguments, "a", "-m", cwd=tmp_path)

    assert (seen.code, seen.stdout) == (expected.code, expected.stdout)
    assert seen.stderr.splitlines()[-2:] == [
        "ZeroDivisionError: division by zero",
        NOTHING_SEEN.strip(),
    ]
    assert "hookspan/cli" not in seen.stderr
    assert "runpy" not in seen.stderr


def test_two_dashes_end_our_own_options(tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text("import sys\nprint(sys.argv)\n", encoding="utf-8")

    seen = hookspan("run", "--no-color", "--", "s.py", "--json", "--", "x", cwd=tmp_path)

    assert (seen.code, seen.stdout) == (0, "['s.py', '--json', '--', 'x']\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run"], "hookspan run: which program? See hookspan run --help\n"),
        (["run", "-m"], "hookspan run: which program? See hookspan run --help\n"),
        (["run", "no.py"], "hookspan run: can't open file 'no.py': no such file\n"),
        (
            ["run", "--json", "no/f.json", "s.py"],
            "hookspan run: cannot write no/f.json: No such file or directory\n",
        ),
        (["demo", "--svg", "no/f.svg"], "hookspan demo: cannot write no/f.svg: no such folder\n"),
    ],
)
def test_what_cannot_be_run(tmp_path: Path, arguments: list[str], message: str) -> None:
    (tmp_path / "s.py").write_text("print('it ran')\n", encoding="utf-8")

    seen = hookspan(*arguments, cwd=tmp_path)

    assert (seen.code, seen.stdout, seen.stderr) == (2, "", message)


def test_a_module_that_is_not_there(tmp_path: Path) -> None:
    seen = hookspan("run", "-m", "no_such_module", cwd=tmp_path)

    assert (seen.code, seen.stderr) == (
        1,
        "ImportError: No module named no_such_module\n" + NOTHING_SEEN,
    )


def test_the_disabled_sdk_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text(SHOW, encoding="utf-8")

    seen = hookspan("run", "s.py", cwd=tmp_path, environ={"OTEL_SDK_DISABLED": "true"})

    assert (seen.code, len(seen.stdout.splitlines())) == (3, 3)
    assert seen.stderr == "hookspan: OTEL_SDK_DISABLED=true: nothing was recorded\n"


def test_a_child_that_was_forked_reports_nothing(tmp_path: Path) -> None:
    script = "import os, sys\nif os.fork() == 0:\n    sys.exit(0)\nos.wait()\n"
    (tmp_path / "s.py").write_text(script, encoding="utf-8")

    seen = hookspan("run", "s.py", cwd=tmp_path)

    assert (seen.code, seen.stderr) == (0, NOTHING_SEEN)


def test_the_document_is_written_where_it_was_asked_for(tmp_path: Path) -> None:
    script = "import os\nos.mkdir('elsewhere')\nos.chdir('elsewhere')\n"
    (tmp_path / "s.py").write_text(script, encoding="utf-8")

    seen = hookspan("run", "--json", "out.json", "s.py", cwd=tmp_path)

    assert (seen.code, seen.stdout) == (0, "")
    document = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert (document["runs"], document["summary"]["total"]["dispatches"]) == ([], 0)


def test_a_closed_standard_error_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text(
        "import sys\nsys.stderr.close()\nsys.exit(4)\n", encoding="utf-8"
    )

    seen = hookspan("run", "s.py", cwd=tmp_path)

    assert (seen.code, seen.stdout, seen.stderr) == (4, "", "")


ENGINE = """\
import hookspan
@hookspan.on(hookspan.InterceptionPoint.INPUT)
def default(ctx):
    return {**ctx.payload, "a": 1}
with hookspan.execution({}, name="job") as run:
    run.output = run.inputs
print(run.output)
"""


def test_without_crewai_a_runtime_on_the_engine_is_traced(tmp_path: Path) -> None:
    hidden = "import sys\nsys.modules['crewai'] = None\n"
    (tmp_path / "sitecustomize.py").write_text(hidden, encoding="utf-8")
    (tmp_path / "s.py").write_text(ENGINE, encoding="utf-8")
    path = {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(SOURCE)])}

    seen = hookspan("run", "s.py", cwd=tmp_path, environ=path)
    demo = hookspan("demo", cwd=tmp_path, environ=path)

    assert (seen.code, seen.stdout) == (0, "{'a': 1}\n")
    lines = seen.stderr.splitlines()
    assert lines[0].startswith("hookspan: crewAI is not installed")
    assert lines[1].startswith("■ job runtime completed")
    assert lines[2].startswith("└─ input      modified")
    assert lines[2].endswith("default=modified")
    assert (demo.code, demo.stdout, demo.stderr) == (
        1,
        "",
        "hookspan demo: crewAI is not installed: pip install 'hookspan[crewai]'\n",
    )


def test_the_version_and_the_help(tmp_path: Path) -> None:
    version = hookspan("--version", cwd=tmp_path)
    bare = hookspan(cwd=tmp_path)
    wrong = hookspan("no-such-command", cwd=tmp_path)

    assert (version.code, version.stdout) == (0, "hookspan 0.1.0\n")
    assert (bare.code, bare.stdout.partition("\n")[0]) == (
        0,
        "usage: hookspan [-h] [--version] COMMAND ...",
    )
    assert (wrong.code, wrong.stdout) == (2, "")
