import type { z } from 'zod';
import * as v from './values.ts';

/** The settings cannot be used. The message is one line that a person can act on, and never holds a secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly exitCode = 78;
}

/** What pino knows. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** Every setting: durations in milliseconds, sizes in bytes, paths absolute. `config/default.yaml` describes them. */
export const SETTINGS = {
  'exchange.baseUrl': v.secureUrl().optional(),
  'exchange.apiKey': v.headerText().optional(),
  'exchange.rate.requests': v.wholeNumber(1, 1_000_000),
  'exchange.rate.interval': v.duration('1d'),
  'exchange.concurrency': v.wholeNumber(1, 1_000),
  'exchange.timeout': v.duration('1h'),
  'exchange.maxResponseBytes': v.size(),
  'database.url': v.plainText(),
  'schedule.cron': v.cron(),
  'create.onUnknown': v.oneOf('hold', 'resend'),
  'create.verifyAfter': v.durations(1),
  'follow.finalStatuses': v.words(),
  'follow.openStatuses': v.words(),
  'follow.recheckFinalAfter': v.durations(0),
  'reconcile.tolerance': v.decimalFromZero(),
  'reconcile.orderMissingAfter': v.duration('365d'),
  'reconcile.freshFor': v.duration('365d'),
  'reconcile.cron': v.cron().optional(),
  'links.cron': v.cron().optional(),
  'links.finalStatuses': v.words(),
  'ops.listen': v.listenAddress(),
  'photos.listen': v.listenAddress(),
  'photos.folder': v.plainText(),
  'photos.tokenLifetime': v.duration('90d'),
  'photos.maxFileBytes': v.size(),
  'photos.maxFiles': v.wholeNumber(1, 1_000),
  'photos.maxTotalBytes': v.size(),
  'photos.timeout': v.duration('1h'),
  'photos.concurrency': v.wholeNumber(1, 100),
  'webhooks.url': v.secureUrl().optional(),
  'webhooks.secret': v.headerText().optional(),
  'log.level': v.oneOf(...LOG_LEVELS),
};

/** Path of a setting, such as `exchange.baseUrl`. */
export type Path = keyof typeof SETTINGS;
/** Parsed settings by path. */
export type Values = { readonly [P in Path]: z.output<(typeof SETTINGS)[P]> };

/** Paths of all settings, in the order of `config/default.yaml`. */
export const PATHS = Object.keys(SETTINGS) as Path[];
/** Settings that are never shown. */
export const SECRETS: readonly Path[] = ['exchange.apiKey', 'webhooks.secret'];
/** Settings that an empty value leaves unset. */
export const MAY_BE_UNSET: readonly Path[] = [
  ...SECRETS,
  'exchange.baseUrl',
  'reconcile.cron',
  'links.cron',
  'webhooks.url',
];
