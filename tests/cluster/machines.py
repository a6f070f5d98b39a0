"""Machines of the cluster: namespaces with a power button (the script `machine`). Each machine has one Machine object;
its parts are in its folder, so that another process can make the same object again."""
import errno
import os
import pathlib
import shlex
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent
CGROUPS = pathlib.Path("/sys/fs/cgroup")


class ClusterError(Exception):
    """Names the failed action, the error and where to look."""


def wait_until(condition, what, seconds):
    """Returns the condition's first true value. Raises ClusterError if it stays false, or raises, for that long."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            value, problem = condition(), ""
        except (ClusterError, OSError, ValueError, KeyError, subprocess.SubprocessError) as error:
            value, problem = None, f" ({error})"
        if value:
            return value
        if time.monotonic() > deadline:
            raise ClusterError(f"waited {seconds} s in vain for {what}{problem}")
        time.sleep(0.1)


def run(*command, seconds=120, **arguments):
    """Returns the output of a command; raises ClusterError with its error output if it fails."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=seconds,
                          check=False, **arguments)
    if done.returncode != 0:
        raise ClusterError(f"{shlex.join(map(str, command))} failed: {done.stderr.strip()[-2000:]}")
    return done.stdout


class Machine:
    def __init__(self, cluster_folder, name):
        self.name = name
        self.folder = cluster_folder / name
        self.supervisor = None  # the process that powers it, if this process has powered it on
        # Its own group, because two kubelets in one group end each other's pods.
        self.cgroup = f"{cluster_folder.name}/{name}"

    @property
    def pid(self):
        """Returns the host's number of process 1; None while the machine is off or boots."""
        try:
            return int((self.folder / "pid").read_text())
        except (FileNotFoundError, ValueError):
            return None

    def is_up(self):
        return self.pid is not None and os.path.exists(f"/proc/{self.pid}/ns/net")

    def prepare(self, network):
        """`network`: shell commands that make its interfaces; they run in its network at each boot."""
        for name in ("services", "log"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        (self.folder / "network").write_text(network)
        if not (self.folder / "power").exists():
            os.mkfifo(self.folder / "power")

    def add_service(self, name, *command, first=""):
        """Adds a program that runs from boot to power off. `first`: shell commands that end before it starts."""
        path = self.folder / "services" / name
        path.write_text(f"#!/usr/bin/env bash\n{first}\nexec {shlex.join(map(str, command))}\n")
        path.chmod(0o755)

    def power_on(self):
        make_cgroups(self.cgroup)
        with open(self.folder / "log/machine.log", "ab") as log:
            self.supervisor = subprocess.Popen([HERE / "machine", self.folder], stdin=subprocess.DEVNULL, stdout=log,
                                               stderr=log, start_new_session=True)

    def wait_until_up(self):
        wait_until(self.is_up, f"machine {self.name} to boot (see {self.folder}/log/machine.log)", 30)

    def press(self, button):
        """Presses the button: `reset` or `off`."""
        descriptor = os.open(self.folder / "power", os.O_WRONLY | os.O_NONBLOCK)
        os.write(descriptor, f"{button}\n".encode())
        os.close(descriptor)

    def reboot(self):
        before = self.pid
        self.press("reset")
        wait_until(lambda: self.pid not in (None, before) and self.is_up(), f"{self.name} to boot again", 60)

    def power_off(self):
        pid = self.pid
        if pid is None:
            return
        try:
            self.press("off")
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            return  # no process reads the button: it was killed, or the host has booted since
        wait_until(lambda: not os.path.exists(f"/proc/{pid}"), f"machine {self.name} to end", 30)
        if self.supervisor:
            self.supervisor.wait(30)

    def inside(self, *command, **arguments):
        """Runs a command on this machine; returns its output."""
        return run("nsenter", "--target", self.pid, "--mount", "--net", "--uts", "--ipc", "--pid", "--", *command,
                   **arguments)

    def service_pid(self, service):
        return int(self.inside("cat", f"/run/{service}.pid"))

    def signal(self, service, signal):
        self.inside("kill", f"-{signal}", "--", f"-{self.service_pid(service)}")

    def kill(self, service, signal="KILL"):
        """Returns once the service is gone: until then it holds its ports and locks, and a new one would not start."""
        pid = self.service_pid(service)
        self.signal(service, signal)
        wait_until(lambda: self.inside("bash", "-c", f"[ -e /proc/{pid} ] || echo gone"), f"{service} to end", 30)

    def start(self, service):
        """Starts a service again that was killed."""
        self.inside("bash", "-c", 'setsid "$1/services/$2" </dev/null >>"/var/log/$2.log" 2>&1 & echo $! >"/run/$2.pid"',
                    "_", self.folder, service)

    def ensure(self, service):
        """Continues a service of this machine that was stopped, or starts it if it was ended."""
        if not (self.folder / "services" / service).exists():
            return
        try:
            self.signal(service, "CONT")
        except ClusterError:
            self.start(service)

    def log(self, service):
        return (self.folder / "log" / f"{service}.log").read_text(errors="replace")

    def forget_cgroups(self):
        remove_cgroups(self.cgroup)


def cgroup_roots():
    """Returns the folders in which groups are made: the hierarchy of version 2, or each controller's of version 1."""
    if (CGROUPS / "cgroup.controllers").exists():
        return [CGROUPS]
    return [path for path in CGROUPS.iterdir() if path.is_dir() and not path.is_symlink() and path.name != "unified"]


def make_cgroups(name):
    for root in cgroup_roots():
        path = root
        for part in name.split("/"):
            pass_controllers_on(path)
            parent, path = path, path / part
            path.mkdir(exist_ok=True)
            for file in ("cpuset.cpus", "cpuset.mems"):  # version 1 starts with none
                if not (parent / "cgroup.controllers").exists() and (path / file).exists():
                    (path / file).write_text((parent / file).read_text())
        pass_controllers_on(path)


def pass_controllers_on(path):
    """In version 2 a group gets the controllers that its parent passes on."""
    if not (path / "cgroup.subtree_control").exists():
        return
    for controller in (path / "cgroup.controllers").read_text().split():
        try:
            (path / "cgroup.subtree_control").write_text(f"+{controller}")
        except OSError:
            pass  # a controller that cannot be passed on here


def remove_cgroups(name):
    """Removes a group and those below it. The processes have ended, but the kernel takes a moment to see that. runc
    makes groups in the hierarchy of version 2 even if those of version 1 exist too."""
    def are_gone():
        for root in {*cgroup_roots(), CGROUPS / "unified"}:
            for folder, _, _ in os.walk(root / name, topdown=False):
                os.rmdir(folder)
        return True
    wait_until(are_gone, f"the control groups {name} to be empty", 30)
