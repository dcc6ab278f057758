import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const ROOT = new URL('../../', import.meta.url);
const text = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');

/** The tests of each defence: a file, and the names of tests in it, or their beginnings, if some are meant. */
const defences = text('docs/security.md')
  .split('\n')
  .filter((line) => line.includes('`test/') && line.startsWith('|'))
  .map((line) => {
    const [, defence = '', tests = ''] = line.split('|').map((cell) => cell.trim());
    const named = [...tests.matchAll(/`(test\/[^`]+)`|"([^"]+)"/g)];
    let file = '';
    return {
      defence,
      tests: named.flatMap(([, path, name]) => {
        file = path ?? file;
        return [{ file, name }];
      }),
    };
  });

/** If a test has this name, in whatever quotes; a name that ends with an ellipsis is how one begins. */
const isTestOf = (file: string, name: string) =>
  ["'", '"', '`'].some((quote) => text(file).includes(`${quote}${name}${quote}`.replace(/….$/, '')));

describe('the threat model', () => {
  it('names many defences', () => expect(defences.length).toBeGreaterThan(35));

  it.each(defences)('names tests that are there: $defence', ({ tests }) => {
    expect(tests).not.toEqual([]);
    const missing = tests.filter(
      ({ file, name }) => !existsSync(new URL(file, ROOT)) || (name !== undefined && !isTestOf(file, name)),
    );
    expect(missing).toEqual([]);
  });
});
