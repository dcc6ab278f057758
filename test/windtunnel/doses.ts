import type { Dose } from './tunnel.ts';

/** The dialects that are tried. */
export const DIALECTS = ['sqlite', 'postgres'] as const;
/** One of them. */
export type Dialect = (typeof DIALECTS)[number];

/** With the other tests: that it works. */
export const QUICK: Readonly<Record<Dialect, Dose>> = {
  sqlite: { workers: 1, accounts: 2, disturbances: { kill: 2, weather: 1 }, seed: 1 },
  postgres: { workers: 2, accounts: 4, disturbances: { kill: 1, weather: 1, cut: 1 }, seed: 1 },
};

/** 25 kills, and everything else at least once. */
const ONE_PIECE = { kill: 12, killEarly: 3, killWhileAsked: 2, stop: 3, ask: 2, weather: 6, refuse: 1, hang: 1 };
const LIVES = { wrongCertificate: 1, noName: 1, rotateKey: 2 };

/** A piece of the proof. */
export const PIECE: Readonly<Record<Dialect, Omit<Dose, 'seed'>>> = {
  sqlite: {
    workers: 1,
    accounts: 3,
    disturbances: {
      ...ONE_PIECE,
      ...LIVES,
      second: 1,
      backUp: 1,
      fullDisk: 2,
      readOnlyDisk: 1,
      foreignLock: 1,
      falseClock: 1,
    },
  },
  postgres: {
    workers: 3,
    accounts: 9,
    disturbances: { ...ONE_PIECE, ...LIVES, cut: 5, restartServer: 1, crashServer: 1 },
  },
};
