import { findPostgres, startPostgres } from '../support/postgres-server.ts';
import type { Dialect } from './doses.ts';
import type { PromotionPlan } from './promoted.ts';
import { runPromotion, type PromotionResult } from './promotion.ts';
import { postgresGround, sqliteGround } from './ground.ts';
import { runUpgrade, type UpgradeName, type UpgradeResult } from './upgrade.ts';
import { runTunnel, type Dose, type TunnelResult } from './tunnel.ts';

/** Runs a tunnel on a database of its own; throws if there is no server for it. */
export async function runOn(dialect: Dialect, dose: Dose, say: (text: string) => void): Promise<TunnelResult> {
  if (dialect === 'sqlite') return await runTunnel(sqliteGround, dose, say);
  await using server = await startPostgres(installedPostgres());
  return await runTunnel(() => postgresGround(server, 'tunnel'), dose, say);
}

/** Promotes a standby of its own; throws if there is no server for it. */
export async function promote(plan: PromotionPlan, say: (text: string) => void): Promise<PromotionResult> {
  return await runPromotion(installedPostgres(), plan, say);
}

/** Upgrades on a server of its own; throws if there is none, or the history does not reach so far back. */
export async function upgrade(
  plan: { readonly name: UpgradeName; readonly seed: number },
  say: (text: string) => void,
): Promise<UpgradeResult> {
  return await runUpgrade(installedPostgres(), plan, say);
}

function installedPostgres(): string {
  const bin = findPostgres();
  if (bin === undefined) throw new Error('no PostgreSQL server is installed here (no initdb was found): install one');
  return bin;
}
