# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests in this folder. A test has a lab of its own, named after its process; whatever way the test ends,
# the lab and every process it started are taken away. On failure it prints what one would look at first.
#
#   lab_up [FILE]        the demo lab, or FILE, under a name of its own
#   on HOST COMMAND...   run a command on a host
#   show WHAT [...]      heddle show of this lab
#   background COMMAND   start a process that is ended with the test; its id is in $background_pid
#   eventually SECONDS COMMAND...   until it succeeds
#   check WHAT COMMAND...           fail with WHAT unless it succeeds
#   fail WHAT
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${HEDDLE_BUILD:-$root/build}
heddle=$build/src/apps/heddle
heddled=$build/src/apps/heddled
test_name=$(basename "$0")
lab=t$$-$test_name
work=$(mktemp -d "/tmp/heddle-$test_name-XXXXXX")
background_pids=()
failed=no

finish() {
  local status=$?
  trap - EXIT
  if [ $status -ne 0 ] && [ $failed = no ]; then echo "$test_name: ended early with status $status"; fi
  if [ $status -ne 0 ] && [ -d "/run/heddle-labs/$lab" ]; then look_around; fi
  for pid in "${background_pids[@]}"; do kill "$pid" 2>/dev/null; done
  "$heddle" lab down "$lab" >/dev/null 2>&1  # ends what runs on its hosts
  for pid in "${background_pids[@]}"; do
    eventually 10 dead "$pid" || kill -KILL "$pid"
    wait "$pid" 2>/dev/null
  done
  [ "$(type -t clean_up)" = function ] && clean_up
  rm -rf "$work"
  exit $status
}
trap finish EXIT
trap 'exit 130' INT TERM

dead() { ! kill -0 "$1" 2>/dev/null || grep -q "^State:.*Z" "/proc/$1/status" 2>/dev/null; }

look_around() {
  echo "--- what to look at"
  for what in links drops tables workers; do show $what; echo; done 2>&1
  echo "--- /run/heddle-labs/$lab/heddled.log"
  tail -n 20 "/run/heddle-labs/$lab/heddled.log"
}

fail() {
  failed=yes
  echo "$test_name: FAILED: $*"
  exit 1
}

check() {
  local what=$1
  shift
  "$@" >"$work/check" 2>&1 && return
  cat "$work/check"
  fail "$what"
}

eventually() {
  local seconds=$1
  shift
  local end=$((SECONDS + seconds))
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -ge $end ] && return 1
    sleep 0.2
  done
}

lab_up() {
  sed "s/^name:.*/name: $lab/" "${1:-$root/config/lab/demo.yaml}" >"$work/lab.yaml"
  check "the lab comes up" "$heddle" lab up "$work/lab.yaml"
}

on() { "$heddle" lab exec "$lab" "$@"; }
show() { "$heddle" show "$@" --lab "$lab"; }

background() {
  "$@" >"$work/background-${#background_pids[@]}" 2>&1 &
  background_pid=$!
  background_pids+=($background_pid)
}

# The iperf3 server of a host; ends with the lab's namespaces.
serve_iperf() {
  on "$1" iperf3 -s -D -J
  eventually 5 on "$1" sh -c "ss -ltn | grep -q :5201" || fail "iperf3 listens on $1"
}

address_v4() { on "$1" ip -4 -o addr show dev eth1 | awk '{sub("/.*", "", $4); print $4}'; }

# Frames dropped by the switches so far, of all reasons or of those given.
drops() {
  local reasons
  reasons=$(printf '%s\n' "$@" | jq -R . | jq -sc 'map(select(. != ""))')
  show drops --json | jq --argjson reasons "$reasons" \
    '[.drops[] | select($reasons == [] or (.reason as $r | $reasons | index($r))) | .frames] | add // 0'
}

# Nothing under way: no flow ID in use, no byte or packet held, every credit home.
at_rest() {
  show tables --json | jq -e '[.tables[] | .input_ids + .output_ids + .orphans + .queue_extent_bytes + .flow_extent_bytes
    + .output_extent_bytes + .input_packets + .waiting_packets + .output_packets + (.credits.held // 0)
    + (if .credits and (.credits.all_home | not) then 1 else 0 end)] | add == 0' >/dev/null
}

# Frames in = out + held + drops, on every node.
balanced() {
  show drops --json | jq -e '[.sums[] | select(.in != .out + .held + .drops)] == []' >/dev/null
}

# Datagrams that overtook others, as the receivers saw it, of what iperf3 -J --get-server-output said: a sender knows of none.
udp_out_of_order() { jq -s '[.[].server_output_json.end.streams[].udp.out_of_order] | add' "$@"; }
tcp_out_of_order() { on "$1" nstat -az TcpExtTCPOFOQueue | awk '/TCPOFOQueue/ {print $2}'; }
