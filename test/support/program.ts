import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const runtime = createRequire(import.meta.url)('../../src/runtime.cjs') as {
  readonly COMPILE_CACHE: string;
  typescript(): { readonly flags: readonly string[] };
};

/** The program as a file. */
export const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));
/** Flags with which the launcher starts it. */
export const FLAGS = [...runtime.typescript().flags];
/** As the launcher sets it: a process that compiles everything anew takes half as long again to start. */
export const COMPILED = { NODE_COMPILE_CACHE: runtime.COMPILE_CACHE };
