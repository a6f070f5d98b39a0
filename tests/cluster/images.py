"""The images that the nodes run, each a file NAME.tar: gpuward's own, which buildah makes from the repository's
Containerfile and the programs of the release build, and busybox, for sandboxes and workloads."""
import pathlib
import re
import shutil

from control_plane import REPOSITORY
from machines import run

HERE = pathlib.Path(__file__).resolve().parent
BINARIES = REPOSITORY / "build/release/bin"
TAG = re.search(r"^project\(gpuward VERSION (\S+)", (REPOSITORY / "CMakeLists.txt").read_text(), re.M)[1]


class Images:
    def __init__(self, folder):
        self.folder = folder

    def build(self):
        """Builds the images whose programs have changed since the last build."""
        self.folder.mkdir(parents=True, exist_ok=True)
        rootfs = self.folder / "build"
        try:
            for name in ("exporter", "remediator"):
                if self.is_stale(f"gpuward-{name}", BINARIES / f"gpuward-{name}"):
                    run(REPOSITORY / "manifests/image/rootfs", name, BINARIES, rootfs / name)
                    # The image's own stage of the Containerfile, on the expected result of its build stage.
                    stages = rootfs / "Containerfile"
                    text = (REPOSITORY / "Containerfile").read_text()
                    stages.write_text(text[text.index("FROM scratch AS"):])
                    self.make(f"gpuward-{name}", TAG, stages, name, rootfs, f"--build-context=build={rootfs}")
            if self.is_stale("busybox", HERE / "Containerfile"):
                (rootfs / "busybox").mkdir(parents=True, exist_ok=True)
                shutil.copy("/bin/busybox", rootfs / "busybox/busybox")
                for name in ("busybox", "pause"):
                    self.make(name, "1", HERE / "Containerfile", name, rootfs / "busybox")
        finally:
            shutil.rmtree(self.folder / "storage", ignore_errors=True)
            shutil.rmtree(rootfs, ignore_errors=True)

    def is_stale(self, name, made_from):
        image = self.folder / f"{name}.tar"
        return not image.exists() or image.stat().st_mtime < made_from.stat().st_mtime

    def make(self, name, tag, containerfile, target, context, *arguments):
        buildah = ["buildah", "--storage-driver=vfs", f"--root={self.folder}/storage", f"--runroot={self.folder}/storage/run"]
        reference = f"{name}:{tag}"
        run(*buildah, "build", "--isolation=chroot", "--quiet", f"--tag={reference}", f"--file={containerfile}",
            f"--target={target}", *arguments, context, seconds=600)
        (self.folder / f"{name}.tar").unlink(missing_ok=True)
        run(*buildah, "push", "--quiet", f"localhost/{reference}",
            f"docker-archive:{self.folder}/{name}.tar:docker.io/library/{reference}")
