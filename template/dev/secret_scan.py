"""`python -m dev.secret_scan [FILE ...]`: does a file hold what looks like a secret?

Without a FILE, all files in git are looked through. A line that only looks like a secret gets the
comment `pragma: allowlist secret`. Nothing is sent anywhere: whether a key works is not tried.
"""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

_OPTIONS: Final = (
    "--no-verify",
    # Run ids and digests are random hexadecimal digits too.
    "--disable-plugin=HexHighEntropyString",
    "--exclude-secrets=^projects/",
    "--exclude-files=\\.lock\\b",
)


def main(argv: Sequence[str]) -> int:
    """Look through files; return 0 if there is no secret in them, 1 if there is, 2 without git."""
    files = list(argv)
    if not files:
        listed = subprocess.run(
            ["git", "ls-files", "-z"], stdout=subprocess.PIPE, text=True, check=False
        )
        if listed.returncode:
            print("Name the files to look through, or make this a repository: git init")
            return 2
        files = [name for name in listed.stdout.split("\0") if Path(name).is_file()]
    command = [sys.executable, "-m", "detect_secrets.pre_commit_hook", *_OPTIONS, *files]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
