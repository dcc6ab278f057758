import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

/**
 * What lint cannot say about the house: its floors, from the lowest up. A file uses its own floor and those below, and
 * within a floor its own room and those before it. A name with a slash is a room; one without is a file at the top of
 * `src`, or every file of the floor that stands in none of its rooms.
 */
const FLOORS: readonly (readonly (readonly string[])[])[] = [
  [
    ['clock', 'runtime'],
    ['domain'],
    ['domain/orders'],
    ['domain/findings', 'domain/clients', 'domain/accounts'],
    ['domain/events'],
    ['config'],
  ],
  [['reports/formats'], ['reports/reconciliation', 'reports/story'], ['reports'], ['sandbox']],
  [['store', 'exchange']],
  [
    ['log', 'flows/pass'],
    ['flows/findings', 'flows/clients', 'flows/events', 'flows/webhooks'],
    ['flows/orders'],
    ['flows/reports', 'flows/probe'],
    ['app'],
  ],
  [['http'], ['http/events'], ['http/control', 'http/photos', 'http/ops']],
  [['accounts']],
  [['daemon']],
  [['cli']],
  [['bin']],
];
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const ROOMS = FLOORS.flat(2);

interface Import {
  readonly text: string;
  readonly file: string;
  readonly target: string;
}

/** The longest name in `FLOORS` that a file answers to: `src/flows/orders/create.ts` is in `flows/orders`. */
function roomOf(file: string): string | undefined {
  const path = file.replace(/^src\//, '').replace(/\.\w+$/, '');
  return ROOMS.filter((room) => path === room || path.startsWith(`${room}/`)).toSorted(
    (one, other) => other.length - one.length,
  )[0];
}

/** The floor of a file and the place of its room on it, or undefined where it has none. */
function placeOf(file: string): { readonly floor: number; readonly place: number } | undefined {
  const room = roomOf(file);
  if (room === undefined) return undefined;
  const floor = FLOORS.findIndex((rooms) => rooms.flat().includes(room));
  return { floor, place: FLOORS[floor]?.findIndex((rooms) => rooms.includes(room)) ?? -1 };
}

/** `src/flows/orders` for a file in that folder, `src/flows` for one directly on the floor. */
function folderOf(file: string): string {
  return file
    .split('/')
    .slice(0, 3)
    .join('/')
    .replace(/\.\w+$/, '');
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
    .map((target) => ({ text: `${file} uses ${target}`, file, target })),
);
const texts = (found: readonly Import[]) => found.map(({ text }) => text);

describe('the house', () => {
  it('has a place for every file', () => {
    expect(files.length).toBeGreaterThan(0);
    expect(files.filter((file) => placeOf(file) === undefined)).toEqual([]);
  });

  it('has no arrow from a lower floor to a higher one, nor from a lower room of a floor to a higher one', () => {
    expect(imports.length).toBeGreaterThan(0);
    const up = imports.filter(({ file, target }) => {
      const [from, to] = [placeOf(file), placeOf(target)];
      if (from === undefined || to === undefined) return false;
      return to.floor > from.floor || (to.floor === from.floor && to.place > from.place);
    });
    expect(texts(up)).toEqual([]);
  });

  it('has no two rooms of a floor that use each other', () => {
    const pairs = new Map<string, Import[]>();
    for (const one of imports) {
      const [from, to] = [folderOf(one.file), folderOf(one.target)];
      const isOfOneFloor = dirname(from) === dirname(to) && dirname(from) !== 'src';
      const areRooms = one.file.split('/').length > 3 && one.target.split('/').length > 3;
      if (from !== to && isOfOneFloor && areRooms)
        pairs.set(`${from} ${to}`, [...(pairs.get(`${from} ${to}`) ?? []), one]);
    }
    const mutual = [...pairs].filter(([pair]) => pairs.has(pair.split(' ').toReversed().join(' ')));
    expect(mutual.flatMap(([, found]) => texts(found))).toEqual([]);
  });

  it('has no circle, types counted', () => {
    let left = new Set(files);
    // Files that use none of those left are in no circle.
    for (let before = -1; before !== left.size;) {
      before = left.size;
      left = new Set(imports.filter(({ file, target }) => left.has(file) && left.has(target)).map(({ file }) => file));
    }
    expect([...left]).toEqual([]);
  });

  it('keeps store and exchange from knowing each other', () => {
    const namesOf = ({ file, target }: Import) => [roomOf(file) ?? '', roomOf(target) ?? ''];
    const meetings = imports.filter((one) => ['store', 'exchange'].every((room) => namesOf(one).includes(room)));
    expect(texts(meetings)).toEqual([]);
  });

  it('reads migrations from the store only, and they read nothing of src', () => {
    const readers = imports.filter(({ file, target }) => target.startsWith('migrations/') && roomOf(file) !== 'store');
    const outgoing = sources('migrations').flatMap((file) =>
      specifiersOf(file).filter((name) => relative(ROOT, join(ROOT, dirname(file), name)).startsWith('src/')),
    );
    expect([texts(readers), outgoing]).toEqual([[], []]);
  });

  it('has a domain that uses nothing outside it, not even Node', () => {
    const isOfDomain = (file: string) => file.startsWith('src/domain/');
    const outside = imports.filter(({ file, target }) => isOfDomain(file) && !isOfDomain(target));
    const builtins = files.filter(
      (file) => isOfDomain(file) && specifiersOf(file).some((name) => name.startsWith('node:')),
    );
    expect([texts(outside), builtins]).toEqual([[], []]);
  });

  it('reads the time in the clock only, not through `new Date()`', () => {
    const readers = files.filter(
      (file) => file !== 'src/clock.ts' && /\bnew Date(\(\)|;)/.test(readFileSync(join(ROOT, file), 'utf8')),
    );
    expect(readers).toEqual([]);
  });
});
