"""A virtual machine: qemu, Debian's kernel and systemd, and the agent of guest/, which runs the test's commands. One
object per machine; its disks are fresh at each start, and its writes are lost at its end."""
import base64
import dataclasses
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parents[1]


class MachineError(Exception):
    """Names the awaited event that did not happen, and the last output of the machine's console."""


@dataclasses.dataclass(frozen=True)
class Boot:
    id: str
    at: float  # of the monotonic clock, when the agent began to listen


@dataclasses.dataclass(frozen=True)
class End:
    """A restart by systemd: the state right before it."""
    id: str  # of the boot that ends
    processes: tuple[str, ...]  # each process's own name


@dataclasses.dataclass(frozen=True)
class Answer:
    code: int
    said: str


def accelerator():
    """Returns KVM if it can run a processor, not only if it exists: the firmware must print something. Otherwise
    emulation in software."""
    with tempfile.TemporaryDirectory() as folder:
        said = pathlib.Path(folder) / "said"
        # SeaBIOS writes its output to this device.
        firmware = subprocess.Popen(["qemu-system-x86_64", "-accel", "kvm", "-cpu", "host", "-nodefaults", "-display", "none",
                                     "-chardev", f"file,id=said,path={said}", "-device", "isa-debugcon,iobase=0x402,chardev=said"],
                                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 10
            while firmware.poll() is None and time.monotonic() < deadline:
                if said.exists() and said.stat().st_size:
                    return "kvm"
                time.sleep(0.1)
        finally:
            firmware.kill()
            firmware.wait()
    return "tcg"


def build_second_disk(image, path):
    """Copies guest/ and the files of the container image, with which `image` fills a folder."""
    with tempfile.TemporaryDirectory() as folder:
        content = pathlib.Path(folder) / "content"
        shutil.copytree(HERE / "guest", content)
        image(content / "image")
        subprocess.run(["mke2fs", "-q", "-t", "ext4", "-O", "^has_journal", "-E", "root_owner=0:0", "-d", content, path, "256M"],
                       check=True, capture_output=True)


class VirtualMachine:
    def __init__(self, debian, second_disk, accelerated_by):
        """`debian`: the folder that the script `image` has filled."""
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="gpuward-machine-"))
        self.boots, self.ends = [], []
        self._asked, self._answers, self._unread = 0, {}, b""
        self._line, line = socket.socketpair()
        # A separate disk for tests that break one.
        (self.folder / "spare.img").touch()
        os.truncate(self.folder / "spare.img", 64 << 20)
        disks = [debian / "disk.img", second_disk, self.folder / "spare.img"]
        command = ["qemu-system-x86_64", "-accel", accelerated_by, "-cpu", "host" if accelerated_by == "kvm" else "max",
                   "-m", "512", "-nodefaults", "-display", "none",
                   "-kernel", debian / "vmlinuz", "-initrd", debian / "initrd.img",
                   # Modules for devices that the machine lacks, whose loading takes seconds.
                   "-append", "root=/dev/vda rw console=ttyS0 loglevel=7 panic=-1 TERM=dumb "
                              "module_blacklist=kvm,kvm_intel,kvm_amd,ata_piix,ata_generic,psmouse,pcspkr,floppy",
                   "-serial", f"file:{self.console_file}",
                   "-chardev", f"socket,id=line,fd={line.fileno()}", "-serial", "chardev:line"]
        for disk in disks:
            command += ["-drive", f"file={disk},if=virtio,format=raw,snapshot=on"]
        self._started = time.monotonic()
        with open(self.folder / "qemu.log", "wb") as log:
            self._qemu = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                          pass_fds=[line.fileno()])
        line.close()

    def end(self):
        self._qemu.kill()
        self._qemu.wait()
        self._line.close()
        shutil.rmtree(self.folder)

    @property
    def console_file(self):
        return self.folder / "console.log"

    @property
    def console(self):
        return self.console_file.read_text(errors="replace") if self.console_file.exists() else ""

    def wait_until(self, condition, what, seconds):
        """Returns the condition's first true value. Reads the agent's messages meanwhile."""
        deadline = time.monotonic() + seconds
        while not (value := condition()):
            left = deadline - time.monotonic()
            if left < 0 or self._qemu.poll() is not None:
                raise MachineError(f"waited {seconds} s in vain for {what}" if left < 0 else
                                   f"qemu has ended: {(self.folder / 'qemu.log').read_text()}")
            self._read(min(left, 0.2))
        return value

    def wait_for_boot(self, number, seconds):
        return self.wait_until(lambda: len(self.boots) >= number and self.boots[number - 1], f"boot {number}", seconds)

    def run(self, script, seconds=60):
        """Runs a bash script in the machine as root; returns its output and exit code."""
        self._asked += 1
        number = str(self._asked)
        self._line.sendall(f"{number} {base64.b64encode(script.encode()).decode()}\n".encode())
        return self.wait_until(lambda: self._answers.pop(number, None), f"an answer to {script}", seconds)

    def wait_until_true(self, script, what, seconds):
        self.wait_until(lambda: self.run(script).code == 0, what, seconds)

    def _read(self, seconds):
        self._line.settimeout(max(seconds, 0.001))
        try:
            self._unread += self._line.recv(1 << 16)
        except TimeoutError:
            return
        *lines, self._unread = self._unread.split(b"\n")
        for line in lines:
            self._take(line.decode(errors="replace").split())

    def _take(self, words):
        """A booting machine may write to the line too, besides the agent."""
        match words:
            case ["boot", boot_id]:
                self.boots.append(Boot(boot_id, time.monotonic()))
            case ["done", number, code, *said]:
                self._answers[number] = Answer(int(code), decoded(said))
            case ["end", boot_id, *processes]:
                self.ends.append(End(boot_id, tuple(decoded(processes).splitlines())))


def decoded(words):
    return base64.b64decode("".join(words)).decode(errors="replace")
