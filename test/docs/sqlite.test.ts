import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { commandFolder } from '../support/folders.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PAGES = ['README.md', ...readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`)].filter((name) =>
  name.endsWith('.md'),
);

/** How programs of shops open SQLite, and what a person types into its shell. */
const OPENS = /better-sqlite3|DatabaseSync\(|sqlite3\.connect\(|new PDO\(|^\s*(?:sqlite3 |insert into )/im;
const BUSY_TIMEOUT = /\btimeout: 5000\b|\btimeout=5\b|ATTR_TIMEOUT => 5\b|busy_timeout = 5000\b|\.timeout 5000\b/;

const BLOCKS = PAGES.flatMap((path) => {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const [fenced, indented] = [/^```.*\n([^]*?)^```$/gm, /(?<=\n\n)(?: {4}.*\n)+/g];
  const blocks = [...text.matchAll(fenced), ...text.replaceAll(fenced, '').matchAll(indented)];
  return blocks.map(([block, code = block]) => ({ path, code }));
});
const OPENING = BLOCKS.filter(({ code }) => OPENS.test(code));

/** Every statement of SQL in a program: the texts in quotes that begin like one. */
function statementsIn(code: string): string[] {
  return [...code.matchAll(/("""|`|'|")((?:insert|select) [^]*?)\1/g)].map(([, , statement = '']) => statement);
}

describe('the examples that open SQLite', () => {
  const place = commandFolder();

  it('set a busy timeout, each of them', () => {
    expect(OPENING.filter(({ code }) => !BUSY_TIMEOUT.test(code))).toEqual([]);
    expect(OPENING.map(({ path }) => path)).toContain('README.md');
    const ofShops = ['docs/examples.md', 'docs/integrating.md', 'docs/webhooks.md'];
    expect(OPENING.filter(({ path }) => ofShops.includes(path))).toHaveLength(10);
  });

  it('have statements that the database understands', () => {
    const statements = OPENING.flatMap(({ code }) => statementsIn(code)).filter((text) =>
      text.includes('merchant_orders'),
    );
    expect(statements).toHaveLength(8);
    const asked = BLOCKS.filter(({ path }) => path === 'docs/integrating.md').flatMap(
      ({ code }) => code.match(/^ {4}select .*$/gm) ?? [],
    );
    expect(asked).toHaveLength(1);
    const db = new Database(place.path);
    expect(() => [...statements, ...asked].map((statement) => db.prepare(statement))).not.toThrow();
    db.close();
  });
});
