import { spawn, type ChildProcess } from 'node:child_process';
import type { Writable } from 'node:stream';

/**
 * A shell, which lives on when this process is killed: its standard input ends then, and it kills the rest. A stopped process
 * ends as well. Of pm2 it is told the folder, in which pm2 writes down its own process and the ones that it looks after.
 */
const SCRIPT = `left=" "
  while read -r what which; do
    case $what in
      begun) left="$left$which " ;;
      ended) left="\${left%% $which *} \${left#* $which }" ;;
    esac
  done
  for one in $left; do
    case $one in
      /*) for file in "$one/pm2.pid" "$one"/pids/*; do kill -s KILL "$(cat "$file")"; done ;;
      *) kill -s KILL "$one" ;;
    esac
  done`;

let supervisor: Writable | undefined;

/** Has a process, or a pm2 by its folder, end with this process, however this one ends. Call what is returned when it has ended. */
export function supervise(which: number | string): () => void {
  supervisor ??= startSupervisor();
  const to = supervisor;
  to.write(`begun ${which}\n`);
  return () => void to.write(`ended ${which}\n`);
}

/** Has a child process end with this process, however this one ends. */
export function endWithUs<Child extends ChildProcess>(child: Child): Child {
  if (child.pid !== undefined) child.once('exit', supervise(child.pid));
  return child;
}

function startSupervisor(): Writable {
  // A Ctrl-C is for this process, with which it ends.
  const shell = spawn('sh', ['-c', SCRIPT], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  shell.unref();
  // A pipe to a child is a socket, which would keep this process from ending.
  (shell.stdin as Writable & { unref(): void }).unref();
  return shell.stdin;
}
