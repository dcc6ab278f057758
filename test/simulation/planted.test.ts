import { describe, expect, it } from 'vitest';
import { prepareGround } from './ground.ts';
import { modeOf } from './modes/modes.ts';
import { BUGS, SEEDS } from './planted/bugs.ts';
import { findDeclaration } from './planted/declaration.ts';
import { pageOf, PLANTED_PAGE } from './planted/page.ts';
import { plant, plantHere } from './planted/plant.ts';

const CODE = `const LIMIT = 3;
/** What \`count\` is. */
export async function count(
  items: readonly string[],
): Promise<number> {
  const limit = add(items.length);
  return limit;
}

export class Counter {
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  get most(): number {
    return this.#most;
  }

  #add(one: number): number {
    add(() => {
      count([]);
    });
    return one + LIMIT;
  }
}

export const add = (one: number) =>
  one + LIMIT;

const TABLE = {
  add: ['one'],
} as const;
`;

function declaration(name: string): string {
  const found = findDeclaration(CODE, name);
  return typeof found === 'string' ? found : CODE.slice(found.from, found.to).trimEnd();
}

describe('a planted bug', () => {
  it.each([
    ['LIMIT', 'const LIMIT = 3;', 'const LIMIT = 3;'],
    ['count', 'export async function count(', '}'],
    ['Counter.constructor', '  constructor(most: number) {', '  }'],
    ['Counter.most', '  get most(): number {', '  }'],
    ['Counter.#add', '  #add(one: number): number {', '  }'],
    ['add', 'export const add = (one: number) =>', '  one + LIMIT;'],
    ['TABLE', 'const TABLE = {', '} as const;'],
  ])('finds %s from its first line to its last', (name, first, last) => {
    const lines = declaration(name).split('\n');
    expect([lines[0], lines.at(-1)]).toEqual([first, last]);
  });

  it('says why it no longer applies', () => {
    const problemOf = (name: string, from: string, file = 'a.ts') =>
      plant({ edits: [{ file, in: name, from, to: '' }] }, (path) => (path === 'a.ts' ? CODE : undefined)).problems;
    expect(problemOf('count', 'return limit;')).toEqual([]);
    expect(problemOf('count', 'return limit;', 'b.ts')).toEqual(['b.ts: there is no such file']);
    expect(problemOf('gone', 'return')).toEqual(['a.ts: there is no gone']);
    expect(problemOf('Counter.gone', 'return')).toEqual(['a.ts: there is no Counter.gone']);
    expect(problemOf('count', 'LIMIT')).toEqual(['a.ts: count has "LIMIT" 0 times']);
    expect(problemOf('count', 'limit')).toEqual(['a.ts: count has "limit" 2 times']);
  });

  it('changes only the declaration that it names', () => {
    const edit = { file: 'a.ts', in: 'Counter.#add', from: 'LIMIT', to: '$&' };
    const { files } = plant({ edits: [edit] }, () => CODE);
    expect(files.get('a.ts')).toBe(CODE.replace('return one + LIMIT', () => 'return one + $&'));
  });

  it.each(BUGS)('$name applies to the program as it is now', (bug) => {
    expect(plantHere(bug).problems).toEqual([]);
  });

  it('has a name of its own, and one of 10,000 worlds that is known to catch it', () => {
    const caught = BUGS.filter(({ notCaught }) => notCaught === undefined).map(({ name }) => name);
    expect(caught.length).toBeGreaterThanOrEqual(40);
    expect(new Set(BUGS.map(({ name }) => name)).size).toBe(BUGS.length);
    expect(Object.keys(SEEDS).toSorted()).toEqual(caught.toSorted());
    expect(Object.values(SEEDS).filter((seed = 0) => seed < 1 || seed > 10_000)).toEqual([]);
  });

  const endless = BUGS.flatMap(({ name, mode = 'random', mostSteps }) =>
    mostSteps === undefined ? [] : [{ name, mode, mostSteps }],
  );
  it.each(endless)('$name: its world ends in $mostSteps steps without it', async ({ name, mode, mostSteps }) => {
    using ground = await prepareGround();
    const { violation } = await modeOf(mode).run(SEEDS[name] ?? 0, { ...ground, mostSteps });
    expect(violation).toBeUndefined();
  });

  it('is a line of docs/reference/planted-bugs.md, which `npm run planted -- --find` writes', async () => {
    await expect(pageOf(BUGS)).toMatchFileSnapshot(PLANTED_PAGE);
  });
});
