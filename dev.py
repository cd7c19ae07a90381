"""Set up and run this repository, with nothing but git, sh and Python 3.10 or newer.

Usage: python3 dev.py COMMAND [ARGUMENTS]

  demo [ARGS]   run the demonstration: hookspan demo ARGS
  test [ARGS]   run the tests: pytest ARGS
  floor [ARGS]  run the tests with the oldest supported crewAI
  lint          check format, style, types, layers and generated files
  check         lint, the breaks of the life cycle, then test: all that CI runs
  bench [ARGS]  run the benchmarks
  mutations [WORD]  break the code on purpose, each kept break in turn; a test must see it
  peers [ARGS]  run beside other instrumentations of crewAI, in .venv-peers
  matrix [ARGS] run the tests with every python3.N on PATH, newest and oldest crewAI
  lock [ARGS]   write requirements/*.txt again; --upgrade takes newer versions
"""

# No `from __future__ import annotations`: an old Python must get as far as the line that says so.
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

if sys.version_info < (3, 10):  # noqa: UP036 - this is the line that says it is too old
    sys.exit("dev.py: hookspan needs Python 3.10 or newer, this is " + sys.version.split()[0])

ROOT = Path(__file__).resolve().parent
VENVS = {
    "run": ROOT / ".venv",
    "test": ROOT / ".venv",
    "floor": ROOT / ".venv-floor",
    "peers": ROOT / ".venv-peers",
}
SATISFIED_BY = {"run": ("run", "test"), "test": ("test",), "floor": ("floor",), "peers": ("peers",)}
LOCKED = {  # requirement set -> what uv compiles it from
    "bootstrap": ("requirements/bootstrap.in",),
    "run": ("pyproject.toml", "--extra=crewai", "requirements/run.in"),
    "test": ("pyproject.toml", "--extra=crewai", "requirements/test.in"),
    "floor": ("pyproject.toml", "--extra=crewai", "requirements/floor.in"),
    "peers": ("pyproject.toml", "--extra=crewai", "requirements/peers.in"),
}
SUPPORTED = range(10, 14)
PIP_OPTIONS = ("--quiet", "--disable-pip-version-check", "--no-input")
TYPED = ("src", "tests", "semconv", "benchmarks", "dev.py")


def demo(arguments: Sequence[str]) -> int:
    """Become `hookspan demo`."""
    program = f"{set_up('run')}/hookspan"
    os.execv(program, [program, "demo", *arguments])  # noqa: S606 - the signals go to the demo


def test(arguments: Sequence[str]) -> int:
    """Run the tests with the newest crewAI."""
    return run_tests("test", arguments)


def floor(arguments: Sequence[str]) -> int:
    """Run the tests with the oldest supported crewAI."""
    return run_tests("floor", arguments)


def lint(arguments: Sequence[str]) -> int:
    """Run every static check, also after one has failed."""
    del arguments
    programs = set_up("test")
    typed = [name for name in TYPED if (ROOT / name).exists()]
    checks = {
        "ruff format": [f"{programs}/ruff", "format", "--check", "."],
        "ruff check": [f"{programs}/ruff", "check", "."],
        "mypy": [f"{programs}/mypy", *typed],
        "pyright": [f"{programs}/pyright"],
        "import-linter": [f"{programs}/lint-imports", "--no-logo"],
    }
    if (ROOT / "semconv" / "generate.py").exists():
        checks["semconv"] = [f"{programs}/python", "-m", "semconv.generate", "--check"]
    checks["mixin"] = [f"{programs}/hookspan", "mixin", "check", "--docs", "docs"]
    passed = [step(name, command) for name, command in checks.items()]
    return 0 if all(passed) else 1


def check(arguments: Sequence[str]) -> int:
    """Run what CI runs."""
    return lint(()) or mutations(("life_",)) or test(arguments)


def bench(arguments: Sequence[str]) -> int:
    """Run the benchmarks."""
    programs = set_up("test")
    return call([f"{programs}/python", "benchmarks/run.py", *arguments])


def mutations(arguments: Sequence[str]) -> int:
    """Apply each patch of tests/mutations in a copy of the tree, and want a red test."""
    programs = set_up("test")
    return call([f"{programs}/python", "tests/mutations/run.py", *arguments])


def peers(arguments: Sequence[str]) -> int:
    """Run beside each other instrumentation of crewAI."""
    programs = set_up("peers")
    return call([f"{programs}/python", "-m", "tests.peers.matrix", *arguments])


def matrix(arguments: Sequence[str]) -> int:
    """Run the tests with each supported Python that is there; say at the end which passed."""
    verdicts: dict[str, str] = {}
    for minor in SUPPORTED:
        python = shutil.which(f"python3.{minor}")
        for command in ("test", "floor"):
            name = f"Python 3.{minor} {command}"
            code = call([python, str(ROOT / "dev.py"), command, *arguments]) if python else None
            verdicts[name] = "not there" if code is None else "passed" if code == 0 else "FAILED"
    sys.stderr.write("".join(f"dev.py: {name}: {said}\n" for name, said in verdicts.items()))
    return 1 if "FAILED" in verdicts.values() else 0


def lock(arguments: Sequence[str]) -> int:
    """Resolve every requirement set again, for all supported Pythons and systems."""
    programs = create(VENVS["test"])
    if not bootstrap(programs):
        return 1
    shared = ["--universal", "--python-version=3.10", "--generate-hashes", "--no-emit-index-url"]
    shared += ["--quiet", "--system-certs", "--custom-compile-command=python3 dev.py lock"]
    for name, sources in LOCKED.items():
        output = f"--output-file=requirements/{name}.txt"
        command = [f"{programs}/uv", "pip", "compile", *shared, *arguments, *sources, output]
        if not step(f"locking requirements/{name}.txt", command):
            return 1
    return 0


def run_tests(name: str, arguments: Sequence[str]) -> int:
    """Run pytest in a home of its own, away from the caller's settings."""
    programs = set_up(name)
    with tempfile.TemporaryDirectory(prefix="hookspan-test-") as home:
        environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("OTEL_")},
            "PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            "HOME": home,
            "CREWAI_STORAGE_DIR": str(Path(home, "crewai")),
            "CREWAI_DISABLE_TELEMETRY": "true",
            "CREWAI_TRACING_ENABLED": "false",
        }
        pytest = [f"{programs}/python", "-m", "pytest", "-n", "2", "--dist", "loadgroup"]
        return call([*pytest, *arguments], environment)


def set_up(name: str) -> str:
    """Bring a requirement set and the package itself into its environment.

    Args:
        name: The set: run, test or floor.

    Returns:
        The folder of the environment's programs.
    """
    venv = VENVS[name]
    programs = str(venv / "bin")
    if any(read(stamp(venv, other)) == fingerprint(other) for other in SATISFIED_BY[name]):
        return programs
    create(venv)
    for other in VENVS:
        stamp(venv, other).unlink(missing_ok=True)
    if not install(programs, name):
        sys.exit("dev.py: set-up failed, see above")
    stamp(venv, name).write_text(fingerprint(name), encoding="utf-8")
    return programs


def create(venv: Path) -> str:
    """Create a virtual environment of this Python, unless it is there; return its programs."""
    owner = venv / "made-for"
    identity = f"{ROOT} {sys.version_info[:2]}"
    if read(owner) != identity:
        command = [sys.executable, "-m", "venv", "--clear", str(venv)]
        if not step(f"creating {venv.name}", command):
            sys.exit("dev.py: no virtual environment (Debian and Ubuntu: install python3-venv)")
        owner.write_text(identity, encoding="utf-8")
    return str(venv / "bin")


def install(programs: str, name: str) -> bool:
    """Install a set by uv, or by pip where uv cannot do it; return whether that worked."""
    hashed = ["--require-hashes", "-r", f"requirements/{name}.txt"]
    package = ["--no-deps", "--no-build-isolation", "--editable", "."]
    pip = [f"{programs}/python", "-m", "pip", "install", *PIP_OPTIONS]
    uv = [f"{programs}/uv", "pip", "install", "--quiet", "--system-certs", "--compile-bytecode"]
    uv += ["--python", f"{programs}/python"]
    installers = {"uv": uv, "pip": pip} if bootstrap(programs) else {"pip": pip}
    for tool, command in installers.items():
        if step(f"installing requirements/{name}.txt by {tool}", [*command, *hashed]):
            return step("installing hookspan itself", [*command, *package])
    return False


def bootstrap(programs: str) -> bool:
    """Install uv, unless it is there; return whether it is."""
    if Path(programs, "uv").exists():
        return True
    hashed = ["--require-hashes", "-r", "requirements/bootstrap.txt"]
    command = [f"{programs}/python", "-m", "pip", "install", *PIP_OPTIONS, *hashed]
    return step("installing uv", command)


def stamp(venv: Path, name: str) -> Path:
    """Return the file that says which version of a set is installed."""
    return venv / f"installed-{name}"


def fingerprint(name: str) -> str:
    """Return what changes when a set must be installed again."""
    digest = hashlib.sha256(f"{ROOT} {sys.version_info[:2]}".encode())
    for path in (f"requirements/{name}.txt", "pyproject.toml"):
        digest.update((ROOT / path).read_bytes())
    return digest.hexdigest()


def read(path: Path) -> str:
    """Return the text of a file, empty when there is none."""
    return path.read_text(encoding="utf-8") if path.exists() else ""


def step(what: str, command: Sequence[str]) -> bool:
    """Run a command, say on one line how it went, and show its output only if it failed."""
    sys.stderr.write(f"dev.py: {what} ... ")
    sys.stderr.flush()
    begin = time.monotonic()
    done = subprocess.run(
        command,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    failed = done.returncode != 0
    sys.stderr.write(f"{'FAILED' if failed else 'ok'} ({time.monotonic() - begin:.1f} s)\n")
    if failed:
        sys.stderr.write(done.stdout.decode(errors="replace"))
    return not failed


def call(command: Sequence[str], environment: "dict[str, str] | None" = None) -> int:
    """Run a command in the foreground; return its exit code."""
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {
    command.__name__: command
    for command in (demo, test, floor, lint, check, bench, mutations, peers, matrix, lock)
}


def main(arguments: Sequence[str]) -> int:
    """Run the command that the arguments name; return its exit code."""
    if arguments and arguments[0] in COMMANDS:
        return COMMANDS[arguments[0]](arguments[1:])
    sys.stderr.write(__doc__ or "")
    return 0 if arguments and arguments[0] in {"-h", "--help"} else 2


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
