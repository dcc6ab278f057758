import type { Command } from 'commander';
import type { ServiceMaker } from '../../daemon.ts';
import type { Extension } from '../extension.ts';

const OF_PROGRAM = new WeakMap<Command, readonly Extension[]>();

/** Notes which extensions a program has, for its commands. */
export function setExtensions(program: Command, extensions: readonly Extension[]): void {
  OF_PROGRAM.set(program, extensions);
}

export function extensionsOf(command: Command): readonly Extension[] {
  return OF_PROGRAM.get(command) ?? (command.parent === null ? [] : extensionsOf(command.parent));
}

/** Loads the services of a daemon, in the order of the list. */
export async function servicesOf(extensions: readonly Extension[]): Promise<readonly ServiceMaker[]> {
  return await Promise.all(extensions.flatMap(({ service }) => service?.(extensions) ?? []));
}
