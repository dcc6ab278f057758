import { doneOf } from '../proof/reliability.ts';
import { model } from './proof.ts';

/** `npm run model`: what the small dose of the proof does with the model, and says it. */
for (const { name, run } of model.pieces('small')) {
  const { counts, violations } = await run(() => {});
  process.stdout.write(`${[`${name}: ${doneOf(counts)}`, ...violations].join('\n')}\n`);
  if (violations.length > 0) process.exitCode = 1;
}
