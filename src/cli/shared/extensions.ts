import type { Command } from 'commander';
import type { LoadDriver } from '../../store/open.ts';
import type { Extension } from '../extension.ts';

const OF_PROGRAM = new WeakMap<Command, readonly Extension[]>();

/** Notes which extensions a program has, for its commands. */
export function setExtensions(program: Command, extensions: readonly Extension[]): void {
  OF_PROGRAM.set(program, extensions);
}

export function extensionsOf(command: Command): readonly Extension[] {
  return OF_PROGRAM.get(command) ?? (command.parent === null ? [] : extensionsOf(command.parent));
}

export function driversOf(command: Command): readonly LoadDriver[] {
  return extensionsOf(command).flatMap(({ database }) => database ?? []);
}
