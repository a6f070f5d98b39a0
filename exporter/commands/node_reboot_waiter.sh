# Runs as a unit of the node's systemd that a shutdown does not stop, and restarts the machine: ASK
# seconds after its start by `systemctl reboot`, and by harder means if systemd does not: FORCE
# seconds later by `systemctl reboot --force`, KEYS seconds later by the SysRq keys s, u and b, GAP
# seconds apart. The restart of the machine ends it.
# Arguments: ASK FORCE KEYS GAP. systemd would put its own variables in where a brace follows a
# dollar.
# PIPE: journald, which reads the errors, ends before this does.
trap '' HUP INT PIPE TERM

say() { echo "gpuward: $1" > /dev/kmsg; }

# bash needs no other program to wait, which a hung file system might keep from starting.
pause() { sleep "$1"; }
if [ -n "$BASH_VERSION" ]; then
  fifo=/run/gpuward-node-reboot
  rm -f $fifo
  mkfifo $fifo && exec 3<> $fifo && pause() { read -r -t "$1" -u 3 _; }
fi

# systemctl often gets no answer. systemd-shutdown waits 90 s, twice, for a process that ignores
# SIGTERM or is not reaped: it ends by SIGTERM, and its parent is process 1.
ask() { (trap - HUP INT PIPE TERM; systemctl "$@" &); }

pause "$1"
ask reboot
pause "$2"
say "the machine has not restarted: systemctl reboot --force"
ask reboot --force
pause "$3"
for key in s u b; do
  say "the machine has not restarted: SysRq $key"
  echo $key > /proc/sysrq-trigger
  pause "$4"
done
