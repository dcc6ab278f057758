'use strict';
// Runs on any Node from 20 on and before anything is installed: no dependencies, no newer syntax.
const { spawn } = require('node:child_process');
const { accessSync, constants, existsSync, statSync } = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const SOURCE = path.join(__dirname, 'cli.ts');
/** The package has JavaScript in its place. */
const isCheckout = existsSync(SOURCE);
/** The program, after the flags that its language wants: the first releases of Node 24 call TypeScript an experiment at each start. */
const PROGRAM = isCheckout
  ? ['--disable-warning=ExperimentalWarning', SOURCE]
  : [path.join(__dirname, 'program', 'cli.js')];
const MODULES = path.join(__dirname, '..', 'node_modules');
/** The first Node that knows all of the language that the program is written in. */
const OLDEST_USABLE = 24;
const EXIT_CONFIGURATION = 78;
const FORWARDED = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGUSR2'];
const NODE_FLAGS = [
  // Without these two, on a machine with much memory, V8 collects too late: it keeps 400 MB while 50 MB are in use.
  '--max-semi-space-size=16',
  '--heap-growing-percent=100',
  // The signal would open a debugger to all users of the machine: it reads the key, and runs any code.
  '--disable-sigusr1',
  // Node would look for a link in each folder of each module's path: npm makes none, and that takes 13 ms of each command.
  '--preserve-symlinks',
];
/** The folder in which Node keeps compiled code, for the owner of the checkout alone. */
const COMPILE_CACHE = path.join(MODULES, '.cache', 'order-sync');

/** Returns the Node that the program runs on: the one that npm installed with the checkout, or this one if it is new enough. */
function nodeBinary() {
  const name = process.platform === 'win32' ? 'node.exe' : 'node';
  const pinned = path.join(MODULES, `node-${process.platform}-${process.arch}`, 'bin', name);
  if (isCheckout && existsSync(pinned)) return pinned;
  return Number.parseInt(process.versions.node, 10) >= OLDEST_USABLE ? process.execPath : undefined;
}

/**
 * Runs `args` on that Node in place of this process: this process becomes it if Node can do that, so that a signal or a kill
 * reaches the program itself. A channel to the parent does not outlive that: with one, and on an older Node, it runs as a
 * child.
 */
function runNode(args) {
  const binary = nodeBinary();
  if (binary === undefined) {
    const ownNode = isCheckout ? 'run `npm ci` without --omit=optional, or ' : '';
    refuse(`Node ${process.versions.node} is too old: ${ownNode}install Node ${OLDEST_USABLE} or newer`);
  }
  const env = isCheckout ? { ...compiledCode(), ...process.env, ...pathWithTools() } : process.env;
  const hasChannel = typeof process.send === 'function';
  if (typeof process.execve === 'function' && !hasChannel && isExecutable(binary)) {
    process.execve(binary, [binary, ...args], env);
  }
  runChild(binary, args, env, hasChannel);
}

/** Tells whether a file can be run: otherwise `execve` would abort this process. */
function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return process.platform !== 'win32';
  } catch {
    return false;
  }
}

/** Standard streams and IPC are passed through, signals and the exit code are passed on. */
function runChild(binary, args, env, hasChannel) {
  const child = spawn(binary, args, {
    stdio: hasChannel ? ['inherit', 'inherit', 'inherit', 'ipc'] : 'inherit',
    env,
    ...(hasChannel && {
      serialization: process.env.NODE_CHANNEL_SERIALIZATION_MODE === 'advanced' ? 'advanced' : 'json',
    }),
  });
  child.on('error', (error) => refuse(`${binary} cannot be started (${error.message}): run \`npm ci\` again`));
  if (hasChannel) passMessages(child);
  // One that went to the whole group reaches the child twice: it takes the second for the first.
  for (const signal of FORWARDED) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    for (const name of FORWARDED) process.removeAllListeners(name);
    process.kill(process.pid, signal);
    // If this process ignores the signal (SIGPIPE, or a parent's choice), it ends with the exit code of a shell.
    setTimeout(() => process.exit(128 + (os.constants.signals[signal] ?? 0)), 500);
  });
}

function refuse(message) {
  process.stderr.write(`order-sync: ${message}\n`);
  process.exit(EXIT_CONFIGURATION);
}

/** The checkout's own tools, and with them the same Node, come first for whatever the child starts. */
function pathWithTools() {
  const tools = path.join(MODULES, '.bin');
  return { PATH: process.env.PATH ? `${tools}${path.delimiter}${process.env.PATH}` : tools };
}

/** Has Node keep compiled code, for the owner alone: files of another user would make the owner's next `npm ci` fail. */
function compiledCode() {
  const { uid } = statSync(MODULES, { throwIfNoEntry: false }) ?? {};
  return uid !== undefined && uid === process.getuid?.() ? { NODE_COMPILE_CACHE: COMPILE_CACHE } : {};
}

/** Ends the process with advice if npm has not installed the dependencies of the program. */
function requireDependencies() {
  if (!existsSync(PROGRAM.at(-1)))
    refuse('nothing was built before it was packed: run `npm run package` in the checkout');
  try {
    require.resolve('better-sqlite3');
  } catch {
    refuse(`its dependencies are not installed: ${isCheckout ? 'run `npm ci` in the checkout' : 'install it again'}`);
  }
}

function passMessages(child) {
  // A channel that closes on one side is closed on the other; a message that cannot be delivered then has no reader.
  const drop = () => {};
  process.on('message', (message, handle) => child.connected && child.send(message, handle, drop));
  child.on('message', (message, handle) => process.connected && process.send(message, handle, undefined, drop));
  process.on('disconnect', () => child.connected && child.disconnect());
  child.on('disconnect', () => process.connected && process.disconnect());
}

module.exports = { COMPILE_CACHE, NODE_FLAGS, PROGRAM, nodeBinary, requireDependencies, runNode };

if (require.main === module) runNode(process.argv.slice(2));
