import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/shared/exit.ts';
import { EVENT_TYPES } from '../../src/extensions/feed/event.ts';
import { FINDING_CLASSES } from '../../src/findings/rules/classes.ts';
import { BUGS, SEEDS } from '../simulation/planted/bugs.ts';
import { namesIn, proseWords } from '../support/pages.ts';

const ROOT = new URL('../../', import.meta.url);
const text = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');
/** The pages of the manual, without those of the reference. */
const PAGES = ['README.md', ...readdirSync(new URL('docs', ROOT)).map((name) => `docs/${name}`)]
  .filter((path) => path.endsWith('.md'))
  .map((path) => ({ path, text: text(path) }));

describe('the manual', () => {
  const words = PAGES.map((page) => [page.path, proseWords(page.text)] as const);

  it('has pages that are read in 15 minutes, and 24,000 words in all', () => {
    expect(words.filter(([, count]) => count > 3_300)).toEqual([]);
    expect(words.reduce((sum, [, count]) => sum + count, 0)).toBeLessThanOrEqual(24_000);
  });

  it('has the operations in 300 lines', () => {
    expect(text('docs/operations.md').trimEnd().split('\n').length).toBeLessThanOrEqual(300);
  });
});

describe.each(PAGES)('the names on $path', (page) => {
  const named = (name: RegExp) => namesIn(page.text).filter((one) => name.test(one));

  it('of metrics are those of /metrics', () => {
    const metrics = text('docs/reference/metrics.md');
    // The role of the workers is no metric.
    const names = named(/^order_sync_(?!worker$)\w+$/);
    expect(names.filter((name) => !metrics.includes(`\`${name}\``))).toEqual([]);
  });

  it('of events are those of the feed', () => {
    const names = named(/^(?:order|finding|link|account)\.(?!status$)[a-z_]+$/);
    expect(names.filter((name) => !(EVENT_TYPES as readonly string[]).includes(name))).toEqual([]);
  });

  it('of findings are their classes', () => {
    const names =
      page.path === 'docs/reliability.md' ? [] : named(/^(?!NODE_|ORDER_SYNC_|NOT_VERIFIED)[A-Z]+(?:_[A-Z]+)+$/);
    expect(names.filter((name) => !Object.hasOwn(FINDING_CLASSES, name))).toEqual([]);
  });

  it('of exit codes are those of the program', () => {
    const codes = [...page.text.matchAll(/\b(?:exit(?: code)?|(?:end|exit)s? with(?: the code)?)\s+(\d+)/gi)].map(
      ([, code]) => Number(code),
    );
    const known: readonly number[] = Object.values(EXIT);
    expect(codes.filter((code) => !known.includes(code))).toEqual([]);
  });
});

describe('the scripts of npm', () => {
  const { scripts } = JSON.parse(text('package.json')) as { readonly scripts: Readonly<Record<string, string>> };
  const calls = [...PAGES, { path: 'CONTRIBUTING.md', text: text('CONTRIBUTING.md') }].flatMap((page) =>
    [...page.text.matchAll(/\bnpm run ([\w:-]+) -- ([^#`\n]*)/g)].map(([call, script = '', given = '']) => {
      const [file] = /(?:test|bench|build)\/[\w/-]+\.ts/.exec(scripts[script] ?? '') ?? [];
      return { call, file, options: [...given.matchAll(/(?<=--)\w[\w-]*/g)].map(([option]) => option) };
    }),
  );

  it('are called with options that each has', () => {
    // Tests of the commands try those of the demonstration.
    const ofFiles = calls.flatMap(({ call, file, options }) => (file === undefined ? [] : [{ call, file, options }]));
    expect(ofFiles.length).toBeGreaterThan(15);
    const missing = ofFiles.filter(({ file, options }) =>
      options.some((option) => !new RegExp(`(?:^\\s*'?|--)${option}\\b`, 'm').test(text(file))),
    );
    expect(missing.map(({ call }) => call)).toEqual([]);
  });
});

describe('the figures', () => {
  const number = (figure: string) => Number(figure.replaceAll(',', ''));
  /** The number before a word of a text. */
  const figure = (path: string, before: RegExp) => {
    const [, found = ''] = new RegExp(`([\\d,]+)\\s+${before.source}`).exec(text(path)) ?? [];
    return number(found);
  };
  const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

  it('of the README are those of the last proof', () => {
    const proof = text('docs/reliability.md');
    const [, random = ''] = /^\| `random`(.*)$/m.exec(proof) ?? [];
    const [, mutation = ''] = /^\| `mutation`(.*)$/m.exec(proof) ?? [];
    expect(random).toContain(`| ${figure('README.md', /simulated worlds/)} seeds,`);
    expect(random).toContain(`, ${figure('README.md', /deaths of the process/)} deaths,`);
    expect(mutation).toContain(`| ${figure('README.md', /mutants/)} mutants,`);
    const [, without = '', withStandby = ''] =
      /([\d,]+) without a synchronous standby[^]*?there\s+are ([\d,]+)\./.exec(proof) ?? [];
    const states = /a model of ([\d,]+)\s+states/.exec(text('README.md'))?.[1] ?? '';
    expect(number(states)).toBe(sum([without, withStandby].map(number)));
    const failOvers = [figure('README.md', /fail-overs/), figure('docs/reliability.md', /fail-overs/)];
    expect(failOvers).toEqual(failOvers.map(() => figure('docs/reference/survival.md', /fail-overs/)));
  });

  it('of the planted bugs are those of their list', () => {
    const caught = Object.keys(SEEDS).length;
    expect(figure('README.md', /planted bugs/)).toBe(caught);
    expect(text('docs/reliability.md')).toContain(`[${BUGS.length} bugs `);
    expect(text('docs/reliability.md')).toContain(`It catches ${caught};`);
  });

  it('of late changes are those of the simulation', () => {
    const cells = (world: string, lookups: string) => {
      const row = text('docs/reference/delays.md')
        .split('\n')
        .find((line) => line.startsWith(`| ${world} `) && line.split('|')[2]?.trim() === lookups);
      return (
        row
          ?.split('|')
          .slice(3)
          .map((cell) => cell.trim().split(' ')[0]) ?? []
      );
    };
    const [, , steps, learned, oracle] = cells('log-normal stages', '2');
    const [, , stepsOfFew, defaultOfFew] = cells('few are taken up', '5');
    const [, , , lowOfFew] = cells('few are taken up, worth 100 ms', '5');
    const [, section = ''] = text('docs/performance.md').split('## How late changes are seen');
    // The steps are 5 s and more apart.
    const seconds = [...section.replace('from 5 s', '').matchAll(/(\d+) s\b/g)].map(([, one]) => one);
    expect(seconds).toEqual([learned, steps, oracle, defaultOfFew, stepsOfFew, lowOfFew]);
  });
});
