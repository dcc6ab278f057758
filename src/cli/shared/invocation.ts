import type { Command } from 'commander';
import { noteInvocation } from '../../base/invocation.ts';
import { IS_PACKAGE } from '../../base/places.ts';
import { processEnvironment } from '../../settings/config.ts';
import { ownFile } from '../../settings/layers.ts';
import { callOn, folderOfStart } from './program-name.ts';

/** Notes how the process was called. The texts of a daemon are read in other folders, so they name its settings by the whole path. */
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
