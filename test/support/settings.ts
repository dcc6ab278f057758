import { EXTENSIONS } from '../../src/extensions.ts';
import { settingsOf } from '../../src/cli/shared/extensions.ts';
import * as core from '../../src/settings/config.ts';
import * as sources from '../../src/extensions/setup/sources.ts';

/** The settings of all extensions. */
export const SETTINGS_PARTS = await settingsOf(EXTENSIONS);

export function loadConfig(options: Parameters<typeof core.loadConfig>[0]): core.Config {
  return core.loadConfig({ parts: SETTINGS_PARTS, ...options });
}

export function configSources(options: core.ConfigOptions): sources.ConfigSource[] {
  return sources.configSources({ parts: SETTINGS_PARTS, ...options });
}

/** Lays fields over sections of the settings, those of extensions too. */
export function withSettings<C extends object>(config: C, fields: Readonly<Record<string, object>>): C {
  const sections = new Map<string, object>(Object.entries(config));
  for (const [name, over] of Object.entries(fields)) sections.set(name, { ...sections.get(name), ...over });
  return { ...config, ...Object.fromEntries(sections) };
}
