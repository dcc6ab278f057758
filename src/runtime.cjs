'use strict';
// Runs on any Node from 20 on and before anything is installed: no dependencies, no newer syntax.
const { spawn } = require('node:child_process');
const { accessSync, constants, existsSync, lstatSync, mkdirSync, statSync } = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { pathToFileURL } = require('node:url');

const CHECKOUT = path.join(__dirname, '..');
const MODULES = path.join(CHECKOUT, 'node_modules');
/** The first Node that knows all of the language that the program is written in. */
const OLDEST_USABLE = 24;
const EXIT_CONFIGURATION = 78;
const FORWARDED = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGUSR2'];
const NODE_FLAGS = [
  // Without these two, on a machine with much memory, V8 collects so late that it holds 400 MB where 50 MB are in use.
  '--max-semi-space-size=16',
  '--heap-growing-percent=100',
  // The signal would open a debugger to all users of the machine: it reads the key, and runs what it is told to.
  '--disable-sigusr1',
];
/** The folder in which Node keeps compiled code, for the owner of the checkout alone. */
const COMPILE_CACHE = path.join(MODULES, '.cache', 'order-sync');

/**
 * Path of the Node that the program runs on: the one that npm installed with the checkout, else this one when it is new
 * enough, else undefined.
 * @returns {string | undefined}
 */
function nodeBinary() {
  const name = process.platform === 'win32' ? 'node.exe' : 'node';
  // In the `node_modules` of another package, npm puts it beside the checkout.
  const parent = path.dirname(CHECKOUT);
  const pinned = [MODULES, ...(path.basename(parent) === 'node_modules' ? [parent] : [])]
    .map((folder) => path.join(folder, `node-${process.platform}-${process.arch}`, 'bin', name))
    .find((file) => existsSync(file));
  if (pinned !== undefined) return pinned;
  return Number.parseInt(process.versions.node, 10) >= OLDEST_USABLE ? process.execPath : undefined;
}

/**
 * Runs `args` on that Node in place of this process: this process becomes it where Node can do that, so that a signal or
 * a kill reaches the program itself. A channel to the parent does not outlive that: with one, and on an older Node, it runs as
 * a child.
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} [extraEnvironment]
 */
function runNode(args, extraEnvironment = {}) {
  const binary = nodeBinary();
  if (binary === undefined) {
    refuse(
      `Node ${process.versions.node} is too old: run \`npm ci\` without --omit=optional, or install Node ${OLDEST_USABLE} or newer`,
    );
  }
  const env = { ...compiledCode(), ...process.env, ...extraEnvironment, ...pathWithTools() };
  const hasChannel = typeof process.send === 'function';
  if (typeof process.execve === 'function' && !hasChannel && isExecutable(binary)) {
    process.execve(binary, [binary, ...args], env);
  }
  runChild(binary, args, env, hasChannel);
}

/** Where it is not, `execve` would abort this process. */
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
    // Where this process ignores the signal (SIGPIPE, or a parent's choice), it ends with the exit code of a shell.
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

/**
 * Flags and environment with which Node runs the TypeScript files of this checkout. Node strips the types by itself, but
 * not below `node_modules`: there tsx translates the files.
 * @returns {{ flags: readonly string[], environment: NodeJS.ProcessEnv }}
 */
function typescript() {
  if (!__dirname.split(path.sep).includes('node_modules')) {
    // The first releases of Node 24 call it an experiment at each start.
    return { flags: ['--disable-warning=ExperimentalWarning'], environment: {} };
  }
  // Without its path tsx would read the tsconfig.json of whatever folder the program is started in.
  const tsconfig = path.join(CHECKOUT, 'tsconfig.json');
  const loader = pathToFileURL(require.resolve('tsx/esm')).href;
  return { flags: ['--import', loader], environment: { ...translatedCode(), TSX_TSCONFIG_PATH: tsconfig } };
}

/** Ends the process, and says what to do, where npm has not installed what the program is built on. */
function requireDependencies() {
  try {
    require.resolve('commander');
  } catch {
    refuse('its dependencies are not installed: run `npm ci` in the checkout');
  }
}

/** tsx runs what it finds translated in this folder, which anybody may make: it is used only where this user alone can write. */
function translatedCode() {
  const uid = process.geteuid?.();
  const folder = path.join(os.tmpdir(), `tsx-${uid}`);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch {
    // It exists, or it cannot be made.
  }
  const found = lstatSync(folder, { throwIfNoEntry: false });
  const isOwn = found?.isDirectory() === true && found.uid === uid && (found.mode & 0o022) === 0;
  return isOwn ? {} : { TSX_DISABLE_CACHE: '1' };
}

function passMessages(child) {
  // A channel that closes on one side is closed on the other; a message that cannot be delivered then has no reader.
  const drop = () => {};
  process.on('message', (message, handle) => child.connected && child.send(message, handle, drop));
  child.on('message', (message, handle) => process.connected && process.send(message, handle, undefined, drop));
  process.on('disconnect', () => child.connected && child.disconnect());
  child.on('disconnect', () => process.connected && process.disconnect());
}

module.exports = { COMPILE_CACHE, NODE_FLAGS, nodeBinary, requireDependencies, runNode, typescript };

if (require.main === module) runNode(process.argv.slice(2));
