import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

/** What lint cannot say about the house: its floors, from the lowest up. A file uses its own floor and those below. */
const FLOORS: readonly (readonly string[])[] = [
  ['domain', 'reports', 'sandbox', 'config', 'clock', 'runtime'],
  ['store', 'exchange'],
  ['flows', 'app'],
  ['http'],
  ['daemon'],
  ['cli'],
  ['bin'],
];
const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Rooms of one floor that still do not know each other. */
const STRANGERS = [['store', 'exchange']] as const;

interface Import {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** `src/store/orders.ts` is in the room `store`, `src/cli.ts` in `cli`, `src/config-values.ts` in `config`. */
function roomOf(file: string): string {
  return /^src\/([a-z]+)/.exec(file)?.[1] ?? dirname(file);
}

function floorOf(room: string): number {
  return FLOORS.findIndex((rooms) => rooms.includes(room));
}

function sources(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ts|mjs|cjs)$/.test(name))
    .map((name) => join(folder, name));
}

function specifiersOf(file: string): string[] {
  const code = readFileSync(join(ROOT, file), 'utf8');
  return [...code.matchAll(/^(?:import|export|\} from)\b[^'"\n]*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm)].map(
    ([, plain, dynamic]) => plain ?? dynamic ?? '',
  );
}

const files = sources('src');
const imports: Import[] = files.flatMap((file) =>
  specifiersOf(file)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => relative(ROOT, join(ROOT, dirname(file), specifier)))
    .map((target) => ({ file: `${file} uses ${target}`, from: roomOf(file), to: roomOf(target) })),
);

describe('the house', () => {
  it('has a floor for every file', () => {
    expect(files.length).toBeGreaterThan(0);
    expect(files.filter((file) => floorOf(roomOf(file)) < 0)).toEqual([]);
  });

  it('has no arrow from a lower floor to a higher one', () => {
    expect(imports.length).toBeGreaterThan(0);
    const up = imports.filter(({ from, to }) => floorOf(to) > floorOf(from));
    expect(up.map(({ file }) => file)).toEqual([]);
  });

  it('keeps store and exchange apart', () => {
    const meetings = imports.filter(({ from, to }) =>
      STRANGERS.some((pair) => from !== to && pair.every((room) => [from, to].includes(room))),
    );
    expect(meetings.map(({ file }) => file)).toEqual([]);
  });

  it('reads migrations from the store only, and they read nothing of src', () => {
    const readers = imports.filter(({ from, to }) => to === 'migrations' && from !== 'store');
    const outgoing = sources('migrations').flatMap((file) =>
      specifiersOf(file).filter((name) => name.startsWith('../')),
    );
    expect([readers, outgoing]).toEqual([[], []]);
  });

  it('has a domain that uses nothing outside it, not even Node', () => {
    const outside = imports.filter(({ from, to }) => from === 'domain' && to !== 'domain');
    const builtins = sources('src/domain').filter((file) =>
      specifiersOf(file).some((name) => name.startsWith('node:')),
    );
    expect([outside, builtins]).toEqual([[], []]);
  });

  it('reads the time in the clock only, not through `new Date()`', () => {
    const readers = files.filter(
      (file) => file !== 'src/clock.ts' && /\bnew Date(\(\)|;)/.test(readFileSync(join(ROOT, file), 'utf8')),
    );
    expect(readers).toEqual([]);
  });
});
