import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { houseWithRooms, referencePages } from '../../build/reference.ts';

const FOLDER = new URL('../../docs/reference/', import.meta.url);
const pages = await referencePages();

describe('the reference', () => {
  it.each(pages)(
    'has $file as the code says; `npm test -- test/docs/reference.test.ts --update` writes it',
    async (page) => {
      expect(page.names.length).toBeGreaterThan(10);
      await expect(page.text).toMatchFileSnapshot(new URL(page.file, FOLDER).pathname);
    },
  );

  it('counts the files and lines of each room in src/README.md', async () => {
    await expect(houseWithRooms()).toMatchFileSnapshot(new URL('../../src/README.md', import.meta.url).pathname);
  });

  it('has no other page, but tables that a bench, a proof or another test holds', () => {
    const others = ['delays.md', 'interface.md', 'planted-bugs.md', 'released.json', 'survival.md'];
    expect(readdirSync(FOLDER).toSorted()).toEqual([...pages.map(({ file }) => file), ...others].toSorted());
  });

  it('says something of every name', () => {
    expect(pages.filter(({ text }) => /^\| [^|]+\|\s+\|$/m.test(text)).map(({ file }) => file)).toEqual([]);
  });

  it('names all that was public in the last release, so that an upgrade breaks nothing', () => {
    const released = JSON.parse(readFileSync(new URL('released.json', FOLDER), 'utf8')) as {
      readonly names: Readonly<Record<string, readonly string[]>>;
    };
    const gone = pages.flatMap(({ file, names }) => {
      const now = new Set(names);
      return (released.names[file] ?? []).filter((name) => !now.has(name)).map((name) => `${file}: ${name}`);
    });
    expect(Object.keys(released.names)).toEqual(pages.map(({ file }) => file));
    expect(gone).toEqual([]);
  });
});
