"""NVIDIA's own Python binding of NVML (nvidia-ml-py on PyPI), in the version that the tests name.

Kept as a wheel under $GPUWARD_CACHE (default ~/.cache/gpuward) and imported from there: nothing is installed. Needs
python3 with pip, and the package index at the first use.
"""

import os
import pathlib
import subprocess
import sys

VERSION = "13.615.71"


def folder():
    cache = os.environ.get("GPUWARD_CACHE") or os.path.expanduser("~/.cache/gpuward")
    return pathlib.Path(cache) / f"nvidia-ml-py-{VERSION}"


def wheel():
    found = sorted(folder().glob("nvidia_ml_py-*.whl"))
    if not found:
        folder().mkdir(parents=True, exist_ok=True)
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-input",
             "--disable-pip-version-check", "--only-binary=:all:", "--dest", str(folder()),
             f"nvidia-ml-py=={VERSION}"],
            check=True, stdout=sys.stderr, timeout=120)
        found = sorted(folder().glob("nvidia_ml_py-*.whl"))
    return found[-1]


def load():
    """Returns the module pynvml, which is pure Python and can be imported from the wheel."""
    sys.path.insert(0, str(wheel()))
    import pynvml
    return pynvml
