import { stringify } from 'yaml';
import type { Config } from '../../config/config.ts';
import type { ProbeRow } from '../../flows/probe/questions.ts';

/** Settings as a file has them: sections that hold values by name. */
export type Settings = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** The settings that follow from what was seen; a list goes on from the one in force. */
export function withSettings(rows: readonly ProbeRow[], { exchange: { absence } }: Config): Settings {
  const settings: Record<string, Record<string, unknown>> = {};
  for (const { setting } of rows) {
    if (setting === undefined) continue;
    const at = setting.path.split('.');
    const name = at.pop() ?? '';
    const value =
      setting.path === 'exchange.absence' ? joined(absence, setting.value as readonly unknown[]) : setting.value;
    let section = settings as Record<string, unknown>;
    for (const part of at) section = (section[part] ??= {}) as Record<string, unknown>;
    section[name] = value;
  }
  return settings;
}

/** Two lists, each shape once. */
function joined(there: readonly unknown[], more: readonly unknown[]): readonly unknown[] {
  const byText = new Map([...there, ...more].map((shape) => [JSON.stringify(shape), shape]));
  return [...byText.values()];
}

/** The settings as YAML; empty where there are none. */
export function settingsText(settings: Settings): string {
  return Object.keys(settings).length === 0 ? '' : stringify(settings);
}
