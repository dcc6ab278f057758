import { setTimeout as wait } from 'node:timers/promises';
import { startPostgres } from '../support/postgres-server.ts';
import { BEFORE, programOf } from './before.ts';
import { postgresGround } from './ground.ts';
import type { Verdict } from './judge.ts';
import { setScene, type Scene } from './scene.ts';
import { insertOrders, settle } from './tunnel.ts';
import type { Worker } from './workers.ts';

/** The upgrades that are tried: of tables that lose something, and of tables that only get more. */
export const UPGRADE_NAMES = Object.keys(BEFORE) as (keyof typeof BEFORE)[];
/** The name of an upgrade. */
export type UpgradeName = keyof typeof BEFORE;

/** The result of an upgrade. */
export interface UpgradeResult extends Verdict {
  readonly kills: number;
  /** From the migration until each worker of the version before had ended, in milliseconds; undefined if they continue. */
  readonly endedMs: number | undefined;
}

interface Upgrade extends Scene {
  readonly seed: number;
  /** The file that starts the version before. */
  readonly before: string;
}

const ACCOUNTS = 4;
const WORKERS = 3;
const BACKLOG = 20;
const INSERT_EVERY_MS = 1_000;
/** The common work of each pair of versions. */
const CREATES_BETWEEN = 8;
const ASKED_EVERY_MS = 50;
const MOST_WAIT_MS = 120_000;
/** The exit code of a worker whose tables are of a newer version. */
const NEWER = 65;

/** As a migration of the next version would: workers of this one and of the one before know nothing of it. */
const NEXT_TABLES = [
  `alter table merchant_orders add column of_next_version text`,
  `alter table workers add column of_next_version text not null default ''`,
  `alter table events add column of_next_version bigint`,
  `create table of_next_version (account text collate "C" primary key)`,
  `insert into kysely_migration (name, timestamp) values ('9999_expand_next', '')`,
  `insert into migration_hashes (name, hash) values ('9999_expand_next', 'of the next version')`,
];

/**
 * Has real workers of the version before drive accounts with a backlog while the tables are changed and workers of this version take
 * their place, and judges from outside what became of every order.
 */
export async function runUpgrade(
  bin: string,
  { name, seed }: { readonly name: UpgradeName; readonly seed: number },
  say: (text: string) => void,
): Promise<UpgradeResult> {
  await using undo = new AsyncDisposableStack();
  const server = undo.use(await startPostgres(bin));
  const before = programOf(BEFORE[name], undo);
  const groundIn = () => postgresGround(server, 'upgrade');
  const scene = await setScene(undo, { groundIn, accounts: ACCOUNTS, seed, say, program: before });
  const { workers, accounts, ground, judge } = scene;
  for (const account of accounts) {
    for (let number = 1; number <= BACKLOG; number += 1) {
      const id = `${account}:backlog-${number}`;
      if (await ground.shop.insert(account, id)) judge.inserted(account, id);
    }
  }
  const isOver = new AbortController();
  const inserting = insertOrders(scene, INSERT_EVERY_MS, isOver.signal);
  const endedMs = await UPGRADES[name]({ ...scene, before, seed });
  isOver.abort();
  await inserting;
  workers.program = undefined;
  const { kills } = workers;
  await settle(scene, WORKERS);
  await workers.stop();
  return { ...(await scene.verdict()), kills, endedMs };
}

const UPGRADES: Readonly<Record<UpgradeName, (upgrade: Upgrade) => Promise<number | undefined>>> = {
  contracted: upgradeWithStop,
  expanded: upgradeWithoutStop,
};

/** The workers of the version before end when the tables are changed, and the workers of this one continue. */
async function upgradeWithStop(upgrade: Upgrade): Promise<number> {
  const { workers, judge, before } = upgrade;
  workers.goodEnds.add(NEWER);
  const old = await startEach(upgrade, before);
  await moreCreates(upgrade);
  workers.program = undefined;
  const from = performance.now();
  if ((await workers.run(['db', 'migrate'])) !== 0) judge.fail('db migrate failed while the version before ran');
  const ends = await Promise.all(old.map(({ ended }) => ended));
  const endedMs = performance.now() - from;
  if (ends.some((code) => code !== NEWER)) judge.fail(`workers of the version before ended with ${ends.join(', ')}`);
  workers.program = before;
  const again = workers.startEarly();
  if ((await again.ended) !== NEWER) judge.fail('a worker of the version before began with newer tables');
  const [killed] = await startEach(upgrade, undefined);
  await moreCreates(upgrade);
  if (killed !== undefined) await workers.kill(killed);
  await workers.start();
  await moreCreates(upgrade);
  return endedMs;
}

/** Workers of both versions share the accounts, with the tables of the next one; one after the other is replaced, and back. */
async function upgradeWithoutStop(upgrade: Upgrade): Promise<undefined> {
  const { workers, judge, ground, before } = upgrade;
  const old = await startEach(upgrade, before);
  await moreCreates(upgrade);
  for (const statement of NEXT_TABLES) await ground.postgres?.pool.query(statement);
  await moreCreates(upgrade);
  const changed: Worker[] = [];
  for (const [index, worker] of old.entries()) {
    workers.program = undefined;
    changed.push(await workers.start());
    await (index === 1 ? workers.kill(worker) : workers.stopOne(worker));
    await moreCreates(upgrade);
  }
  // Back to the version before, and forward again.
  workers.program = before;
  for (const worker of changed) {
    await workers.start();
    await (worker === changed[0] ? workers.kill(worker) : workers.stopOne(worker));
  }
  await moreCreates(upgrade);
  if (workers.alive.length !== WORKERS) judge.fail(`${workers.alive.length} workers are left of ${WORKERS}`);
}

async function startEach({ workers }: Upgrade, program: string | undefined): Promise<readonly Worker[]> {
  workers.program = program;
  return await Promise.all(Array.from({ length: WORKERS }, () => workers.start()));
}

/** Waits until this many more orders were sent. */
async function moreCreates({ judge, workers }: Upgrade): Promise<void> {
  const wanted = judge.created.size + CREATES_BETWEEN;
  for (const late = performance.now() + MOST_WAIT_MS; judge.created.size < wanted;) {
    if (performance.now() > late) {
      const said = workers.alive.map((worker) => worker.said.slice(-1_000));
      throw new Error(`waited too long for creates: ${said.join('\n')}`);
    }
    await wait(ASKED_EVERY_MS);
  }
}
