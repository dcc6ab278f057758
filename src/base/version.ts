import { readFileSync } from 'node:fs';
import { ROOT } from './places.ts';

export function programVersion(): string {
  const text = readFileSync(new URL('package.json', ROOT), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}
