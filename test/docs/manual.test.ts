import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { isMap, isScalar, parse, parseAllDocuments } from 'yaml';
import { createProgram } from '../../src/cli/program.ts';
import { EXTENSIONS } from '../../src/extensions.ts';
import { EVENT_TYPES } from '../../src/extensions/feed/event.ts';
import { ALLOWED_NEXT } from '../../src/orders/rules/states.ts';
import { commandFolder } from '../support/folders.ts';
import { namesIn, tableBelow } from '../support/pages.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

interface Page {
  readonly path: string;
  readonly text: string;
}

/** As much of a container of deploy/compose.yaml as matters here. */
interface Service {
  readonly image: string;
  readonly command?: readonly string[];
}

function page(path: string): Page {
  return { path, text: readFileSync(join(ROOT, path), 'utf8') };
}

function pathsIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`);
}

/** The settings that people set, and the advanced ones. */
const DEFAULTS = parseAllDocuments(page('config/default.yaml').text).flat();
const REFERENCE = 'docs/reference/';
const DOCS = pathsIn('docs');
const BESIDE_CODE = pathsIn('src');
const AT_ROOT = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'llms.txt'];
const PAGES: readonly Page[] = [...AT_ROOT, ...DOCS, ...BESIDE_CODE].map(page);
/** The pages that people write; those of the reference are made from the code. */
const WRITTEN = PAGES.filter(({ path }) => !path.startsWith(REFERENCE));
const COMPOSITION = page('deploy/compose.yaml');

/** The lines of every code block, fenced or indented; a line that ends with a backslash continues in the next. */
function codeLines({ text }: Page): string[] {
  const lines: string[] = [];
  let isFenced = false;
  for (const line of text.replaceAll(/\\\n\s*/g, '').split('\n')) {
    if (line.startsWith('```')) isFenced = !isFenced;
    else if (isFenced || line.startsWith('    ')) lines.push(line.trim());
  }
  return lines;
}

function codeSpans({ text }: Page): string[] {
  return [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
}

/** As a forge makes an address of a heading. */
function anchorsOf({ text }: Page): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

/** The words of a command line of a shell, up to what pipes or redirects it, or is a comment. */
function wordsOf(line: string): string[] {
  const words = [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map((match) => match.slice(1).find(Boolean) ?? '');
  const end = words.findIndex((word) => /^(?:[|>#]|&&)/.test(word));
  return end < 0 ? words : words.slice(0, end);
}

describe('the README', () => {
  it('is one screen: at most 90 lines', () => {
    expect(page('README.md').text.trimEnd().split('\n').length).toBeLessThanOrEqual(90);
  });

  it('leads to every page of docs, to the house, to how it is changed and to how a hole is reported', () => {
    const written = WRITTEN.map(({ path }) => path).filter((path) => path.startsWith('docs/'));
    const pages = [...written, REFERENCE, 'src/README.md', 'CONTRIBUTING.md', 'SECURITY.md'].map(
      (path) => `](${path})`,
    );
    expect(pages.filter((link) => !page('README.md').text.includes(link))).toEqual([]);
  });
});

describe('the house', () => {
  const pages = BESIDE_CODE.filter((path) => path !== 'src/README.md');

  it('leads to every page beside the code, each of at most 120 lines', () => {
    const links = pages.map((path) => `](${relative('src', path)})`);
    expect(links.length).toBeGreaterThan(3);
    expect(links.filter((link) => !page('src/README.md').text.includes(link))).toEqual([]);
    expect(BESIDE_CODE.filter((path) => page(path).text.trimEnd().split('\n').length > 120)).toEqual([]);
  });
});

describe('the pictures', () => {
  it('are each shown or linked to, and at most 300 kB', () => {
    const all = PAGES.map(({ text }) => text).join('\n');
    for (const name of readdirSync(join(ROOT, 'docs/pictures'))) {
      expect(all).toContain(`pictures/${name})`);
      expect(statSync(join(ROOT, 'docs/pictures', name)).size).toBeLessThanOrEqual(300_000);
    }
  });
});

describe.each(PAGES)('$path', (shown) => {
  const { path, text } = shown;

  it('has links that lead to a file, and to a heading if they name one', () => {
    const links = [...text.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)];
    const broken = links.filter(([, target = '', anchor]) => {
      const file = target === '' ? path : relative(ROOT, join(ROOT, dirname(path), target));
      return !existsSync(join(ROOT, file)) || (anchor !== undefined && !anchorsOf(page(file)).includes(anchor));
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  });

  it('names files that are there', () => {
    const files = codeSpans(shown).filter((code) =>
      /^(?:src|test|migrations|config|bench|tools|docs|deploy|build|\.ci|\.github)\/[\w./-]+$/.test(code),
    );
    // A merchant makes this one.
    const missing = files.filter((file) => file !== 'config/local.yaml' && !existsSync(join(ROOT, file)));
    expect(missing).toEqual([]);
  });

  it('names scripts of npm that are there', () => {
    const { scripts } = JSON.parse(page('package.json').text) as { scripts: Record<string, string> };
    const named = [...text.matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name = '']) => name);
    expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
  });

  it('names the package, and the version that is now, by its version', () => {
    const { version } = JSON.parse(page('package.json').text) as { version: string };
    const named = [...text.matchAll(/\border-sync-(\d[\w.-]*)\.tgz|^## Now: (.+)$/gm)].map(
      ([, file, now]) => file ?? now,
    );
    expect(named.filter((name) => name !== version)).toEqual([]);
  });
});

describe('settings', () => {
  const paths = DEFAULTS.flatMap(({ contents }) => settingPaths(contents));
  const sections = new Set(paths.map((path) => path.split('.')[0]));

  it.each(WRITTEN)('that $path names are in config/default.yaml', (shown) => {
    const named = codeSpans(shown).filter((code) => {
      const [section, ...rest] = code.split('.');
      const isSetting = rest.length > 0 && sections.has(section ?? '') && !isEvent(code);
      return /^[a-z][\w.]+$/i.test(code) && isSetting && !code.endsWith('.ts');
    });
    expect(named.filter((name) => !paths.some((path) => path === name || path.startsWith(`${name}.`)))).toEqual([]);
  });

  it.each([...PAGES, COMPOSITION])('whose variables $path names are there too', ({ text }) => {
    const known = new Set(
      paths.map((path) => `ORDER_SYNC_${path.replaceAll(/[A-Z]/g, '_$&').replaceAll('.', '_').toUpperCase()}`),
    );
    const named = [...text.matchAll(/\bORDER_SYNC_\w+/g)].map(([name]) => name.replace(/_FILE$/, ''));
    // ORDER_SYNC_ACCOUNTS_SHOP_1_EXCHANGE_TIMEOUT is exchange.timeout of the account shop-1.
    const isOfAccount = (name: string) =>
      name.startsWith('ORDER_SYNC_ACCOUNTS_') &&
      [...known].some((one) => name.endsWith(one.slice('ORDER_SYNC'.length)));
    const others = named.filter(
      (name) => !known.has(name) && !isOfAccount(name) && !/^ORDER_SYNC_(?:CONFIG$|CONTRACT_)/.test(name),
    );
    expect(others).toEqual([]);
  });
});

function isEvent(name: string): boolean {
  return (EVENT_TYPES as readonly string[]).includes(name);
}

function settingPaths(node: unknown, prefix = ''): string[] {
  if (!isMap(node)) return [prefix];
  return node.items.flatMap(({ key, value }) => {
    const name = isScalar(key) ? String(key.value) : '';
    return settingPaths(value, prefix === '' ? name : `${prefix}.${name}`);
  });
}

describe('commands', () => {
  const lines = WRITTEN.flatMap(({ path, text }) =>
    [...codeLines({ path, text }), ...codeSpans({ path, text })]
      .map((line) =>
        line.replace(/^npm run demo(?: --)?/, 'order-sync demo').replace(/^npx order-sync /, 'order-sync '),
      )
      .filter((line) => /^(?:[A-Z_]+=\S+ )*order-sync /.test(line))
      .map((line) => ({ path, line })),
  );
  const { services } = parse(COMPOSITION.text, { merge: true }) as Record<string, Record<string, Service>>;
  for (const { image, command } of Object.values(services ?? {})) {
    if (image === 'order-sync') lines.push({ path: COMPOSITION.path, line: `order-sync ${command?.join(' ')}` });
  }

  it('go through npx in the README, which is about the checkout, and nowhere else: it may ask a registry for a package of that name', () => {
    const calls = (shown: Page) => codeLines(shown).filter((line) => line.includes('order-sync '));
    expect(
      WRITTEN.filter((shown) => calls(shown).some((line) => line.includes('npx'))).map(({ path }) => path),
    ).toEqual(['README.md']);
    expect(calls(page('README.md')).filter((line) => !line.startsWith('npx order-sync '))).toEqual([]);
  });

  it('are shown', () => expect(lines.length).toBeGreaterThan(30));

  it.each(lines)('of $path are understood: $line', async ({ line }) => {
    // A person writes something in their place.
    const words = wordsOf(line).map((word) => (/^(TEXT|PRE_ORDER_ID|ID)$/.test(word) ? 'written' : word));
    const args = words.slice(words.indexOf('order-sync') + 1);
    const program = await createProgram(args, EXTENSIONS);
    const reached: string[] = [];
    replaceActions(program, reached);
    await program.parseAsync(args, { from: 'user' });
    expect(reached).toHaveLength(1);
  });

  it.each(WRITTEN)('that $path names in short are there', async (shown) => {
    const { commands } = await createProgram([], EXTENSIONS);
    const named = codeSpans(shown).map((code) => code.split(' '));
    const missing = named.filter(([group = '', name = '-']) => {
      const subcommands = commands.find((command) => command.name() === group)?.commands ?? [];
      return subcommands.length > 0 && /^[a-z]/.test(name) && !subcommands.some((command) => command.name() === name);
    });
    expect(missing).toEqual([]);
  });
});

/** Has each command only tell that it was reached. */
function replaceActions(command: Command, reached: string[]): void {
  command.exitOverride().configureOutput({ writeOut: () => {}, writeErr: () => {} });
  for (const sub of command.commands) replaceActions(sub, reached);
  if (command.parent !== null) command.action(() => void reached.push(command.name()));
}

describe('tables', () => {
  it('of events are all types of the feed', () => {
    const types = tableBelow(page('docs/integrating.md'), '## Hear what changes').flatMap(([names]) => namesIn(names));
    expect(types).toEqual(EVENT_TYPES);
  });

  it('of states are the moves that are allowed', () => {
    const moves = tableBelow(page('docs/integrating.md'), '## States').map(([state, , next]) => [
      namesIn(state).join(''),
      namesIn(next).toSorted(),
    ]);
    const allowed = Object.entries(ALLOWED_NEXT).map(([state, next]) => [state, next.toSorted()]);
    expect(Object.fromEntries(moves)).toEqual(Object.fromEntries(allowed));
  });
});

describe('tables of columns', () => {
  const place = commandFolder();

  function columnsOf(table: string): string[] {
    const db = new Database(place.path, { readonly: true });
    try {
      return (db.pragma(`table_info(${table})`) as { name: string }[]).map(({ name }) => name);
    } finally {
      db.close();
    }
  }

  it('have every column of merchant_orders, once', () => {
    const manual = page('docs/integrating.md');
    const [, unlisted = ''] = /The columns (`sent_at`[^.]+?) are the bookkeeping/.exec(manual.text) ?? [];
    const shown = ['## What you write', '## What you read'].flatMap((heading) =>
      tableBelow(manual, heading).flatMap(([names]) => namesIn(names)),
    );
    expect([...shown, ...namesIn(unlisted)].toSorted()).toEqual(columnsOf('merchant_orders').toSorted());
  });

  it('have every column of order_events, once', () => {
    const shown = tableBelow(page('docs/integrating.md'), '## Events').flatMap(([names]) => namesIn(names));
    expect(shown.toSorted()).toEqual(columnsOf('order_events').toSorted());
  });
});
