import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const { COMPILE_CACHE } = createRequire(import.meta.url)('../../src/runtime.cjs') as { COMPILE_CACHE: string };

/** The program as a file. */
export const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));
/** By its address: the program is started in folders of its own, which have no dependencies. */
export const LOADER = import.meta.resolve('tsx/esm');
/** As the launcher sets it: a process that compiles everything anew takes half as long again to start. */
export const COMPILED = { NODE_COMPILE_CACHE: COMPILE_CACHE };
