import { existsSync, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { noteInvocation } from '../../base/invocation.ts';
import { IS_PACKAGE, ROOT } from '../../base/places.ts';
import { shellWord } from '../../base/text.ts';
import { processEnvironment } from '../../settings/config.ts';
import { ownFile } from '../../settings/layers.ts';

const FOLDER = fileURLToPath(ROOT);
const LAUNCHER = join(FOLDER, 'src', 'bin.mjs');

/** Matches an npm script that starts this program directly, not through a process manager. */
const BY_NPM = /^'?order-sync\b|^node src\/bin\.mjs\b/;

/** Returns the folder in which a person started this process by npx or npm; null if pm2, systemd or another did. */
function folderOfStart(): string | null {
  const { npm_lifecycle_script: script = '', INIT_CWD: folder = null } = processEnvironment();
  return BY_NPM.test(script) ? folder : null;
}

/** Returns the words that call this program, with a settings file if given. A null `folder` means any folder. */
export function callOn(settingsFile: string | null | undefined, folder: string | null = process.cwd()): string {
  const name = programName(folder);
  return typeof settingsFile === 'string' ? `${name} --config ${shellWord(settingsFile)}` : name;
}

/** Names `npx` only if it finds this program, because it would otherwise ask a registry for a package of that name. */
function programName(folder: string | null): string {
  const path = processEnvironment()['PATH'] ?? '';
  const onPath = path.split(delimiter).filter((one) => one !== '' && !one.includes('node_modules'));
  if (onPath.some((one) => isSame(join(one, 'order-sync'), LAUNCHER))) return 'order-sync';
  const places = folder === null ? [] : [folder, join(folder, 'node_modules', 'order-sync')];
  if (places.some((place) => isSame(place, FOLDER))) return 'npx order-sync';
  return IS_PACKAGE && folder !== null ? 'order-sync' : shellWord(LAUNCHER);
}

function isSame(path: string, other: string): boolean {
  return existsSync(path) && realpathSync(path) === realpathSync(other);
}

/** Notes how the process was called. A daemon names its settings by full path, for readers in other folders. */
export function noteCall(program: Command, command: Command): void {
  const env = processEnvironment();
  const { config } = program.opts<{ config?: string }>();
  const isDaemon = command.name() === 'run';
  const place = { env, cwd: process.cwd(), file: config };
  const file = isDaemon && (config !== undefined || env['ORDER_SYNC_CONFIG'] || IS_PACKAGE) ? ownFile(place) : config;
  const folder = isDaemon ? folderOfStart() : process.cwd();
  const names = program.commands.map((one) => one.name());
  noteInvocation(() => callOn(file, folder), names, folder);
}
