import type { Command } from 'commander';
import type { AppParts } from '../../app.ts';
import type { ServiceMaker } from '../../daemon.ts';
import type { SettingsPart } from '../../settings/settings.ts';
import type { Extension } from '../extension.ts';

const OF_PROGRAM = new WeakMap<Command, readonly Extension[]>();

export function setExtensions(program: Command, extensions: readonly Extension[]): void {
  OF_PROGRAM.set(program, extensions);
}

export function extensionsOf(command: Command): readonly Extension[] {
  return OF_PROGRAM.get(command) ?? (command.parent === null ? [] : extensionsOf(command.parent));
}

export async function settingsOf(extensions: readonly Extension[]): Promise<readonly SettingsPart[]> {
  return await Promise.all(extensions.flatMap(({ settings }) => settings?.() ?? []));
}

export async function servicesOf(extensions: readonly Extension[]): Promise<readonly ServiceMaker[]> {
  return await Promise.all(extensions.flatMap(({ service }) => service?.(extensions) ?? []));
}

export async function partsOf(extensions: readonly Extension[]): Promise<AppParts> {
  const all = await Promise.all(extensions.flatMap(({ parts }) => parts?.() ?? []));
  return {
    makePaces: all.find(({ makePaces }) => makePaces !== undefined)?.makePaces,
    makeGuard: all.find(({ makeGuard }) => makeGuard !== undefined)?.makeGuard,
    listeners: all.flatMap(({ listeners = [] }) => listeners),
    sweeps: all.flatMap(({ sweeps = [] }) => sweeps),
  };
}
