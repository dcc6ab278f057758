import { describe, expect, it } from 'vitest';
import { MODES } from './modes/modes.ts';
import { runSeeds } from './run/pool.ts';
import { prepareGround } from './world.ts';

describe.each([...MODES.values()])('the simulation, mode $name', (mode) => {
  it('leads from the same seed to the same trace', async () => {
    using ground = await prepareGround();
    const first = await mode.run(7, ground);
    const second = await mode.run(7, ground);
    expect(first.trace.length).toBeGreaterThan(20);
    expect(second.trace).toEqual(first.trace);
    expect((await mode.run(8, ground)).trace).not.toEqual(first.trace);
  });

  it('keeps every promise in some worlds', async () => {
    const { counts, broken } = await runSeeds({ mode: mode.name, from: 1, count: 4 });
    expect(counts['seeds']).toBe(4);
    expect(broken.map(({ seed, violation }) => `${seed}: ${violation}`)).toEqual([]);
  });
});
