import { EXTENSIONS } from '../../src/extensions.ts';

/** The drivers of databases that the launcher hands to the program. */
export const DRIVERS = EXTENSIONS.flatMap(({ database }) => database ?? []);
