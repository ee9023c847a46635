# SPDX-License-Identifier: Apache-2.0
"""bundle.py FOLDER: puts the libraries that a wheel cannot expect on a machine below FOLDER/prefix/lib, and lets the
programs and the module of FOLDER find them there.

They get names of their own: another copy of Protobuf in the same process, of another version or not, is never taken
for ours, nor ours for it.
"""
import pathlib
import re
import shutil
import subprocess
import sys

OURS = {"libprotobuf.so.32": "libprotobuf32", "libcrypto.so.3": "libssl3", "libsqlite3.so.0": "libsqlite3-0",
        "libpugixml.so.1": "libpugixml1v5", "libmpfi.so.0": "libmpfi0", "libmpfr.so.6": "libmpfr6",
        "libgmp.so.10": "libgmp10", "libre2.so.9": "libre2-9"}
# On every machine that has a Python; libstdc++ since GCC 12.
EXPECTED = re.compile(r"lib(c|m|dl|pthread|rt|gcc_s|stdc\+\+|z)\.so\.\d+$|ld-linux-x86-64\.so\.2$")


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def is_elf(path):
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def needed(path):
    return output_of("patchelf", "--print-needed", path).split()


def own_name(library):
    return library.replace("lib", "libassay-", 1)


def bring(library, path, folder):
    resolved = re.search(rf"{re.escape(library)} => (\S+)", output_of("ldd", path)).group(1)
    copy = folder / own_name(library)
    if not copy.exists():
        shutil.copyfile(resolved, copy)
        copy.chmod(0o755)
        subprocess.run(["patchelf", "--set-soname", copy.name, copy], check=True)
        lead(copy, folder)
        subprocess.run(["patchelf", "--set-rpath", "$ORIGIN", copy], check=True)
        licence = pathlib.Path("/usr/share/doc", OURS[library], "copyright")
        if licence.exists():
            shutil.copyfile(licence, folder / f"{copy.name}.copyright")


def lead(path, libraries):
    """Lets a file find our copies of what it needs, and these theirs."""
    for library in filter(OURS.__contains__, needed(path)):
        bring(library, path, libraries)
        subprocess.run(["patchelf", "--replace-needed", library, own_name(library), path], check=True)


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    libraries = folder / "prefix/lib"
    libraries.mkdir(exist_ok=True)
    consumers = [path for path in folder.rglob("*") if path.is_file() and is_elf(path) and libraries not in path.parents]
    for path in consumers:
        for library in needed(path):
            if library not in OURS and not EXPECTED.search(library):
                sys.exit(f"bundle: {path} needs {library}, which is neither ours nor everywhere")
        lead(path, libraries)
        up = "/".join([".."] * len(path.parent.relative_to(folder).parts))
        subprocess.run(["patchelf", "--set-rpath", "/".join(filter(None, ["$ORIGIN", up, "prefix/lib"])), path], check=True)
    for path in libraries.glob("*.so*"):
        if path.suffix != ".copyright":
            stray = [library for library in needed(path) if not EXPECTED.search(library) and not (libraries / library).exists()]
            if stray:
                sys.exit(f"bundle: {path} needs {stray}")


main()
