'use strict';
const { nodeBinary } = require('./src/runtime.cjs');

const interpreter = nodeBinary();
if (interpreter === undefined) throw new Error('no usable Node: run `npm ci`, or install Node 22.20 or newer');

module.exports = {
  apps: [
    {
      name: 'order-sync',
      cwd: __dirname,
      script: 'src/cli.ts',
      args: ['run'],
      interpreter,
      node_args: ['--import', 'tsx'],
      // Online means ready: settings read, database open, the account owned.
      wait_ready: true,
      listen_timeout: 30_000,
      // Requests in flight finish within 20 s; SIGKILL only comes after that.
      kill_timeout: 25_000,
      // Keeps trying with growing waits, where a plain restart limit would give up for good.
      exp_backoff_restart_delay: 200,
      // Done, or wrong in a way that only a person can mend: usage, data, key, configuration.
      stop_exit_codes: [0, 64, 65, 77, 78],
      merge_logs: true,
      // Each line of the log carries its own time.
      time: false,
      // No secret belongs here: `pm2 save` writes the environment to a file that others can read. Start with
      // ORDER_SYNC_EXCHANGE_API_KEY_FILE naming a file of mode 0600, or keep the key in config/local.yaml, mode 0600.
    },
  ],
};
