import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import type { Pair } from './pair.ts';
import type { Scene } from './scene.ts';
import type { Worker } from './workers.ts';

/** The promotions that are tried, and whether a request leaves only when the standby has its intent. */
export const IS_SYNCHRONOUS = {
  /** The primary and the worker that drives the account are both lost. */
  lost: false,
  /** So are both, with a backlog that is not waited for to the end. */
  long: false,
  /** So are both. */
  synchronous: true,
  /** The primary is lost. The workers live on, and one reconnects late. */
  late: false,
  /** The primary and the workers live on, with one worker at each server. */
  split: true,
  /** So do all of them, and nothing is promised. */
  unfenced: false,
} as const;

/** The name of a promotion. */
export type PromotionName = keyof typeof IS_SYNCHRONOUS;

export const PROMOTION_NAMES = Object.keys(IS_SYNCHRONOUS) as PromotionName[];

/** How a promotion is tried. */
export interface PromotionPlan {
  readonly name: PromotionName;
  readonly seed: number;
  /** How long the standby has received nothing before it is promoted. */
  readonly behindMs: number;
  /** This many orders wait from the start. */
  readonly backlog: number;
}

/** An account that workers drive in a scene. */
export interface Driven {
  readonly scene: Scene;
  readonly account: string;
  /** Asks the shop's database. */
  readonly query: <Found extends pg.QueryResultRow>(sql: string) => Promise<readonly Found[]>;
  /** Starts again each worker that has ended. */
  readonly startEnded: () => void;
}

/** A promotion that is under way. */
export interface Try extends Driven {
  readonly plan: PromotionPlan;
  readonly pair: Pair;
  /** The workers by their machines, of which one may be lost. */
  readonly machines: Map<0 | 1, Worker>;
  /** The orders that a shop was told were inserted. */
  readonly inserted: Set<string>;
}

const MOST_WAIT_MS = 600_000;

/** Starts the worker of a machine. */
export function startOn({ pair, scene, machines }: Pick<Try, 'pair' | 'scene' | 'machines'>, machine: 0 | 1): Worker {
  const worker = scene.workers.startEarly({
    ORDER_SYNC_DATABASE_URL: pair.url(machine),
    ORDER_SYNC_DATABASE_MARKS: join(scene.folder, `marks-${machine}.db`),
  });
  machines.set(machine, worker);
  return worker;
}

/** Starts again each worker that has ended. */
export function startEnded(tried: Pick<Try, 'pair' | 'scene' | 'machines'>): void {
  const { scene, machines } = tried;
  for (const [machine, worker] of machines) {
    if (scene.workers.alive.includes(worker)) continue;
    scene.say(`the worker of machine ${machine} has ended and is started again: ${worker.said.slice(-300)}`);
    startOn(tried, machine);
  }
}

/** Resolves once the account has an owner on the promoted server, and every order that may have been sent is marked. */
export async function takenUp(driven: Driven): Promise<void> {
  const select = `select time_line = order_sync_time_line() and holder is not null and not exists (select from account_facts
    where name like 'fail-over.%' and value not like '%"markedAt"%') as is from account_owners`;
  await until(driven, 'an owner on the promoted server', () => isTrue(driven, select));
}

/** A machine is lost. */
export async function loseMachine({ scene, machines }: Try, machine: 0 | 1): Promise<void> {
  const worker = machines.get(machine);
  machines.delete(machine);
  if (worker !== undefined && scene.workers.alive.includes(worker)) await scene.workers.kill(worker);
}

/** The orders of which a create came to the exchange. */
export function createdBy({ scene }: Driven): ReadonlySet<string> {
  return scene.judge.created;
}

/** Asks the shop's database. */
export async function isTrue({ query }: Driven, select: string): Promise<boolean> {
  return (await query<{ is: boolean }>(select))[0]?.is === true;
}

/** Waits, and starts again each worker that ends meanwhile. Throws what the workers said last if it is waited for too long. */
export async function until(driven: Driven, what: string, is: () => Promise<boolean>): Promise<void> {
  const { scene } = driven;
  for (const late = performance.now() + MOST_WAIT_MS; !(await is());) {
    driven.startEnded();
    if (performance.now() > late) {
      const said = scene.workers.alive.map((worker) => worker.said.slice(-2_000));
      throw new Error(`waited too long for ${what}: ${said.join('\n')}`);
    }
    await wait(100);
  }
}
