import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The path of a file of a package that stands in the manifest of `tools`, because few tests need it. */
export function tool(file: string): string {
  const path = fileURLToPath(new URL(`../../tools/node_modules/${file}`, import.meta.url));
  if (existsSync(path)) return path;
  throw new Error(`${file} is not installed: run \`npm run tools\``);
}
