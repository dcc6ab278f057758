import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { prepareGround } from '../simulation/ground.ts';
import { promoted } from '../simulation/modes/promoted.ts';
import { explore, SETUPS } from './explore.ts';
import { MISTAKES, stepsOf } from './steps.ts';

const promela = readFileSync(new URL('ownership.pml', import.meta.url), 'utf8');

describe('the model of ownership', () => {
  it('names functions of the program that exist', () => {
    const named = [...promela.matchAll(/ (#?\w+) +(src\/[\w/-]+\.ts)$/gm)];
    expect(named.length).toBeGreaterThan(20);
    const missing = named.filter(([, name, file]) => {
      const source = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
      return !new RegExp(`(function\\*? ${name}\\(|^  (async )?${name}(<\\w+>)?\\()`, 'm').test(source);
    });
    expect(missing.map(([, name, file]) => `${file} ${name}`)).toEqual([]);
  });

  it('has the same steps and mistakes in Promela and in TypeScript', () => {
    const { ofWorker, ofWorld } = stepsOf(SETUPS.synchronous);
    const inPromela = [...promela.matchAll(/:: (?:(\w+)\(0\)|d_step \{ \/\* (\w+) \*\/)/g)].map(
      ([, ofOne, ofAll]) => ofOne ?? ofAll,
    );
    expect(new Set(inPromela)).toEqual(new Set(Object.keys({ ...ofWorker, ...ofWorld })));
    const mistakes = [...promela.matchAll(/^#define ([A-Z_]+) +\d+$/gm)].map(([, name]) => name ?? '');
    expect(mistakes).toEqual(expect.arrayContaining(Object.keys(MISTAKES)));
  });

  it.each(Object.keys(MISTAKES) as (keyof typeof MISTAKES)[])('finds the mistake %s', (mistake) => {
    const setup = SETUPS[mistake === 'NO_PROOF' ? 'synchronous' : 'asynchronous'];
    expect(explore({ ...setup, mistake }).isBroken).toBe(true);
  });

  it('allows what the orders of a simulated world go through', async () => {
    using ground = await prepareGround();
    const { violation, counts } = await promoted.run(3, { ...ground, isReplayed: true });
    expect([violation, counts['promotions']]).toEqual([undefined, 4]);
    expect(counts['traces']).toBeGreaterThan(3);
  });
});
