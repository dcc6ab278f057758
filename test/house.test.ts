import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

/**
 * The rooms of the core, from the lowest up. A file uses its own room and those before it. `cli/` is the folder, `cli` the
 * launcher.
 */
const ROOMS: readonly string[] = [
  'runtime',
  'base',
  'orders/rules',
  'findings/rules',
  'accounts/rules',
  'settings',
  'store',
  'exchange',
  'orders/pass',
  'findings',
  'orders',
  'app',
  'accounts',
  'daemon',
  'cli/',
  'extensions',
  'cli',
  'bin',
];
const RULES = ['base', 'orders/rules', 'findings/rules', 'accounts/rules'];
const EXTENSION = /^src\/extensions\/([^/]+)\//;
const MOST_FILES = 12;
/** Nothing but the launcher knows which extensions there are. */
const LIST = 'src/extensions.ts';
const ROOT = fileURLToPath(new URL('..', import.meta.url));

interface Import {
  readonly text: string;
  readonly file: string;
  readonly target: string;
}

function extensionOf(file: string): string | undefined {
  return EXTENSION.exec(file)?.[1];
}

/** The longest name in `ROOMS` that a file answers to: `src/orders/rules/create.ts` is in `orders/rules`. */
function roomOf(file: string): string | undefined {
  const path = file.replace(/^src\//, '').replace(/\.\w+$/, '');
  return ROOMS.filter((room) => path === room || path.startsWith(room.endsWith('/') ? room : `${room}/`)).toSorted(
    (one, other) => other.length - one.length,
  )[0];
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
const texts = (found: readonly Import[]) => found.map(({ text }) => text).toSorted();

describe('the house', () => {
  it('has a room for every file', () => {
    expect(files.length).toBeGreaterThan(0);
    expect(files.filter((file) => roomOf(file) === undefined && extensionOf(file) === undefined)).toEqual([]);
  });

  it('has a core that imports no extension', () => {
    const out = imports.filter(
      ({ file, target }) => extensionOf(file) === undefined && file !== LIST && extensionOf(target) !== undefined,
    );
    expect(texts(out)).toEqual([]);
  });

  it('has no arrow from a room of the core to a higher one', () => {
    expect(imports.length).toBeGreaterThan(0);
    const place = (file: string) => ROOMS.indexOf(roomOf(file) ?? '');
    const up = imports.filter(({ file, target }) => {
      const isInCore = extensionOf(file) === undefined && extensionOf(target) === undefined;
      return isInCore && target.startsWith('src/') && place(target) > place(file);
    });
    expect(texts(up)).toEqual([]);
  });

  it('has no circle of extensions', () => {
    const pairs = new Set(
      imports.flatMap(({ file, target }) => {
        const [from, to] = [extensionOf(file), extensionOf(target)];
        return from === undefined || to === undefined || from === to ? [] : [`${from} ${to}`];
      }),
    );
    let left = new Set(pairs);
    for (let before = -1; before !== left.size;) {
      before = left.size;
      left = new Set([...left].filter((pair) => [...left].some((other) => other.startsWith(`${pair.split(' ')[1]} `))));
    }
    expect([...left].toSorted()).toEqual([]);
  });

  it('has no circle of files, types counted', () => {
    let left = new Set(files);
    // Files that use none of those left are in no circle.
    for (let before = -1; before !== left.size;) {
      before = left.size;
      left = new Set(imports.filter(({ file, target }) => left.has(file) && left.has(target)).map(({ file }) => file));
    }
    expect([...left]).toEqual([]);
  });

  it('has at most 12 files in a room, and folders two deep below an extension', () => {
    const rooms = Map.groupBy(files, (file) => dirname(file));
    const full = [...rooms].filter(([, inRoom]) => inRoom.length > MOST_FILES).map(([room]) => room);
    expect(full.toSorted()).toEqual([]);
    expect(files.filter((file) => extensionOf(file) !== undefined && file.split('/').length > 6)).toEqual([]);
  });

  it('keeps store and exchange from knowing each other', () => {
    const roomsOf = ({ file, target }: Import) => [roomOf(file) ?? '', roomOf(target) ?? ''];
    const meetings = imports.filter((one) => ['store', 'exchange'].every((room) => roomsOf(one).includes(room)));
    expect(texts(meetings)).toEqual([]);
  });

  it('reads migrations from the store and PostgreSQL only, and they read nothing of src', () => {
    const isReader = (file: string) => roomOf(file) === 'store' || extensionOf(file) === 'postgres';
    const readers = imports.filter(({ file, target }) => target.startsWith('migrations/') && !isReader(file));
    const outgoing = sources('migrations').flatMap((file) =>
      specifiersOf(file).filter((name) => relative(ROOT, join(ROOT, dirname(file), name)).startsWith('src/')),
    );
    expect([texts(readers), outgoing]).toEqual([[], []]);
  });

  it('has rules that use nothing but rules and the base, not even Node', () => {
    const ofRules = files.filter((file) => roomOf(file)?.endsWith('/rules'));
    expect(ofRules.length).toBeGreaterThan(0);
    const isPure = (target: string) => RULES.includes(roomOf(target) ?? '') && target !== 'src/base/clock.ts';
    const outside = imports.filter(({ file, target }) => ofRules.includes(file) && !isPure(target));
    const builtins = ofRules.filter((file) => specifiersOf(file).some((name) => name.startsWith('node:')));
    expect(texts(outside)).toEqual([]);
    expect(builtins).toEqual([]);
  });

  it('reads the time in the clock only, not through `new Date()`', () => {
    const readers = files.filter(
      (file) => file !== 'src/base/clock.ts' && /\bnew Date(\(\)|;)/.test(readFileSync(join(ROOT, file), 'utf8')),
    );
    expect(readers).toEqual([]);
  });
});
