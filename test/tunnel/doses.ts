import type { Dose } from './tunnel.ts';

/** What is done with the other tests. */
export const SMALL: Dose = { workers: 3, accounts: 9, kills: 3, stops: 4, cuts: 4, restarts: 1, crashes: 1, seed: 1 };
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
