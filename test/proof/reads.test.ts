import { expect, it } from 'vitest';
import { PARTS } from './parts.ts';
import { filesReadBy } from './reads.ts';

const read = new Map(PARTS.map(({ name, reads }) => [name, filesReadBy('.', reads)]));
const partsThatRead = (path: string) => [...read].filter(([, files]) => files.includes(path)).map(([name]) => name);

it.each([
  ['test/simulation/planted/seeds.json', ['planted']],
  ['test/simulation/planted/worlds.ts', ['planted']],
  ['test/mutation/judged.json', ['mutation']],
  ['test/mutation/judged.ts', ['mutation']],
  ['test/orders/rules/states.test.ts', ['mutation']],
  ['test/hostile/entries/rows.ts', ['hostile']],
  ['test/soak/trend.ts', ['soak']],
  ['test/simulation/run/worker.ts', ['random', 'exhaustive', 'promoted', 'themed', 'torn', 'restored']],
  [
    'test/simulation/observer/history.ts',
    ['random', 'exhaustive', 'promoted', 'planted', 'themed', 'torn', 'restored'],
  ],
  [
    'test/windtunnel/judge.ts',
    ['soak', 'cluster', 'windtunnel-sqlite', 'windtunnel-postgres', 'windtunnel-promotion', 'windtunnel-upgrade'],
  ],
])('a change of %s makes what these parts came to stale, and no other: %s', (path, parts) => {
  expect(partsThatRead(path)).toEqual(parts);
});
