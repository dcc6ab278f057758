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

/** What a change runs through, in some minutes. */
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
