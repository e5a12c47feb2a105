"""Kill the process group of this process when its standard input ends.

The guard starts it by its path, as the leader of the group to which the command then belongs, and
holds the other end of the pipe. The end comes when the guard closes it and when the guard dies,
however it dies: so no command outlives its guard, on any system that has process groups.
"""

import os
import signal
import sys

if __name__ == "__main__":
    # What the guard forwards to the group is for the command.
    for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    os.write(sys.stdout.fileno(), b"+")
    os.read(sys.stdin.fileno(), 1)
    os.killpg(0, signal.SIGKILL)
