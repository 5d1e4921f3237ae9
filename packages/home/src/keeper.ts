import type { Command } from './postgres.ts';

/**
 * The shell script that keeps the private servers: it starts them as its children, starts again what dies, and stops
 * them on SIGTERM or when no user is left (a kdelta that was killed can't say goodbye). It is a script and not a part
 * of kdelta because the servers outlive the kdelta that started them, as long as another one uses them.
 *
 * Run in the services folder, where `users/` holds one file per kdelta, `pid.start.random`.
 * Seconds without users before it stops: `grace`.
 */
export function keeperScript(servers: { name: string; command: Command; stopSignal: string }[], grace: number): string {
  const starts = servers.map(
    ({ name, command }) => `start_${name}() {
  ${command.argv.map(quote).join(' ')} </dev/null >>${name}.log 2>&1 &
  pid_${name}=$!
}`,
  );
  const running = servers.map(
    ({ name }) =>
      `  kill -0 "$pid_${name}" 2>/dev/null || { echo "${name} has ended; starting it again"; start_${name}; }`,
  );
  const stops = servers.map(({ name, stopSignal }) => `  kill -${stopSignal} "$pid_${name}" 2>/dev/null`);
  return `#!/bin/sh
# Written by kdelta; keeps its private servers running while a kdelta uses them.
${starts.join('\n')}
stop() {
  trap '' TERM
${stops.join('\n')}
  wait
  rm -f services.json keeper.pid
  exit 0
}
trap stop TERM
trap '' INT HUP
user_alive() {
  for file in users/*; do
    [ -e "$file" ] || continue
    identity=\${file#users/}
    identity=\${identity%.*}
    pid=\${identity%%.*}
    if stat=$(cat "/proc/$pid/stat" 2>/dev/null); then
      set -f
      set -- \${stat##*) }
      set +f
      if [ "$1" != Z ] && [ "$pid.\${20}" = "$identity" ]; then return 0; fi
    fi
    rm -f "$file"
  done
  return 1
}
${servers.map(({ name }) => `start_${name}`).join('\n')}
alone=0
while :; do
  sleep 1 &
  wait $!
${running.join('\n')}
  if user_alive; then alone=0; else alone=$((alone + 1)); fi
  [ "$alone" -gt ${Math.max(2, grace)} ] && stop
done
`;
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
