import { globSync, readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { Registry } from 'prom-client';
import { parse } from 'yaml';
import { createProgram } from '../src/cli/program.ts';
import { EXIT } from '../src/cli/shared/exit.ts';
import { EXTENSIONS } from '../src/extensions.ts';
import { eventSchema } from '../src/extensions/feed/schema.ts';
import { GAUGES, liveMetrics } from '../src/extensions/health/ops/metrics.ts';
import { OPTIONAL, REQUIRED, TABLES } from '../src/extensions/shop/schema.ts';
import { classTexts } from '../src/extensions/operate/finding-classes.ts';
import { FINDING_CLASSES, type FindingClassName } from '../src/findings/rules/classes.ts';
import { compareTexts } from '../src/extensions/documents/words.ts';
import { OTHER_FIELDS, RECORD_EVENTS } from '../src/orders/rules/record-change.ts';

/**
 * The pages of docs/reference, each made from the code that it describes. `npm test -- test/docs/reference.test.ts --update` writes
 * them.
 */

/** A row of a page: the public name, and the cells beside it. */
type Row = readonly [name: string, ...cells: readonly string[]];
type Rows = readonly Row[];

interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly const?: string;
  readonly default?: unknown;
  readonly oneOf?: readonly Schema[];
}

export interface ReferencePage {
  readonly file: string;
  readonly text: string;
  /** The public names on the page: a later version keeps them. */
  readonly names: readonly string[];
}

const textOf = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');

export async function referencePages(): Promise<readonly ReferencePage[]> {
  return [settings(), await commands(), exitCodes(), metrics(), events(), findings(), tables()];
}

/** The public names of this version, as docs/reference/released.json has them of the last release. */
export async function releasedNames(version: string): Promise<string> {
  const names = Object.fromEntries((await referencePages()).map((one) => [one.file, one.names]));
  return `${JSON.stringify({ version, names }, null, 2)}\n`;
}

/** Returns src/README.md with the table of rooms as the files are now, in hundreds of lines. */
export function houseWithRooms(): string {
  const files = globSync('src/**/*.{ts,mjs,cjs}', { cwd: new URL('..', import.meta.url) });
  const room = (file: string) => /^src\/((?:extensions\/)?[^/]+)\//.exec(file)?.[1] ?? 'the launcher, daemon and app';
  const rooms = [...Map.groupBy(files, room)].map(([name, own]) => rowOf(name, own));
  const isExtension = ([name]: Row) => name.startsWith('extensions/');
  const sums = [
    rowOf(
      'the core',
      files.filter((file) => !isExtension([room(file)])),
    ),
    rowOf('all', files),
  ];
  const rows = rooms
    .toSorted(([one], [other]) => compareTexts(one, other))
    .toSorted((one, other) => Number(isExtension(one)) - Number(isExtension(other)));
  const made = `<!-- rooms -->\n\n${table(['room', 'files', 'lines'], [...rows, ...sums])}\n\n<!-- end of rooms -->`;
  return textOf('src/README.md').replace(/<!-- rooms -->[^]*<!-- end of rooms -->/, made);
}

function rowOf(name: string, files: readonly string[]): Row {
  const lines = files.reduce((sum, file) => sum + textOf(file).split('\n').length - 1, 0);
  return [name, String(files.length), `${Math.round(lines / 100)}00`.replace(/^000$/, '< 100')];
}

function page(file: string, title: string, about: string, sections: readonly string[]): Omit<ReferencePage, 'names'> {
  return { file, text: `${[`# ${title}`, about, ...sections].join('\n\n')}\n` };
}

/** A table as the formatter of the repository writes it. */
function table(head: Row, rows: Rows): string {
  const all = [head, ...rows].map((cells) => cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')));
  const widths = head.map((_, column) => Math.max(3, ...all.map((cells) => cells[column]?.length ?? 0)));
  const line = (cells: readonly string[], fill = ' ') =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0, fill)).join(' | ')} |`;
  const [first = [], ...others] = all;
  const rule = line(
    head.map(() => ''),
    '-',
  );
  return [line(first), rule, ...others.map((cells) => line(cells))].join('\n');
}

const code = (text: string) => `\`${text}\``;
const bare = (cell: string) => cell.replaceAll('`', '');
const namesOf = (rows: Rows) => rows.map(([name]) => bare(name));

function settings(): ReferencePage {
  const { properties = {} } = JSON.parse(textOf('config/schema.json')) as Schema;
  const sections = Object.entries(properties).map(([name, section]) => ({ name, rows: settingRows(name, section) }));
  const head: Row = ['setting', 'default', 'description'];
  return {
    ...page(
      'settings.md',
      'Settings',
      'Each setting, as `config/default.yaml` describes it. The environment variable of `exchange.baseUrl` is `ORDER_SYNC_EXCHANGE_BASE_URL`.',
      sections.map(({ name, rows }) => `## ${name}\n\n${table(head, rows)}`),
    ),
    names: sections.flatMap(({ rows }) => namesOf(rows)),
  };
}

/** The description of a section, or of several settings, stands at the first of them. */
function settingRows(name: string, { description = '', properties, default: usual }: Schema): Rows {
  const about = description.replaceAll(/[<*]/g, '\\$&');
  if (properties === undefined) return [[code(name), usual === undefined ? '' : code(valueOf(usual)), about]];
  const [first, ...others] = Object.entries(properties).flatMap(([key, property]) =>
    settingRows(`${name}.${key}`, property),
  );
  if (first === undefined) return [];
  const [leaf, its = '', text = ''] = first;
  return [[leaf, its, [about, text].filter(Boolean).join(' ')], ...others];
}

const valueOf = (usual: unknown) => (Array.isArray(usual) ? `[${usual.join(', ')}]` : String(usual));

async function commands(): Promise<ReferencePage> {
  const sections: string[] = [];
  const names: string[] = [];
  const visit = async (words: readonly string[]): Promise<void> => {
    const called = await createProgram([...words, '--help'], EXTENSIONS);
    const command = words.reduce((one, word) => one.commands.find((sub) => sub.name() === word) ?? one, called);
    const subcommands = command.commands.filter((sub) => sub.name() !== 'help');
    if (words.length > 0) {
      const name = ['order-sync', ...words].join(' ');
      sections.push(`## ${name}\n\n\`\`\`text\n${helpOf(command)}\n\`\`\``);
      names.push(name, ...command.options.flatMap(({ long }) => (long === undefined ? [] : [`${name} ${long}`])));
    }
    for (const sub of subcommands) await visit([...words, sub.name()]);
  };
  await visit([]);
  const about = 'The help of every command. `order-sync help --all` lists them in short.';
  return { ...page('commands.md', 'Commands', about, sections), names };
}

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part), getOutHelpWidth: () => 120 });
  command.outputHelp();
  return text.trim();
}

/** The comments of `EXIT` say what each code means and what to do. */
function exitCodes(): ReferencePage {
  const source = textOf('src/cli/shared/exit.ts');
  const rows = Object.entries(EXIT).map(([name, number]): Row => {
    const [, comment = ''] = new RegExp(`/\\*\\*((?:(?!\\*/)[^])*)\\*/\\s+${name}: ${number},`).exec(source) ?? [];
    return [String(number), comment.replaceAll(/\s*\n\s*\*?\s*/g, ' ').trim()];
  });
  const about =
    'The codes with which commands and the daemon end. A daemon that runs waits until the causes of 74 and 75 are gone.';
  return { ...page('exit-codes.md', 'Exit codes', about, [table(['code', 'meaning'], rows)]), names: namesOf(rows) };
}

function metrics(): ReferencePage {
  const registry = new Registry();
  liveMetrics(registry, (account) => account);
  const live = registry.getMetricsAsArray().map((metric): Row => {
    const { name, help, labelNames } = metric as unknown as {
      name: string;
      help: string;
      labelNames: readonly string[];
    };
    return [
      code(name),
      labelNames
        .filter((label) => label !== 'le')
        .map(code)
        .join(', '),
      help,
    ];
  });
  const gauges = Object.entries(GAUGES).map(([name, [help, ...labels]]): Row => [
    code(name),
    labels.map(code).join(', '),
    help,
  ]);
  const { groups } = parse(textOf('deploy/prometheus-alerts.yaml')) as {
    groups: { rules: { alert: string; labels: { severity: string }; annotations: { description: string } }[] }[];
  };
  const alerts = groups.flatMap(({ rules }) =>
    rules.map(({ alert, labels, annotations }): Row => [code(alert), labels.severity, annotations.description]),
  );
  const rows = [...live, ...gauges];
  return {
    ...page(
      'metrics.md',
      'Metrics and alerts',
      'The metrics of `/metrics`, and the alerts of `deploy/prometheus-alerts.yaml`.',
      [
        `## Metrics\n\n${table(['metric', 'labels', 'description'], rows)}`,
        `## Alerts\n\n${table(['alert', 'severity', 'meaning and what to do'], alerts)}`,
      ],
    ),
    names: rows.map(([name, labels]) => bare(`${name}{${labels}}`)),
  };
}

function events(): ReferencePage {
  const { oneOf = [] } = eventSchema() as Schema;
  const rows = oneOf.map(({ description = '', properties = {} }): Row => {
    const fields = Object.keys(properties['data']?.properties ?? {});
    return [code(properties['type']?.const ?? ''), description, fields.map(code).join(', ')];
  });
  const about =
    'The types of events of the feed and of webhooks, with the fields of their `data`. [events.schema.json](../events.schema.json) describes each field.';
  return {
    ...page('events.md', 'Events', about, [
      table(['type', 'description', 'data'], rows),
      `## Fields of the record\n\nThe \`field\` of an event that shows a change of the [order record](../integrating.md#fields-of-the-record): ` +
        `${[...RECORD_EVENTS.values(), OTHER_FIELDS].map(code).join(', ')}.`,
    ]),
    names: rows.flatMap(([type, , data = '']) =>
      [type, ...data.split(', ').map((field) => `${type} ${field}`)].map(bare),
    ),
  };
}

function findings(): ReferencePage {
  const rows = (Object.keys(FINDING_CLASSES) as FindingClassName[]).map((name): Row => {
    const { severity, kind, meaning, advice } = classTexts(name);
    return [code(name), severity, kind === 'state' ? 'by itself' : 'by a person', meaning, advice];
  });
  const about = 'The classes of findings, the gravest first. `order-sync report explain CLASS` prints the same.';
  return {
    ...page('findings.md', 'Findings', about, [
      table(['class', 'severity', 'resolved', 'meaning', 'what to do'], rows),
    ]),
    names: namesOf(rows),
  };
}

function tables(): ReferencePage {
  const written: readonly string[] = [...REQUIRED, ...OPTIONAL];
  const sections = Object.entries(TABLES).map(([name, columns]) => {
    const rows = Object.entries(columns).map(([column, type]): Row => {
      const isWritten = name === 'merchant_orders' && written.includes(column);
      return [
        code(column),
        type.replace('?', ''),
        type.endsWith('?') ? 'yes' : 'no',
        isWritten ? 'shop' : 'order-sync',
      ];
    });
    return {
      rows: rows.map(([column]) => `${name}.${column}`),
      text: `## ${name}\n\n${table(['column', 'type', 'null', 'written by'], rows)}`,
    };
  });
  const about =
    'The tables that a shop may read. A shop writes `merchant_orders` alone: [integrating.md](../integrating.md#rows-of-the-table) says what each column means.';
  return {
    ...page(
      'tables.md',
      'Tables',
      about,
      sections.map(({ text }) => text),
    ),
    names: sections.flatMap(({ rows }) => rows.map(bare)),
  };
}
