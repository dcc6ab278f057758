import type { PromotionName, PromotionPlan } from './promoted.ts';
import type { Dose } from './tunnel.ts';

/** The dialects that are tried. */
export const DIALECTS = ['sqlite', 'postgres'] as const;
/** One of them. */
export type Dialect = (typeof DIALECTS)[number];

/** 25 kills at least, and everything else at least once. */
const ANYWHERE = { killEarly: 4, kill: 7, killWhileAsked: 2, stop: 1, ask: 2, weather: 5, refuse: 1, hang: 1 };
const LIVES = { wrongCertificate: 1, noName: 1, rotateKey: 2 };
const ON_A_FILE = { second: 1, backUp: 1, fullDisk: 1, readOnlyDisk: 1, foreignLock: 1, falseClock: 1 };
const ON_A_SERVER = { kill: 10, cut: 3, restartServer: 1, crashServer: 1 };

type Plan = Omit<Dose, 'seed'>;

/** The doses that a change runs through, in some minutes. */
const SMALL: Readonly<Record<Dialect, Plan>> = {
  sqlite: { workers: 1, accounts: 3, disturbances: { ...ANYWHERE, ...LIVES, ...ON_A_FILE } },
  postgres: { workers: 3, accounts: 6, disturbances: { ...ANYWHERE, ...LIVES, ...ON_A_SERVER } },
};

const MORE = { kill: 12, killEarly: 3, stop: 4, weather: 8 };

/** A piece of what a release runs through: more of it, and longer. */
const FULL: Readonly<Record<Dialect, Plan>> = {
  sqlite: { workers: 1, accounts: 3, disturbances: { ...SMALL.sqlite.disturbances, ...MORE, fullDisk: 2 } },
  postgres: { workers: 3, accounts: 9, disturbances: { ...SMALL.postgres.disturbances, ...MORE, cut: 6 } },
};

/** Both of each dialect. */
export const PLANS = { small: SMALL, full: FULL };

/** How often each promotion is tried. */
export const PROMOTIONS: Readonly<Record<keyof typeof PLANS, Readonly<Record<PromotionName, number>>>> = {
  small: { lost: 1, synchronous: 1, late: 1, split: 1, long: 0, unfenced: 0 },
  full: { lost: 20, synchronous: 20, late: 5, split: 5, long: 1, unfenced: 5 },
};

const MOST_BEHIND_MS = 30_000;
const LITTLE_BEHIND_MS = 3_000;
const LONG_BACKLOG = 50_000;
/** More than is sent in the time. */
const BACKLOG_A_SECOND = 15;
/** Of three backlogs one is so short that new orders are sent as well, of which the promoted server knows nothing. */
const SHORT_BACKLOG = 20;

/** The plan of a promotion: the seeds of a full dose bring the standby from not behind at all to 30 s behind. */
export function promotionPlan(dose: keyof typeof PLANS, name: PromotionName, seed: number): PromotionPlan {
  const times = PROMOTIONS[dose][name];
  const share = times === 1 ? 1 / 3 : ((seed - 1) % times) / (times - 1);
  const behindMs = dose === 'small' ? LITTLE_BEHIND_MS : Math.round(share * MOST_BEHIND_MS);
  const more = seed % 3 === 0 ? 0 : 60 + Math.round((BACKLOG_A_SECOND * behindMs) / 1_000);
  return { name, seed, behindMs, backlog: name === 'long' ? LONG_BACKLOG : SHORT_BACKLOG + more };
}
