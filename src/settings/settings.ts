import { z } from 'zod';
import { ACCOUNT_NAME, ACCOUNT_NAME_FORM } from '../accounts/rules/name.ts';
import { CONTRADICTION_KINDS } from '../orders/rules/contradictions.ts';
import { GUESSED_CLASSES } from '../findings/rules/classes.ts';
import { AMOUNT_FIELDS } from '../base/decimal.ts';
import { cron } from './cron.ts';
import { databaseUrl, type ServerDatabase } from './database.ts';
import { absenceShapes, tolerance } from './shapes.ts';
import * as type from './values.ts';

export interface ConfigProblem {
  readonly problem: string;
  readonly setting?: string;
  /** The setting's place: the file and the line, or the environment variable. */
  readonly source?: string;
}

/** Reports settings that cannot be used. The message never contains a secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly ConfigProblem[];
  constructor(problems: string | readonly ConfigProblem[], options?: ErrorOptions) {
    const all = typeof problems === 'string' ? [{ problem: problems }] : problems;
    super(textOf(all), options);
    this.problems = all;
  }
}

/** Messages name at most this many problems and count the rest, because many accounts may have the same problem. */
const MOST_PROBLEMS = 50;

function textOf(problems: readonly ConfigProblem[]): string {
  const lines = problems
    .slice(0, MOST_PROBLEMS)
    .map(({ problem, source }) => (source === undefined ? problem : `${source}: ${problem}`))
    // A problem may quote a name or a value of several lines.
    .map((line) => line.replaceAll(/\s*[\r\n]\s*/g, ' '));
  const more = problems.length - lines.length;
  if (more > 0) lines.push(`and ${more} more`);
  return lines.length === 1
    ? lines.join()
    : [`${problems.length} things are wrong with the settings:`, ...lines].join('\n  ');
}

export function section<S extends z.core.$ZodShape>(shape: S) {
  const error = ({ code }: { readonly code?: string }) =>
    code === 'invalid_type' ? 'must contain settings by name, not a value' : undefined;
  return z.strictObject(shape, { error });
}

export const file = type.optional(type.plainText).optional();

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

const create = section({
  pauseAfterUnknown: type.wholeNumber(1, 1_000_000),
  onUnknown: type.oneOf('hold', 'resend'),
  verifyAfter: type.durations(1),
  refusedBy: type.oneOf('documented', 'status'),
});

/** An extension that adds another pace replaces this field. */
const pace = type
  .text((given) => {
    if (given === 'every-tick') return given;
    throw new Error('must be every-tick: the extension of another pace is not installed');
  })
  .meta({ json: { enum: ['every-tick'] } });
const follow = section({
  finalStatuses: type.words,
  openStatuses: type.words,
  succeededStatuses: type.words,
  disputedBy: type.wordsOf(...CONTRADICTION_KINDS),
  recheckFinalAfter: type.durations(0),
  giveUpAfter: type.optional(type.duration('3650d')),
  pace: pace.default('every-tick'),
}).superRefine(({ openStatuses, ...statuses }, context) => {
  for (const name of ['finalStatuses', 'succeededStatuses'] as const) {
    const both = statuses[name].find((status) => openStatuses.includes(status));
    const message = `and follow.openStatuses both have ${both}: remove it from one of them`;
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

/** The core's sections: durations in ms, sizes in bytes. `config/default.yaml` has the defaults and explanations. */
export const SECTIONS = {
  exchange,
  database: section({ url: databaseUrl }),
  workers: section({ instances: type.wholeNumber(1, 1_000) }),
  schedule: section({ cron }),
  create,
  follow,
  reconcile,
  log: section({ level: type.oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent') }),
};
export type Sections = typeof SECTIONS;

export function generalOf(sections: Sections) {
  return section(sections).refine((all) => all.database.url.kind !== 'sqlite' || all.workers.instances === 1, {
    path: ['workers', 'instances'],
    error: 'is above 1, and one process drives all accounts of a SQLite file: leave it at 1, or use PostgreSQL',
  });
}

const rateGroup = type.text(
  (given) => {
    if (ACCOUNT_NAME.test(given)) return given;
    throw new Error(`must be ${ACCOUNT_NAME_FORM}`);
  },
  { type: ['string', 'number'], pattern: ACCOUNT_NAME.source },
);

/**
 * Returns the type of the settings that an account may have of its own. `added` names the sections of extensions that
 * an account may have. Accounts of one rateGroup share one rate limit.
 */
export function accountOf(all: Sections, added: readonly string[]) {
  const own = { exchange: all.exchange, create: all.create, follow: all.follow };
  const more: object = Object.fromEntries(Object.entries(all).filter(([name]) => added.includes(name)));
  return section({ rateGroup: type.optional(rateGroup), ...own, ...more });
}

export type Settings = Frozen<z.output<ReturnType<typeof generalOf>>>;
/** An account's own settings over the general ones. `requireExchange` later reads the account's own key file. */
export type AccountConfig = Frozen<z.output<ReturnType<typeof accountOf>>> & { readonly name: string };

type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: Frozen<T[Name]> }
    : T;

type Named<T> = Readonly<Record<string, T>>;

/** The settings of an extension. `config/default.yaml` has the defaults and explanations. */
export interface SettingsPart {
  readonly sections?: Named<z.ZodObject>;
  /** Sections that an account may have of its own. */
  readonly ofAccounts?: readonly string[];
  /** Fields added to sections of the core or of another extension. An account that has the section has the fields. */
  readonly fields?: Named<z.core.$ZodShape>;
  /** Settings whose values are never shown. For a secret `name`, the setting `nameFile` names a file with the value. */
  readonly secrets?: readonly string[];
  /** Settings that are paths, relative to the folder in which the program is started. */
  readonly files?: readonly string[];
  /** Removed settings, each with advice that continues a sentence after the setting's name. */
  readonly gone?: Named<string>;
  /** Returns the place of the database if `url` names no SQLite file. `settings` is the section `database`. */
  server?(this: void, settings: object): ServerDatabase;
}

type SectionsOf<Part> = Part extends { readonly sections: infer S }
  ? { [Name in keyof S]: z.output<S[Name]> }
  : unknown;
type FieldsOf<Part> = Part extends { readonly fields: infer F extends Named<z.core.$ZodShape> }
  ? { [Name in keyof F]: z.output<z.ZodObject<F[Name]>> }
  : unknown;

/** Adds `of`, which casts loaded settings, general or of an account, to the types of the part's settings. */
export function settingsPart<Part extends SettingsPart>(part: Part) {
  return { ...part, of: (config: object) => config as Frozen<SectionsOf<Part> & FieldsOf<Part>> };
}

export function settingOf(path: string, account?: string): string {
  return account === undefined ? path : ['accounts', account, path].filter(Boolean).join('.');
}
