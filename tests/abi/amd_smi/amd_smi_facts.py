#!/usr/bin/env python3
"""Prints what one version of AMD's Python package declares of AMD SMI's C interface, as far as gpuward uses it.

    for version in 6.4.4 7.0.2; do
      python3 tests/abi/amd_smi/amd_smi_facts.py $version > tests/abi/amd_smi/facts-$version.txt
    done

One fact a line: `package VERSION`, `size STRUCT BYTES`, `member STRUCT NAME OFFSET BYTES`, `bits STRUCT NAME LOWEST
COUNT`, `constant NAME VALUE`, `function NAME BYTES...` with the size of each argument. amd_smi_abi_test compares
gpuward's declarations with the committed output. The wheel is kept under $GPUWARD_CACHE (default ~/.cache/gpuward) and
imported from there: nothing is installed, and no libamd_smi is needed.
"""

import ctypes
import os
import pathlib
import subprocess
import sys
import types
import unittest.mock
import zipfile

STRUCTS = ["amdsmi_version_t", "amdsmi_error_count_t", "amdsmi_cper_timestamp_t",
           "amdsmi_cper_hdr_t"]
BIT_FIELDS = ["amdsmi_bdf_t"]
CONSTANTS = ["AMDSMI_STATUS_SUCCESS", "AMDSMI_STATUS_NOT_SUPPORTED",
             "AMDSMI_STATUS_DRIVER_NOT_LOADED", "AMDSMI_STATUS_MORE_DATA",
             "AMDSMI_INIT_AMD_GPUS"]
CONSTANT_GROUPS = ("AMDSMI_GPU_BLOCK_", "AMDSMI_CPER_SEV_", "AMDSMI_CPER_NOTIFY_TYPE_")
FUNCTIONS = ["amdsmi_get_lib_version", "amdsmi_init", "amdsmi_shut_down",
             "amdsmi_get_socket_handles", "amdsmi_get_processor_handles",
             "amdsmi_get_gpu_device_bdf", "amdsmi_get_gpu_device_uuid",
             "amdsmi_get_gpu_ecc_count", "amdsmi_get_gpu_cper_entries", "amdsmi_get_afids_from_cper",
             "amdsmi_status_code_to_string"]


def wheel(version):
    cache = os.environ.get("GPUWARD_CACHE") or os.path.expanduser("~/.cache/gpuward")
    folder = pathlib.Path(cache) / f"amdsmi-{version}"
    if not list(folder.glob("amdsmi-*.whl")):
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-input",
             "--disable-pip-version-check", "--only-binary=:all:", "--dest", str(folder),
             f"amdsmi=={version}"],
            check=True, stdout=sys.stderr, timeout=120)
    return sorted(folder.glob("amdsmi-*.whl"))[-1]


class Library:
    """Replaces the library that the package opens: every function exists and does nothing."""

    def __getattr__(self, name):
        function = types.SimpleNamespace()
        setattr(self, name, function)
        return function


def load(version):
    """The definitions of amdsmi.amdsmi_wrapper."""
    source = zipfile.ZipFile(wheel(version)).read("amdsmi/amdsmi_wrapper.py")
    space = {"__file__": "/amdsmi/amdsmi_wrapper.py", "__name__": "amdsmi_wrapper"}
    with unittest.mock.patch("ctypes.CDLL", lambda *names, **options: Library()):
        exec(compile(source, "amdsmi_wrapper.py", "exec"), space)
    return space


def print_structs(space):
    for name in STRUCTS:
        layout = space["struct_" + name]
        print("size", name, ctypes.sizeof(layout))
        for field in layout._fields_:
            if field[0].startswith("PADDING_"):
                continue
            place = getattr(layout, field[0])
            print("member", name, field[0], place.offset, place.size)
    for name in BIT_FIELDS:
        layout = space["struct_" + name]
        print("size", name, ctypes.sizeof(space["union_" + name]))
        for field in layout._fields_:
            packed = getattr(layout, field[0]).size
            print("bits", name, field[0], packed & 0xffff, packed >> 16)


def main():
    version = sys.argv[1]
    space = load(version)
    print("package", version)
    print_structs(space)
    for name in CONSTANTS + sorted(n for n in space if n.startswith(CONSTANT_GROUPS)):
        print("constant", name, space[name])
    for name in FUNCTIONS:
        print("function", name, *[ctypes.sizeof(kind) for kind in space[name].argtypes])


if __name__ == "__main__":
    main()
