"""python -m ferry: the command of this package, a program beside this file."""
from __future__ import annotations

import os
import sys
from pathlib import Path

program = Path(__file__).parent / "bin" / "ferry"
try:
    os.execv(program, ["ferry", *sys.argv[1:]])
except OSError as error:
    sys.exit(f"ferry: cannot start {program}: {error.strerror}; install the package again")
