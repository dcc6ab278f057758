import { paceMakerOf } from '../../src/cli/shared/extensions.ts';
import { EXTENSIONS } from '../../src/extensions.ts';

/** How soon orders are looked up, as the program has it. */
export const makePaces = await paceMakerOf(EXTENSIONS);
