# SPDX-License-Identifier: Apache-2.0
"""The command line: python -m assay, or assay. Workers run in the interpreter it was installed for."""
import os
import pathlib
import sys


def main() -> None:
    program = pathlib.Path(__file__).parent / "prefix/bin/assay"
    os.environ.setdefault("ASSAY_PYTHON", sys.executable)
    os.execv(program, ["assay", *sys.argv[1:]])


if __name__ == "__main__":
    main()
