import { cluster } from '../cluster/proof.ts';
import { model } from '../model/proof.ts';
import { mutation } from '../mutation/proof.ts';
import { plantedBugs } from '../simulation/planted/proof.ts';
import { hostileInput } from '../hostile/proof.ts';
import {
  exhaustiveWorlds,
  promotedWorlds,
  randomWorlds,
  restoredWorlds,
  themedWorlds,
  tornWorlds,
} from '../simulation/proof.ts';
import { soak } from '../soak/proof.ts';
import { windtunnelPostgres, windtunnelPromotion, windtunnelSqlite, windtunnelUpgrade } from '../windtunnel/proof.ts';
import type { Part } from './part.ts';

/** Every part, in the order in which they begin: those whose pieces take long come first. */
export const PARTS: readonly Part[] = [
  mutation,
  randomWorlds,
  exhaustiveWorlds,
  promotedWorlds,
  model,
  plantedBugs,
  hostileInput,
  themedWorlds,
  tornWorlds,
  restoredWorlds,
  soak,
  cluster,
  windtunnelSqlite,
  windtunnelPostgres,
  windtunnelPromotion,
  windtunnelUpgrade,
];
