'use strict';
// This file runs on Node 20 and newer, before anything is installed: it has no dependencies and no newer syntax.
const { spawn } = require('node:child_process');
const { accessSync, constants, existsSync, statSync } = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const SOURCE = path.join(__dirname, 'cli.ts');
/** False in the package, which has `program/cli.js` instead of `cli.ts`. */
const isCheckout = existsSync(SOURCE);
/** The program's file. The flag hides a warning about TypeScript that the first releases of Node 24 print. */
const PROGRAM = isCheckout
  ? ['--disable-warning=ExperimentalWarning', SOURCE]
  : [path.join(__dirname, 'program', 'cli.js')];
const MODULES = path.join(__dirname, '..', 'node_modules');
/** The first Node that supports all syntax of the program. */
const OLDEST_USABLE = 24;
const EXIT_CONFIGURATION = 78;
const FORWARDED = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGUSR2'];
const NODE_FLAGS = [
  // Without these two flags, V8 on a machine with much memory keeps 400 MB while 50 MB are in use.
  '--max-semi-space-size=16',
  '--heap-growing-percent=100',
  // SIGUSR1 would open a debugger, with which every user of the machine could read the key and run code.
  '--disable-sigusr1',
  // npm ci links no package. Without the flag, Node looks for links in each module's path, which takes 13 ms a command.
  '--preserve-symlinks',
];
/** The folder in which Node keeps compiled code, if the owner of the checkout runs the program. */
const COMPILE_CACHE = path.join(MODULES, '.cache', 'order-sync');

/** Returns the Node that npm installed in the checkout, or this process's Node; undefined if that is too old. */
function nodeBinary() {
  const name = process.platform === 'win32' ? 'node.exe' : 'node';
  const pinned = path.join(MODULES, `node-${process.platform}-${process.arch}`, 'bin', name);
  if (isCheckout && existsSync(pinned)) return pinned;
  return Number.parseInt(process.versions.node, 10) >= OLDEST_USABLE ? process.execPath : undefined;
}

/**
 * Replaces this process by the program, so that signals reach the program itself. Runs the program as a child if this
 * Node lacks `execve`, or if the parent has opened an IPC channel, which would not outlive the replacement.
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

/** Returns true if `execve` can run a file. For any other file, `execve` would abort this process. */
function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return process.platform !== 'win32';
  } catch {
    return false;
  }
}

/** Runs a child on this process's standard streams. Forwards messages and signals, and ends with the child's code. */
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
  // A signal to the whole process group reaches the child twice. The child ignores a repetition within 2 s.
  for (const signal of FORWARDED) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    for (const name of FORWARDED) process.removeAllListeners(name);
    process.kill(process.pid, signal);
    // If this process ignores the signal (SIGPIPE, or a parent's choice), it exits with the code that a shell uses.
    setTimeout(() => process.exit(128 + (os.constants.signals[signal] ?? 0)), 500);
  });
}

function refuse(message) {
  process.stderr.write(`order-sync: ${message}\n`);
  process.exit(EXIT_CONFIGURATION);
}

/** Puts the checkout's tools, with the same Node among them, first in the `PATH` of the program's child processes. */
function pathWithTools() {
  const tools = path.join(MODULES, '.bin');
  return { PATH: process.env.PATH ? `${tools}${path.delimiter}${process.env.PATH}` : tools };
}

/** Sets the compile cache for the owner alone: another user's files would make the owner's next `npm ci` fail. */
function compiledCode() {
  const { uid } = statSync(MODULES, { throwIfNoEntry: false }) ?? {};
  return uid !== undefined && uid === process.getuid?.() ? { NODE_COMPILE_CACHE: COMPILE_CACHE } : {};
}

/** Ends the process with advice if the program was not built, or its dependencies are not installed. */
function requireDependencies() {
  if (!existsSync(PROGRAM.at(-1)))
    refuse('the package was made without a build: run `npm run package` in the checkout');
  try {
    require.resolve('better-sqlite3');
  } catch {
    refuse(`its dependencies are not installed: ${isCheckout ? 'run `npm ci` in the checkout' : 'install it again'}`);
  }
}

function passMessages(child) {
  // If one side closes its channel, the channel of the other side is closed, and undelivered messages are dropped.
  const drop = () => {};
  process.on('message', (message, handle) => child.connected && child.send(message, handle, drop));
  child.on('message', (message, handle) => process.connected && process.send(message, handle, undefined, drop));
  process.on('disconnect', () => child.connected && child.disconnect());
  child.on('disconnect', () => process.connected && process.disconnect());
}

module.exports = { COMPILE_CACHE, NODE_FLAGS, PROGRAM, nodeBinary, requireDependencies, runNode };

if (require.main === module) runNode(process.argv.slice(2));
