import type { Command } from 'commander';
import type { AppParts } from '../../app.ts';
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

/** Loads what extensions add to the accounts that a process drives. */
export async function partsOf(extensions: readonly Extension[]): Promise<AppParts> {
  const all = await Promise.all(extensions.flatMap(({ parts }) => parts?.() ?? []));
  return {
    makePaces: all.find(({ makePaces }) => makePaces !== undefined)?.makePaces,
    listeners: all.flatMap(({ listeners = [] }) => listeners),
    sweeps: all.flatMap(({ sweeps = [] }) => sweeps),
  };
}
