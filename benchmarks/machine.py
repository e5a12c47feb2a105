"""What the figures were measured on, without its name and place."""

import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Final

import psutil

_LIBRARIES: Final = (
    "google-cloud-firestore",
    "google-cloud-spanner",
    "redis",
    "aws-lambda-powertools",
    "functions-framework",
    "flask",
    "fastapi",
)
_CPUS: Final = Path("/proc/cpuinfo")


def describe() -> dict[str, str]:
    """Return the machine, and how busy it is at this moment."""
    gib = psutil.virtual_memory().total / 2**30
    busy = os.getloadavg()[0]
    return {
        "machine": f"{os.cpu_count()} CPUs ({_processor()}), {gib:.0f} GiB of memory",
        "system": f"{platform.system()} ({platform.machine()}), Python {platform.python_version()}",
        "load": f"{busy:.1f} processes wanted a CPU before it began",
        "libraries": ", ".join(f"{name} {version(name)}" for name in _LIBRARIES),
    }


def _processor() -> str:
    if _CPUS.exists():
        for line in _CPUS.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"
