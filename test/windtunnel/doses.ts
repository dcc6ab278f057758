import type { Dose } from './tunnel.ts';

/** What is done with the other tests. */
export const SMALL: Dose = { workers: 3, accounts: 6, kills: 2, stops: 2, cuts: 2, restarts: 0, crashes: 1, seed: 1 };
/** What is done to be sure. */
export const FULL: Dose = {
  workers: 3,
  accounts: 30,
  kills: 20,
  stops: 20,
  cuts: 20,
  restarts: 2,
  crashes: 2,
  seed: 1,
};
