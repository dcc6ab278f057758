import { parseArgs } from 'node:util';
import { cellNamed, CELLS, nameOf } from './cells.ts';
import { runCell, whyNoCluster } from './run.ts';

const { values } = parseArgs({ options: { cell: { type: 'string' }, times: { type: 'string', default: '1' } } });
const cell = cellNamed(values.cell ?? '');
const why = whyNoCluster();
if (cell === undefined) process.stdout.write(`${CELLS.map(nameOf).join('\n')}\n`);
else if (why !== undefined) process.stderr.write(`${why}\n`);
else {
  const begun = performance.now();
  const results = await runCell(cell, Number(values.times), (text) =>
    process.stderr.write(`${((performance.now() - begun) / 1_000).toFixed(1)} ${text}\n`),
  );
  process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
}
