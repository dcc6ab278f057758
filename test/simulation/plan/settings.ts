import type { AbsenceShape } from '../../../src/orders/rules/lookup.ts';
import type { ContradictionKind } from '../../../src/orders/rules/contradictions.ts';
import type { AssetLimit } from '../../../src/extensions/guard/create-window.ts';
import type { SqliteConfig } from '../../support/test-program.ts';
import { DAY, HOUR, MINUTE, SECOND, type Chance } from './chance.ts';
import { keyOf } from './names.ts';

/** The settings that a seed puts in force: each that changes what is done. Times in milliseconds. */
export interface PlannedSettings {
  readonly concurrency: number;
  readonly rate: { readonly requests: number; readonly interval: number; readonly mode: 'proved' | 'paced' };
  readonly absence: readonly AbsenceShape[];
  readonly outputPosition: 'inputAsset' | 'outputAsset' | undefined;
  readonly onUnknown: 'hold' | 'resend';
  readonly verifyAfter: readonly number[] | undefined;
  readonly refusedBy: 'documented' | 'status';
  readonly pauseAfterUnknown: number;
  readonly finalStatuses: readonly string[];
  readonly openStatuses: readonly string[];
  readonly succeededStatuses: readonly string[];
  readonly disputedBy: readonly ContradictionKind[];
  readonly recheckFinalAfter: readonly number[] | undefined;
  readonly giveUpAfter: number | undefined;
  readonly worth: number;
  readonly share: number;
  readonly createsPerHour: number | undefined;
  readonly assetPerHour: readonly AssetLimit[];
}

/** An account and its settings; those of one group share a limit of the rate. */
interface PlannedAccount {
  readonly account: string;
  readonly settings: PlannedSettings;
  readonly rateGroup: string | undefined;
}

const ALL_KINDS: readonly ContradictionKind[] = ['merchant', 'age', 'pair', 'type', 'amount', 'id'];
const ABSENCE: readonly (readonly AbsenceShape[])[] = [
  [{ status: 404 }],
  [{ status: 204 }],
  [{ status: 200, pointer: '', value: 'null' }],
  [
    { status: 200, pointer: '', value: '{}' },
    { status: 200, pointer: '', value: '[]' },
  ],
];
/** No single order is above it, and not all of them together are below. */
const ASSET_LIMIT: AssetLimit = { from: 'BTC', to: 'EUR', currency: 'BTC', asset: '20000000000000000' };

/** The settings of a seed: mostly the defaults, and a few that differ. */
export function planSettings(chance: Chance): PlannedSettings {
  const now = <Value>(share: number, other: () => Value, usual: Value): Value =>
    chance.next() < share ? other() : usual;
  const isGuarded = chance.next() < 0.15;
  return {
    concurrency: 1 + chance.below(6),
    rate: {
      requests: 1 + chance.below(8),
      interval: chance.of([200, SECOND, 2 * SECOND, MINUTE]),
      mode: now(0.15, () => 'paced', 'proved'),
    },
    absence: now(0.25, () => chance.of(ABSENCE), []),
    outputPosition: now(0.3, () => chance.of(['inputAsset', 'outputAsset']), undefined),
    onUnknown: now(0.2, () => 'resend', 'hold'),
    verifyAfter: now(
      0.3,
      () => chance.of([[5 * SECOND, MINUTE], [SECOND], [SECOND, 2 * MINUTE, 11 * MINUTE, HOUR]]),
      undefined,
    ),
    refusedBy: now(0.2, () => 'status', 'documented'),
    pauseAfterUnknown: chance.of([1, 2, 5, 10, 10]),
    finalStatuses: now(0.3, () => chance.of([['COMPLETED'], ['COMPLETED', 'REJECTED', 'CANCELLED']]), []),
    openStatuses: now(0.3, () => chance.of([[], ['REQUEST', 'IN_PROGRESS', 'WAITING']]), ['REQUEST']),
    succeededStatuses: now(0.3, () => ['COMPLETED'], []),
    disputedBy: now(0.2, () => ALL_KINDS.filter(() => chance.next() < 0.5), ALL_KINDS),
    recheckFinalAfter: now(0.3, () => chance.of([[], [10 * MINUTE], [0, HOUR, DAY]]), undefined),
    giveUpAfter: now(0.25, () => chance.of([10 * MINUTE, 2 * HOUR, DAY]), undefined),
    // Worlds last for days: with the default they would be mostly look-ups of orders that never end.
    worth: now(0.25, () => 5 * MINUTE, 30 * SECOND),
    share: chance.of([0.1, 0.5, 0.5, 1]),
    createsPerHour: isGuarded && chance.next() < 0.6 ? 2 + chance.below(4) : undefined,
    assetPerHour: isGuarded && chance.next() < 0.6 ? [ASSET_LIMIT] : [],
  };
}

/** The settings of a file with those of a seed for each of its accounts; the first has the general ones. */
export function withSettings(config: SqliteConfig, accounts: readonly PlannedAccount[]): SqliteConfig {
  const [usual] = config.accounts;
  if (usual === undefined) throw new Error('the settings have no account');
  const planned = accounts.map(({ account: name, settings, rateGroup }) => {
    const its = settingsOf(usual, settings);
    return { ...usual, ...its, name, rateGroup, exchange: { ...its.exchange, apiKey: keyOf(name) } };
  });
  const { name: _name, rateGroup: _group, ...general } = planned[0] ?? usual;
  return { ...config, ...general, accounts: planned };
}

function settingsOf(config: Pick<SqliteConfig, 'create' | 'follow' | 'exchange'>, planned: PlannedSettings) {
  const { concurrency, rate, absence, outputPosition, onUnknown, verifyAfter, refusedBy, pauseAfterUnknown } = planned;
  const { createsPerHour, assetPerHour, recheckFinalAfter, ...follow } = followOf(planned);
  return {
    create: {
      ...config.create,
      onUnknown,
      refusedBy,
      pauseAfterUnknown,
      ...(verifyAfter && { verifyAfter }),
    },
    follow: { ...config.follow, ...follow, ...(recheckFinalAfter && { recheckFinalAfter }) },
    guard: { createsPerHour, assetPerHour },
    exchange: { ...config.exchange, concurrency, absence, outputPosition, rate: { ...config.exchange.rate, ...rate } },
  };
}

function followOf(planned: PlannedSettings) {
  const { finalStatuses, openStatuses, succeededStatuses, disputedBy, recheckFinalAfter, giveUpAfter } = planned;
  const { worth, share, createsPerHour, assetPerHour } = planned;
  const statuses = { finalStatuses, openStatuses, succeededStatuses };
  return { ...statuses, disputedBy, recheckFinalAfter, giveUpAfter, worth, share, createsPerHour, assetPerHour };
}
