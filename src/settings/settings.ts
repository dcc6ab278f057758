import { z } from 'zod';
import { ACCOUNT_NAME, ACCOUNT_NAME_FORM } from '../accounts/rules/name.ts';
import { PHOTO_TYPES } from '../extensions/clients/photo.ts';
import { CONTRADICTION_KINDS } from '../orders/rules/contradictions.ts';
import { GUESSED_CLASSES } from '../findings/rules/classes.ts';
import { AMOUNT_FIELDS } from '../base/decimal.ts';
import { cron } from './cron.ts';
import { databaseUrl } from './database-url.ts';
import { absenceShapes, assetLimits, tolerance, webhookEndpoints } from './shapes.ts';
import * as type from './values.ts';

/** What is wrong with the settings, and what to write instead: a sentence without a secret in it. */
export interface ConfigProblem {
  readonly problem: string;
  readonly setting?: string;
  /** The place: the file with its line, or the variable. */
  readonly source?: string;
}

/** The settings cannot be used. The message has a line a problem that a person can act on, and never holds a secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly ConfigProblem[];
  constructor(problems: string | readonly ConfigProblem[], options?: ErrorOptions) {
    const all = typeof problems === 'string' ? [{ problem: problems }] : problems;
    super(textOf(all), options);
    this.problems = all;
  }
}

/** A message names so many problems, and counts the others: thousands of accounts may have the same one. */
const MOST_PROBLEMS = 50;

function textOf(problems: readonly ConfigProblem[]): string {
  const lines = problems
    .slice(0, MOST_PROBLEMS)
    .map(({ problem, source }) => (source === undefined ? problem : `${source}: ${problem}`))
    // It may quote a name or a value of several lines.
    .map((line) => line.replaceAll(/\s*[\r\n]\s*/g, ' '));
  const more = problems.length - lines.length;
  if (more > 0) lines.push(`and ${more} more`);
  return lines.length === 1
    ? lines.join()
    : [`${problems.length} things are wrong with the settings:`, ...lines].join('\n  ');
}

function section<S extends z.core.$ZodShape>(shape: S) {
  const error = ({ code }: { readonly code?: string }) =>
    code === 'invalid_type' ? 'holds settings by name, not a value' : undefined;
  return z.strictObject(shape, { error });
}

const file = type.optional(type.plainText).optional();

const exchange = section({
  baseUrl: type.optional(type.secureUrl),
  apiKey: type.optional(type.headerText),
  apiKeyFile: file,
  rate: section({
    requests: type.wholeNumber(1, 1_000_000),
    interval: type.duration('1d'),
    mode: type.oneOf('proved', 'paced'),
  }),
  concurrency: type.wholeNumber(1, 1_000),
  timeout: type.duration('1h'),
  maxResponseBytes: type.size,
  absence: absenceShapes,
  outputPosition: type.optional(type.oneOf(...AMOUNT_FIELDS)),
});

const database = section({
  url: databaseUrl,
  password: type.optional(type.plainText),
  passwordFile: file,
  poolSize: type.wholeNumber(1, 1_000),
  notify: type.oneOf('on', 'off'),
  synchronousStandbys: type.wholeNumber(0, 5),
  tls: type.optional(type.oneOf('off', 'require', 'verify')),
  tlsCaFile: type.optional(type.plainText),
  marks: type.plainText,
});

const create = section({
  pauseAfterUnknown: type.wholeNumber(1, 1_000_000),
  onUnknown: type.oneOf('hold', 'resend'),
  verifyAfter: type.durations(1),
  refusedBy: type.oneOf('documented', 'status'),
});

const guard = section({
  createsPerHour: type.optional(type.wholeNumber(1, 1_000_000)),
  assetPerHour: assetLimits,
});

const pace = type.withoutGone(
  type.oneOf('learned', 'every-tick'),
  new Map([['spaced', 'is no longer spaced by steps: write learned, which has steps of its own']]),
);
const follow = section({
  finalStatuses: type.words,
  openStatuses: type.words,
  succeededStatuses: type.words,
  disputedBy: type.wordsOf(...CONTRADICTION_KINDS),
  recheckFinalAfter: type.durations(0),
  giveUpAfter: type.optional(type.duration('3650d')),
  pace,
  worth: type.duration('1d'),
  share: type.share,
}).superRefine(({ openStatuses, ...statuses }, context) => {
  for (const name of ['finalStatuses', 'succeededStatuses'] as const) {
    const both = statuses[name].find((status) => openStatuses.includes(status));
    const message = `has ${both}, and so has follow.openStatuses: leave it out of one`;
    if (both !== undefined) context.addIssue({ code: 'custom', path: [name], message });
  }
});

const reconcile = section({
  tolerance,
  ignore: type.wordsOf(...GUESSED_CLASSES),
  orderMissingAfter: type.duration('365d'),
  freshFor: type.duration('365d'),
  cron: type.optional(cron),
});

const photos = section({
  listen: type.listenAddress,
  folder: type.plainText,
  types: type.wordsOf(...PHOTO_TYPES),
  tokenLifetime: type.duration('90d'),
  maxFileBytes: type.size,
  maxFiles: type.wholeNumber(1, 1_000),
  maxTotalBytes: type.size,
  timeout: type.duration('1h'),
  concurrency: type.wholeNumber(1, 100),
});

const ops = section({
  listen: type.listenAddress,
  token: type.optional(type.token(16)),
  tokenFile: file,
  hosts: type.hostNames,
  heartbeatUrl: type.optional(type.calledUrl),
  heartbeatUrlFile: file,
  actions: type.oneOf('off', 'on'),
})
  .refine(({ listen, token }) => listen === undefined || type.isLoopback(listen.host) || token !== undefined, {
    path: ['listen'],
    error: 'is not an address of this machine alone: set ops.token, or listen on 127.0.0.1',
  })
  .refine(({ actions, token }) => actions === 'off' || token !== undefined, {
    path: ['actions'],
    error:
      'is on, and every user of this machine could decide about orders: set ops.token too, in a file (ORDER_SYNC_OPS_TOKEN_FILE)',
  });

/** Durations in milliseconds, sizes in bytes. Defaults and texts stand in `config/default.yaml`. */
export const SETTINGS = section({
  exchange,
  database,
  workers: section({ instances: type.wholeNumber(1, 1_000) }),
  control: section({ socket: type.optional(type.plainText) }),
  schedule: section({ cron }),
  create,
  guard,
  follow,
  reconcile,
  links: section({ cron: type.optional(cron), finalStatuses: type.words }),
  retention: section({
    keptAnswers: type.optional(type.duration('3650d')),
    deadLetters: type.optional(type.duration('3650d')),
    photos: type.optional(type.duration('3650d')),
  }),
  photos,
  ops,
  webhooks: section({ endpoints: webhookEndpoints, endpointsFile: file }),
  log: section({ level: type.oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent') }),
})
  .refine((all) => all.database.url.kind !== 'sqlite' || all.workers.instances === 1, {
    path: ['workers', 'instances'],
    error: 'is above 1, and one process drives all accounts of a SQLite file: leave it at 1, or use PostgreSQL',
  })
  .refine((all) => all.database.url.kind !== 'sqlite' || all.database.synchronousStandbys === 0, {
    path: ['database', 'synchronousStandbys'],
    error: 'is for PostgreSQL: with SQLite set it to 0',
  });
export type Settings = Frozen<z.output<typeof SETTINGS>>;
/** Complete: its own settings, then the general ones, then the defaults. A key in a file of its own is read by `requireExchange`. */
export type AccountConfig = Frozen<z.output<typeof ACCOUNT>> & { readonly name: string };

type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: Frozen<T[Name]> }
    : T;

/** Settings that an account may have of its own; those of one rateGroup share the limits of their rate. */
export const ACCOUNT = section({
  rateGroup: type.optional(
    type.text(
      (given) => {
        if (ACCOUNT_NAME.test(given)) return given;
        throw new Error(`must be ${ACCOUNT_NAME_FORM}`);
      },
      { type: ['string', 'number'], pattern: ACCOUNT_NAME.source },
    ),
  ),
  exchange,
  create,
  guard,
  follow,
});

/** Their values are never shown. The name with `File` at its end names a file with the value, which may change while the program runs. */
export const SECRETS: readonly string[] = [
  'exchange.apiKey',
  'database.password',
  'ops.token',
  'webhooks.endpoints',
  'ops.heartbeatUrl',
];
/** Settings that are gone, with the advice that follows the name of the setting in a sentence. */
export const GONE_SETTINGS: ReadonlyMap<string, string> = new Map([
  ['follow.steps', 'is gone: delete it, and write follow.pace: learned, which has steps of its own'],
]);
export function settingOf(path: string, account?: string): string {
  return account === undefined ? path : ['accounts', account, path].filter(Boolean).join('.');
}

/** Paths of all settings, such as `exchange.baseUrl`, in the order of `config/default.yaml`. */
export const PATHS = pathsIn(SETTINGS);
export const ACCOUNT_PATHS = pathsIn(ACCOUNT);

function pathsIn({ shape }: z.ZodObject): string[] {
  const paths = Object.entries(shape).flatMap(([name, inner]) =>
    inner instanceof z.ZodObject ? pathsIn(inner).map((path) => `${name}.${path}`) : [name],
  );
  return paths.filter((path) => !SECRETS.some((secret) => path === `${secret}File`));
}
