#!/usr/bin/python3 -B
"""machine_test.py BINARIES: `gpuward-exporter node-reboot` restarts a machine: a virtual one, with Debian's kernel and
systemd, from a privileged pod, once. Only virtual machines are restarted.

Each test has its own machine, breaks it, starts the pod, and waits for the next boot. Software emulation takes about 20
s for a boot on an idle core: the limits are many times that."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

from virtual_machine import TREE, MachineError, VirtualMachine, accelerator, build_second_disk

BOOTS_WITHIN = 300
POD = "cri-containerd-pod1.scope"
UNIT = "gpuward-node-reboot.service"
WAITER = "@gpuward-node-reboot"
FORCED = "gpuward: the machine has not restarted: systemctl reboot --force"
KEY = "gpuward: the machine has not restarted: SysRq"
PRESSED = "sysrq: Resetting"  # the kernel prints it when it restarts because of the key b

DISKS = {}  # `debian`: a folder; `second`: a file; `accelerator`: of qemu


class OnAMachine(unittest.TestCase):
    def setUp(self):
        self.machine = VirtualMachine(DISKS["debian"], DISKS["second"], DISKS["accelerator"])
        self.addCleanup(self.machine.end)
        self.first = self.machine.wait_for_boot(1, BOOTS_WITHIN).id
        self.ok("systemctl is-system-running --wait", BOOTS_WITHIN)

    def run(self, result=None):
        """Adds the machine's last output to a failure."""
        failures = 0 if result is None else len(result.failures) + len(result.errors)
        super().run(result)
        if result is not None and len(result.failures) + len(result.errors) > failures:
            print(self.last_words, file=sys.stderr)

    last_words = ""

    def tearDown(self):
        pod = ""
        try:
            pod = self.machine.run("cat /run/pod.log", 10).said
        except MachineError:
            pass  # it restarts, or hangs
        self.last_words = f"console:\n{self.machine.console[-4000:]}\npod:\n{pod}"

    def ok(self, script, seconds=60):
        answer = self.machine.run(script, seconds)
        self.assertEqual(0, answer.code, f"{script}: {answer.said}")
        return answer.said

    def start_pod(self, *flags, boot_id=None, is_stopped_by_shutdown=True):
        """Starts the pod. Its control group is a scope of the node's systemd below kubepods, as with containerd and
        runc. With them a shutdown does not touch the scope until it kills all processes; with the default here it
        stops the scope, which is worse. The command starts with `begin`."""
        like_runc = "" if is_stopped_by_shutdown else "--property=DefaultDependencies=no"
        command = ["gpuward-exporter", "node-reboot", f"--boot-id={boot_id or self.first}", *flags]
        self.ok(f"""rm -f /run/begin /run/pod.* && mkfifo /run/begin
            (setsid systemd-run --scope --quiet --collect --unit={POD} --slice=kubepods-besteffort-pod1.slice {like_runc} \\
               /run/test/pod {" ".join(command)} >/run/pod.log 2>&1; echo $? >/run/pod.code) &""")
        self.machine.wait_until_true("test -s /run/pod.pid", "the pod", 60)
        said = self.ok("cat /proc/$(cat /run/pod.pid)/cgroup")
        self.assertIn(f"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod1.slice/{POD}", said)

    def begin(self):
        """Starts the command; returns once it may have started, because the write waits for the reader of the pipe."""
        self.ok("timeout 60 bash -c 'echo >/run/begin'", 90)

    def await_restart(self, seconds):
        """Expects another boot within so many seconds, and nothing in it that would restart the machine again: no unit,
        no process, no request to systemd; and the same pod does nothing a second time."""
        boot = self.machine.wait_for_boot(2, seconds)
        self.assertNotEqual(self.first, boot.id)
        self.ok("systemctl is-system-running --wait", BOOTS_WITHIN)
        self.expect_that_a_pod_of_the_first_boot_does_nothing()
        self.assertEqual(2, len(self.machine.boots), self.machine.boots)
        return boot

    def expect_that_a_pod_of_the_first_boot_does_nothing(self, boot_id=None):
        boots = len(self.machine.boots)
        self.start_pod(boot_id=boot_id)
        self.begin()
        self.machine.wait_until_true("test -s /run/pod.code", "the command to end", 60)
        self.assertEqual("the machine has booted since the restart was ordered: nothing was done\n1\n",
                         self.ok("cat /run/pod.log /run/pod.code"))
        self.assertIn("LoadState=not-found", self.ok(f"systemctl show --property=LoadState {UNIT}"))
        self.assertEqual("", self.ok("cat /proc/[0-9]*/cmdline | tr '\\0' '\\n' | grep -i ^@gpuward || true"))
        self.assertEqual("No jobs running.\n", self.ok("systemctl list-jobs"))
        self.assertEqual("running\n", self.ok("systemctl is-system-running"))
        self.assertEqual(boots, len(self.machine.boots))

    def expect_console(self, *has, without=()):
        for words in has:
            self.assertIn(words, self.machine.console)
        for words in without:
            self.assertNotIn(words, self.machine.console)


class NodeReboot(OnAMachine):
    def test_a_healthy_machine(self):
        self.start_pod(is_stopped_by_shutdown=False)
        self.begin()
        self.await_restart(300)
        self.expect_console(without=(FORCED, KEY, PRESSED))
        # A process that the last kill spares has run until the end.
        [end] = self.machine.ends
        self.assertEqual(self.first, end.id)
        self.assertIn(WAITER, end.processes)

    def test_another_boot_id(self):
        self.expect_that_a_pod_of_the_first_boot_does_nothing(boot_id="01234567-89ab-cdef-0123-456789abcdef")
        self.assertEqual([], self.machine.ends)

    def test_the_shutdown_stops_the_pod(self):
        """A shutdown that waits until the test has seen that the pod is gone and the waiter waits."""
        self.ok("""mkfifo /run/gate
            systemd-run --quiet --unit=gate --property=TimeoutStopSec=infinity \\
              --property='ExecStop=/bin/sh -c "read line </run/gate"' /bin/sleep infinity""")
        self.start_pod()
        # It belongs to the pod, and ends only with the shutdown.
        self.ok(f"""(setsid sleep infinity & echo $! >/run/pause.pid)
            cat /run/pause.pid >/sys/fs/cgroup/kubepods.slice/*/*/{POD}/cgroup.procs""")
        self.begin()
        self.machine.wait_until_true(f"systemctl is-active --quiet {UNIT}", "the waiter", 120)
        self.machine.wait_until_true(f"""! kill -0 $(cat /run/pause.pid) && test -s /run/pod.code &&
            test "$(systemctl is-active {POD})" = inactive""", "the pod to be stopped", 120)
        self.ok(f"systemctl is-active --quiet {UNIT} && systemctl list-jobs | grep -q reboot.target")
        self.assertEqual(1, len(self.machine.boots))
        self.ok("timeout 60 bash -c 'echo >/run/gate'", 90)
        self.await_restart(300)
        self.expect_console(without=(FORCED, KEY, PRESSED))
        [end] = self.machine.ends
        self.assertIn(WAITER, end.processes)
        self.assertNotIn("gpuward-exporter", end.processes)

    def test_a_unit_that_does_not_stop(self):
        """reboot.target is not reached: a service stops before it, and takes forever. A forced systemd kills at once
        all that is left, without a wait: otherwise it would wait 90 s for a process that does not end, and the keys
        would come first."""
        self.ok("""systemd-run --quiet --unit=hangs --property=TimeoutStopSec=infinity \\
            --property='ExecStop=/bin/sleep infinity' /bin/sleep infinity""")
        self.start_pod("--force-after=10s", "--keys-after=1m")
        self.begin()
        self.await_restart(300)
        self.expect_console(FORCED, without=(KEY, PRESSED))
        self.assertEqual([self.first], [end.id for end in self.machine.ends])

    def test_a_hung_file_system(self):
        """A device does not answer any more, below a mounted file system to which a service writes: neither can the
        service be ended, nor the file system unmounted."""
        self.ok("""modprobe dm_mod && dmsetup create hung --table "0 131072 linear /dev/vdc 0" &&
            mkfs.ext4 -q /dev/mapper/hung && mkdir /mnt/hung && mount /dev/mapper/hung /mnt/hung &&
            dmsetup suspend --nolockfs --noflush hung &&
            systemd-run --quiet --unit=writes dd if=/dev/zero of=/mnt/hung/file bs=4k count=1 oflag=sync""")
        self.machine.wait_until_true("grep -q '^State:.D' /proc/$(systemctl show --property=MainPID --value writes)/status",
                                     "a process that cannot be ended", 60)
        self.start_pod("--force-after=10s", "--keys-after=10s", "--key-gap=2s")
        self.begin()
        self.await_restart(300)
        self.expect_console(FORCED, *(f"{KEY} {key}" for key in "sub"), PRESSED)
        self.assertEqual([], self.machine.ends)

    def test_a_systemd_that_does_not_answer(self):
        """SIGSEGV, which systemd catches as a crash of its own: it stops working and stays alive, because the kernel
        would panic without process 1. For programs that query it, it seems to be busy."""
        self.start_pod("--key-gap=2s")
        self.ok("kill -SEGV 1")
        self.machine.wait_until_true("journalctl --boot _PID=1 | grep 'Freezing execution'", "systemd to freeze", 60)
        self.begin()
        self.await_restart(400)
        self.expect_console(PRESSED, without=(FORCED, KEY))
        self.assertEqual([], self.machine.ends)


def main():
    if os.environ.get("GPUWARD_TIER") != "all" and not os.environ.get("GPUWARD_MACHINE_TEST"):
        print("machine_test.py: Skipped\nruns with `./dev test --all`")
        return 0
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # no machine is left behind in that case either
    binaries = sys.argv.pop(1)

    def image(folder):
        subprocess.run([TREE / "manifests/image/rootfs", "exporter", binaries, folder], check=True)

    with tempfile.TemporaryDirectory(prefix="gpuward-machine-") as folder:
        found = subprocess.run([TREE / "tests/neighbours/neighbours", "folder", "machine"], capture_output=True, text=True,
                               check=True)
        DISKS.update(debian=pathlib.Path(found.stdout.strip()), second=pathlib.Path(folder) / "second.img",
                     accelerator=accelerator())
        build_second_disk(image, DISKS["second"])
        return 0 if unittest.main(verbosity=2, exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
