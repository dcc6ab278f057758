import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';

const runtime = createRequire(import.meta.url)('../../src/runtime.cjs') as {
  readonly COMPILE_CACHE: string;
  readonly PROGRAM: readonly string[];
};

/** The program as a file. */
export const CLI = runtime.PROGRAM.at(-1) ?? '';
/** Flags with which the launcher starts it. */
export const FLAGS = runtime.PROGRAM.slice(0, -1);
/** The cache as the launcher sets it: a process that compiles everything anew takes half as long again to start. */
export const COMPILED = { NODE_COMPILE_CACHE: runtime.COMPILE_CACHE, TMPDIR: tmpdir() };
