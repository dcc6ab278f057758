import { fileURLToPath } from 'node:url';

/** The folder of the checkout or package. The built files are as deep in the package as this file in the checkout. */
export const ROOT = new URL('../../', import.meta.url);
export const IS_PACKAGE = !import.meta.url.endsWith('.ts');
export const PROGRAM_FILE = pathOf(IS_PACKAGE ? 'src/program/cli.js' : 'src/cli.ts');
export const DEFAULTS_FILE = pathOf('config/default.yaml');
export const SCHEMA_FILE = pathOf('config/schema.json');
/** The names of the settings files in messages. */
export const DEFAULTS = IS_PACKAGE ? DEFAULTS_FILE : 'config/default.yaml';
export const OWN_SETTINGS = IS_PACKAGE ? 'order-sync.yaml' : 'config/local.yaml';

function pathOf(name: string): string {
  return fileURLToPath(new URL(name, ROOT));
}
