#!/bin/sh
# What pgfault-latency costs pft, measured on the host itself, alternately: fault-overhead.sh PFT MONITOR ROUNDS prints lines
# `none|bpftrace|bpftrace-paused|ftrace|ftrace-paused RATE` (faults per CPU second); sort them into a file each for kdelta ministat.
pft=$1 monitor=$2 rounds=${3:-6}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

measure() {
	name=$1
	# shellcheck disable=SC2046
	set -- $("$pft" -m 64M -t 1)
	echo "$name $7"
}

measure warm-up
while [ "$rounds" -gt 0 ]; do
	measure none
	for method in bpftrace ftrace; do
		: >"$dir/out"
		KD_TMP=$dir method=$method bounds=600,1200,2400,4800,9600,19200,38400 interval=1 cgroup='' "$monitor" >>"$dir/out" 2>>"$dir/err" &
		pid=$!
		while [ ! -s "$dir/out" ] && kill -0 $pid; do sleep 0.2; done
		measure $method
		kill -USR1 $pid
		sleep 0.2
		measure $method-paused
		kill -TERM $pid
		wait $pid
		sleep 0.3
	done
	rounds=$((rounds - 1))
done
cat "$dir/err" >&2
