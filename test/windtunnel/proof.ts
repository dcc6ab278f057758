import type { Dose, Part, PieceResult } from '../proof/part.ts';
import { findPostgres } from '../support/postgres-server.ts';
import { PLANS, promotionPlan, PROMOTIONS, type Dialect } from './doses.ts';
import { PROMOTION_NAMES, type PromotionPlan } from './promoted.ts';
import { BEFORE, isInHistory } from './before.ts';
import { promote, runOn, upgrade } from './run.ts';
import { UPGRADE_NAMES, type UpgradeName } from './upgrade.ts';

const KILLS_A_PIECE = 25;
/** Both dialects together: 50 kills and 200. */
const PIECES = { small: 1, full: 4 } as const;

type Say = (text: string) => void;

/** Real processes on a file. */
export const windtunnelSqlite: Part = partOf(
  'sqlite',
  'real processes on SQLite: SIGKILL, SIGSTOP, faults on the way to the exchange, full and read-only disks, a foreign write lock, a clock that is set',
);

/** Real processes that share a server. */
export const windtunnelPostgres: Part = partOf(
  'postgres',
  'real processes that share PostgreSQL: SIGKILL, SIGSTOP, faults on the way to the exchange, cut connections, a server that is restarted and crashes',
);

/** They wait more than they work. */
const PROMOTIONS_AT_A_TIME = { small: 2, full: 4 } as const;

/** Real processes and two servers. */
export const windtunnelPromotion: Part = {
  name: 'windtunnel-promotion',
  text: 'real processes, a primary of PostgreSQL and its streaming standby, which is promoted up to 30 s behind: asynchronous or synchronous, primary and owner lost, a worker that reconnects late, the old primary kept alive',
  reads: ['test/windtunnel/proof.ts'],
  isWaiting: true,
  least: (dose) => (findPostgres() === undefined ? {} : { promotions: promotionsOf(dose).length }),
  pieces(dose) {
    const all = promotionsOf(dose);
    const size = PROMOTIONS_AT_A_TIME[dose];
    return Array.from({ length: Math.ceil(all.length / size) }, (_, index) => {
      const plans = all.slice(index * size, (index + 1) * size);
      const name = plans.map((plan) => `${plan.name}-${plan.seed}`).join('-');
      return { name, run: (say: Say) => runPromotions(dose, plans, say) };
    });
  },
};

/** How often each upgrade is tried. */
const UPGRADES = { small: 1, full: 5 } as const;

/** Real processes of two versions on one database. */
export const windtunnelUpgrade: Part = {
  name: 'windtunnel-upgrade',
  text: 'real processes of the version before and of this one on one database of PostgreSQL with a backlog, whose tables are changed meanwhile: one after the other is replaced, some are killed, and back',
  reads: ['test/windtunnel/proof.ts'],
  isWaiting: true,
  least: (dose) => ({ upgrades: UPGRADE_NAMES.filter((name) => whyNot(name) === undefined).length * UPGRADES[dose] }),
  pieces: (dose) =>
    UPGRADE_NAMES.flatMap((name) =>
      Array.from({ length: UPGRADES[dose] }, (_, index) => ({
        name: `${name}-${index + 1}`,
        run: (say: Say) => runUpgradePiece(name, index + 1, say),
      })),
    ),
};

function whyNot(name: UpgradeName): string | undefined {
  if (findPostgres() === undefined) return 'no PostgreSQL server is installed here';
  return isInHistory(BEFORE[name]) ? undefined : `the history here lacks the commit ${BEFORE[name]}`;
}

async function runUpgradePiece(name: UpgradeName, seed: number, say: Say): Promise<PieceResult> {
  const why = whyNot(name);
  if (why !== undefined) {
    say(`left out: ${why}`);
    return { counts: { 'left out': 1 }, violations: [] };
  }
  const { orders, requests, kills, violations } = await upgrade({ name, seed }, () => {});
  const command = `npm run windtunnel -- --upgrade ${name} --seed ${seed}`;
  return {
    counts: { upgrades: 1, orders, requests, SIGKILLs: kills },
    violations: violations.map((one) => `${one} (${command})`),
  };
}

function promotionsOf(dose: Dose): readonly PromotionPlan[] {
  return PROMOTION_NAMES.flatMap((name) =>
    Array.from({ length: PROMOTIONS[dose][name] }, (_, index) => promotionPlan(dose, name, index + 1)),
  );
}

/** Runs promotions beside each other. */
async function runPromotions(dose: Dose, plans: readonly PromotionPlan[], say: Say): Promise<PieceResult> {
  if (findPostgres() === undefined) {
    say('left out: no PostgreSQL server is installed here');
    return { counts: { 'left out': plans.length }, violations: [] };
  }
  const results = await Promise.all(
    plans.map(async (plan) => {
      const command = `npm run windtunnel -- ${dose === 'small' ? '--small ' : ''}--promotion ${plan.name} --seed ${plan.seed}`;
      const result = await promote(plan, () => {});
      return { ...result, plan, violations: result.violations.map((one) => `${one} (${command})`) };
    }),
  );
  const sum = (count: (result: (typeof results)[number]) => number) =>
    results.reduce((all, one) => all + count(one), 0);
  return {
    counts: {
      promotions: results.length,
      orders: sum(({ orders }) => orders),
      'rows that were lost': sum(({ lostRows }) => lostRows),
      'orders in doubt': sum(({ inDoubt }) => inDoubt),
      'created twice if nothing is promised': sum(({ plan, twice }) => (plan.name === 'unfenced' ? twice : 0)),
    },
    violations: results.flatMap(({ violations }) => violations),
  };
}

function partOf(dialect: Dialect, text: string): Part {
  return {
    name: `windtunnel-${dialect}`,
    text,
    reads: ['test/windtunnel/proof.ts'],
    isWaiting: true,
    least: (dose) => ({
      SIGKILLs: PIECES[dose] * KILLS_A_PIECE,
      faults: PIECES[dose],
      'waits that were read': PIECES[dose],
    }),
    pieces: (dose) =>
      Array.from({ length: PIECES[dose] }, (_, index) => {
        const seed = index + 1;
        return { name: `seed-${seed}`, run: (say: Say) => runPiece(dialect, dose, seed, say) };
      }),
  };
}

async function runPiece(dialect: Dialect, dose: Dose, seed: number, say: Say): Promise<PieceResult> {
  const { kills, disturbances, faults, requests, orders, waits, skipped, violations } = await runOn(
    dialect,
    { ...PLANS[dose][dialect], seed },
    () => {},
  );
  const command = `npm run windtunnel -- ${dose === 'small' ? '--small ' : ''}--dialect ${dialect} --seed ${seed}`;
  for (const one of skipped) say(`left out: ${one}`);
  return {
    counts: {
      SIGKILLs: kills,
      disturbances,
      faults,
      'waits that were read': waits,
      requests,
      orders,
      'left out': skipped.length,
    },
    violations: violations.map((one) => `${one} (${command})`),
  };
}
