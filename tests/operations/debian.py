"""Prometheus and Alertmanager from Debian's packages, unpacked rather than installed.

Installed, they would start as services. Unpacked into `.tools`, they need no root and run only
while a test runs them.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[2] / ".tools"
PACKAGES = ("prometheus", "prometheus-alertmanager")


def program(name: str) -> str:
    """Return the path of promtool, prometheus, prometheus-alertmanager or amtool."""
    found = shutil.which(name)
    if found is None:
        TOOLS.mkdir(exist_ok=True)
        with (TOOLS / "lock").open("w") as lock:  # workers of xdist take turns
            fcntl.flock(lock, fcntl.LOCK_EX)
            found = shutil.which(name, path=str(TOOLS / "usr" / "bin")) or unpack(name)
    return found


def unpack(name: str) -> str:
    """Fetch the packages and unpack them; skip where there is no apt, but not in CI."""
    if shutil.which("apt-get") is None and "CI" not in os.environ:
        pytest.skip(f"no {name} on PATH, and no apt-get to fetch Debian's package with")
    apt = shutil.which("apt-get") or "apt-get"
    fetch = [apt, "download", *PACKAGES]
    if subprocess.run(fetch, cwd=TOOLS, capture_output=True, check=False).returncode:
        subprocess.run([apt, "update"], capture_output=True, check=False)
        done = subprocess.run(fetch, cwd=TOOLS, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{name} is neither on PATH nor to be had:\n{done.stderr}"
    for package in TOOLS.glob("*.deb"):
        subprocess.run([shutil.which("dpkg") or "dpkg", "-x", str(package), str(TOOLS)], check=True)
        package.unlink()
    return str(TOOLS / "usr" / "bin" / name)
