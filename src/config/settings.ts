import { ACCOUNT_NAME, ACCOUNT_NAME_FORM } from '../domain/accounts/name.ts';
import { PHOTO_TYPES } from '../domain/clients/photo.ts';
import { CONTRADICTION_KINDS } from '../domain/contradictions.ts';
import { GUESSED_CLASSES } from '../domain/findings/classes.ts';
import { AMOUNT_FIELDS } from '../domain/amounts.ts';
import { cron } from './cron.ts';
import { databaseUrl } from './database-url.ts';
import { durations, hostNames, words, wordsOf } from './lists.ts';
import { absenceShapes, assetLimits, tolerance } from './shapes.ts';
import * as type from './values.ts';
import { webhookEndpoints } from './webhooks.ts';

/** What is wrong with the settings, and what to write instead: a sentence without a secret in it. */
export interface ConfigProblem {
  readonly problem: string;
  /** Path of the setting, where it is known which one is meant. */
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

const PACES = type.oneOf('learned', 'every-tick');
const pace = type.settingType(PACES.schema, (text) => {
  if (text === 'spaced') throw new Error('is no longer spaced by steps: write learned, which has steps of its own');
  return PACES(text);
});

/** Settings that are gone, with the advice that follows the name of the setting in a sentence. */
export const GONE_SETTINGS: ReadonlyMap<string, string> = new Map([
  ['follow.steps', 'is gone: delete it, and write follow.pace: learned, which has steps of its own'],
]);

/**
 * Every setting with its type: durations in milliseconds, sizes in bytes. The defaults, and the texts that describe the
 * settings, stand in `config/default.yaml`.
 */
export const SETTINGS = {
  'exchange.baseUrl': type.optional(type.secureUrl),
  'exchange.apiKey': type.optional(type.headerText),
  'exchange.rate.requests': type.wholeNumber(1, 1_000_000),
  'exchange.rate.interval': type.duration('1d'),
  'exchange.rate.mode': type.oneOf('proved', 'paced'),
  'exchange.concurrency': type.wholeNumber(1, 1_000),
  'exchange.timeout': type.duration('1h'),
  'exchange.maxResponseBytes': type.size,
  'exchange.absence': absenceShapes,
  'exchange.outputPosition': type.optional(type.oneOf(...AMOUNT_FIELDS)),
  'database.url': databaseUrl,
  'database.password': type.optional(type.plainText),
  'database.poolSize': type.wholeNumber(1, 1_000),
  'database.notify': type.oneOf('on', 'off'),
  'database.synchronousStandbys': type.wholeNumber(0, 5),
  'database.tls': type.optional(type.oneOf('off', 'require', 'verify')),
  'database.tlsCaFile': type.optional(type.plainText),
  'database.marks': type.plainText,
  'workers.instances': type.wholeNumber(1, 1_000),
  'control.socket': type.optional(type.plainText),
  'schedule.cron': cron,
  'create.pauseAfterUnknown': type.wholeNumber(1, 1_000_000),
  'create.onUnknown': type.oneOf('hold', 'resend'),
  'create.verifyAfter': durations(1),
  'create.refusedBy': type.oneOf('documented', 'status'),
  'guard.createsPerHour': type.optional(type.wholeNumber(1, 1_000_000)),
  'guard.assetPerHour': assetLimits,
  'follow.finalStatuses': words,
  'follow.openStatuses': words,
  'follow.succeededStatuses': words,
  'follow.disputedBy': wordsOf(...CONTRADICTION_KINDS),
  'follow.recheckFinalAfter': durations(0),
  'follow.giveUpAfter': type.optional(type.duration('3650d')),
  'follow.pace': pace,
  'follow.worth': type.duration('1d'),
  'follow.share': type.share,
  'reconcile.tolerance': tolerance,
  'reconcile.ignore': wordsOf(...GUESSED_CLASSES),
  'reconcile.orderMissingAfter': type.duration('365d'),
  'reconcile.freshFor': type.duration('365d'),
  'reconcile.cron': type.optional(cron),
  'links.cron': type.optional(cron),
  'links.finalStatuses': words,
  'retention.keptAnswers': type.optional(type.duration('3650d')),
  'retention.deadLetters': type.optional(type.duration('3650d')),
  'retention.photos': type.optional(type.duration('3650d')),
  'photos.listen': type.listenAddress,
  'photos.folder': type.plainText,
  'photos.types': wordsOf(...PHOTO_TYPES),
  'photos.tokenLifetime': type.duration('90d'),
  'photos.maxFileBytes': type.size,
  'photos.maxFiles': type.wholeNumber(1, 1_000),
  'photos.maxTotalBytes': type.size,
  'photos.timeout': type.duration('1h'),
  'photos.concurrency': type.wholeNumber(1, 100),
  'ops.listen': type.listenAddress,
  'ops.token': type.optional(type.token(16)),
  'ops.hosts': hostNames,
  'ops.heartbeatUrl': type.optional(type.calledUrl),
  'webhooks.endpoints': webhookEndpoints,
  'ops.actions': type.oneOf('off', 'on'),
  'log.level': type.oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
};

/** Path of a setting, such as `exchange.baseUrl`. */
export type Path = keyof typeof SETTINGS;
/** The values of all settings by path. */
export type Values = { readonly [P in Path]: ReturnType<(typeof SETTINGS)[P]> };

/** Path of a setting that an account may have of its own. */
export type AccountPath = Extract<Path, `${AccountSection}.${string}`>;
/** Sections of settings that an account may have of its own. */
export type AccountSection = 'exchange' | 'create' | 'guard' | 'follow';

/** The type of `rateGroup`, which only an account has. */
export const rateGroup = type.optional(
  type.single(
    (value) => {
      if (!ACCOUNT_NAME.test(value)) throw new Error(`must be ${ACCOUNT_NAME_FORM}`);
      return value;
    },
    { type: ['string', 'number'], pattern: ACCOUNT_NAME.source },
  ),
);

/** Paths of all settings, in the order of `config/default.yaml`. */
export const PATHS = Object.keys(SETTINGS) as Path[];
/** Paths of the settings that an account may have of its own. */
export const ACCOUNT_PATHS = PATHS.filter((path): path is AccountPath =>
  /^(exchange|create|guard|follow)\./.test(path),
);
/** Settings that may be more than a word or a list of words: in the environment, and as their text, they are then JSON. */
export const JSON_SETTINGS: readonly Path[] = [
  'exchange.absence',
  'guard.assetPerHour',
  'reconcile.tolerance',
  'webhooks.endpoints',
];
/** Settings whose values are never shown. In a file, the name with `File` at its end names another file with the value. */
export const SECRETS: readonly Path[] = [
  'exchange.apiKey',
  'database.password',
  'ops.token',
  'webhooks.endpoints',
  'ops.heartbeatUrl',
];
