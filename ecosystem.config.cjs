'use strict';
const { spawnSync } = require('node:child_process');
const { NODE_FLAGS, PROGRAM, nodeBinary } = require('./src/runtime.cjs');

const interpreter = nodeBinary();
if (interpreter === undefined) throw new Error('no usable Node: run `npm ci`, or install Node 24 or newer');
const flags = PROGRAM.slice(0, -1);
const script = PROGRAM.at(-1);

/** The setting workers.instances, from the same layers as every setting; 1 where the settings are wrong, as the daemon will say. */
function instances() {
  const { status, stdout } = spawnSync(
    interpreter,
    [...flags, script, 'config', 'show', 'workers.instances', '--json'],
    { encoding: 'utf8' },
  );
  return status === 0 ? Number(JSON.parse(stdout)[0].value) : 1;
}

module.exports = {
  apps: [
    {
      name: 'order-sync',
      // Relative paths of settings begin where pm2 is started, as they do without it: never in a global install.
      cwd: process.cwd(),
      script,
      args: ['run'],
      // With PostgreSQL several processes of one machine share the accounts.
      instances: instances(),
      exec_mode: 'fork',
      interpreter,
      node_args: [...NODE_FLAGS, ...flags],
      // Online means ready: settings read, database open, the account owned.
      wait_ready: true,
      listen_timeout: 30_000,
      // Requests in flight finish within 20 s; SIGKILL only comes after that.
      kill_timeout: 25_000,
      // Keeps trying with growing waits, where a plain restart limit would give up for good.
      exp_backoff_restart_delay: 200,
      // Faults that only a person can correct: usage, data, key, configuration. Not 0: pm2 takes the end by a signal for
      // exit 0, and a daemon that was killed must come back. A stop by pm2 itself is never followed by a start.
      stop_exit_codes: [64, 65, 77, 78],
      // No probe of pm2 inside the process that holds the key: the probe would end it at once if pm2 went down.
      pmx: false,
      merge_logs: true,
      // Each line of the log carries its own time.
      time: false,
      // No secret belongs here: `pm2 save` writes the environment to a file that others can read. Start with
      // ORDER_SYNC_EXCHANGE_API_KEY_FILE naming a file of mode 0600, or keep the key in the file of settings, mode 0600.
    },
  ],
};
