#!/usr/bin/env node
// Runs on any Node from 20 on: imports nothing but the runtime, which needs no dependencies.
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import runtime from './runtime.cjs';

const require = createRequire(import.meta.url);

/** The TypeScript loader of this checkout, wherever the program is started. */
function loader() {
  try {
    return pathToFileURL(require.resolve('tsx/esm')).href;
  } catch {
    return runtime.refuse('its dependencies are not installed: run `npm ci` in the checkout');
  }
}

const cli = fileURLToPath(new URL('cli.ts', import.meta.url));
// Without it the loader would read the tsconfig.json of whatever folder the program is started in.
const tsconfig = fileURLToPath(new URL('../tsconfig.json', import.meta.url));
// A report's rows go by and are garbage at once: a young generation that grows with them would only take memory.
const memory = process.argv.includes('report') ? ['--max-semi-space-size=2', '--optimize-for-size'] : [];
const args = [...runtime.MEMORY_FLAGS, ...memory, '--import', loader(), cli, ...process.argv.slice(2)];
runtime.runNode(args, { TSX_TSCONFIG_PATH: tsconfig });
