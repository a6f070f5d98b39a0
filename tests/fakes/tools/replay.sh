#!/bin/sh
# Replaces a program that tests cannot run (dcgmi, nv-hostengine, all_reduce_perf, srun, mpirun,
# fi_info, fi_pingpong, ib_write_bw): it appends its arguments to $0.calls, writes its
# environment to $0.environment if it launches other nodes' programs, and replays a case, a folder
# below $0.d that ToolBox has filled:
#   stdout, stderr, exit   its output and its exit code
#   needs                  it cannot connect while the file named in it is missing
#   up                     the file named in it is there while this runs: a service
#   flood                  it writes without end
#   hang                   it does not end, and neither does its child, whose pid is in $0.child
#   deaf                   it ignores SIGTERM
#   once/                  a case for the first call only
# The case is "diag" of `dcgmi diag ...`, "client" if the last argument is an address, otherwise
# "server"; "client-X" precedes "client" if the arguments have `-d X`.
PATH=/usr/bin:/bin
name=${0##*/}
echo "$name $*" >>"$0.calls"
case $name in srun | mpirun) env >"$0.environment" ;; esac
domain= previous= last=
for word in "$@"; do
  [ "$previous" = -d ] && domain=$word
  previous=$word last=$word
done
kind=server
[ "$last" = 127.0.0.1 ] && kind=client
[ "$name" = dcgmi ] && kind=$1
case=$0.d
for folder in "$0.d/$kind-$domain" "$0.d/$kind"; do
  [ -d "$folder" ] && case=$folder && break
done
if [ -d "$case/once" ]; then
  mv "$case/once" "$case/used"
  case=$case/used
fi
file=
[ -e "$case/deaf" ] && trap '' TERM
if [ -e "$case/needs" ] && [ ! -e "$(cat "$case/needs")" ]; then
  echo 'Error: unable to establish a connection to the specified host: localhost'
  exit 235
fi
if [ -e "$case/up" ]; then
  file=$(cat "$case/up")
  trap 'rm -f "$file"; exit 0' TERM
  : >"$file"
fi
[ -e "$case/flood" ] && exec yes 'a line of a program that does not know when to stop'
[ -e "$case/stdout" ] && cat "$case/stdout"
[ -e "$case/stderr" ] && cat "$case/stderr" >&2
if [ -e "$case/hang" ]; then
  sleep 600 &
  echo $! >"$0.child"
  wait
fi
[ -e "$case/exit" ] && exit "$(cat "$case/exit")"
exit 0
