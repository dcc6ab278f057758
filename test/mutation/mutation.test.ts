import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { GROUPS } from './groups.ts';
import judged from './judged.json' with { type: 'json' };

it('has every file that decides in one group, and tests for each', () => {
  const files = GROUPS.flatMap((group) => globSync([...group.files]));
  expect(files.toSorted()).toEqual([...new Set(files)].toSorted());
  expect(files).toEqual(expect.arrayContaining(globSync('src/{orders,findings,accounts}/rules/*.ts')));
  for (const { tests } of GROUPS) for (const test of tests) expect(globSync(test).length).toBeGreaterThan(0);
});

it('judges mutants of the code as it stands', () => {
  for (const [file, entries] of Object.entries(judged) as [string, { mutants: string[] }[]][]) {
    const code = readFileSync(file, 'utf8').replaceAll(/\s+/g, ' ');
    const quoted = entries.flatMap(({ mutants }) => mutants.map((mutant) => mutant.split(' ⇒ ')[0] ?? ''));
    expect([file, quoted.filter((one) => !code.includes(one))]).toEqual([file, []]);
  }
});
