import {
  allOf,
  answered,
  COMPARISONS,
  CONTRADICTION_KINDS,
  differing,
  OTHER_TOKEN,
  SKEW_LIMIT_MS,
  type Compared,
  type ComparedRecord,
  type ContradictionKind,
} from '../../orders/rules/contradictions.ts';
import { isSameCurrency, isWithin, readDecimal, sameDecimal, type AmountSettings } from '../../base/decimal.ts';
import type { FindingClassName } from './classes.ts';
import { instant, instantMs } from '../../base/instant.ts';
import type { KnownFinding, ReconcileSettings, RecordContext } from './finding.ts';
import type { Difference, RecordView } from '../../orders/rules/record.ts';

const DOCUMENTED = 'REQUEST';
const NOT_BEGUN = 'NEW';
/** Fields that must not change without a new modification date. A changed fee or hash is a finding of another class. */
const WATCHED = [
  'orderStatus',
  'cryptoStatus',
  'fiatStatus',
  'creationDate',
  'completionDate',
  'inputAsset',
  'outputAsset',
  'ratio',
] as const;
const TERMS = ['percent', 'percentEnabled', 'reward', 'fee'] as const;

const CLASS_OF = {
  id: 'IDENTITY_MISMATCH',
  merchant: 'MERCHANT_MISMATCH',
  age: 'ID_COLLISION',
  pair: 'PAIR_MISMATCH',
  amount: 'AMOUNT_MISMATCH',
  type: 'TYPE_MISMATCH',
} as const satisfies Record<ContradictionKind, FindingClassName>;

/** Returns the contradictions of a record; undefined if a value is missing, so that earlier findings stay. */
export type Rule = (context: RecordContext, settings: ReconcileSettings) => Compared;

/** The rules, in the order of their findings. A contradiction is a finding even if it does not dispute the order. */
export const RULES = {
  IDENTITY_MISMATCH: COMPARISONS.id,
  MERCHANT_MISMATCH: COMPARISONS.merchant,
  ID_COLLISION: COMPARISONS.age,

  UNEXPECTED_ORDER({ stateBefore, state, isExpected, record, earlier }) {
    const wasEnded = stateBefore === 'rejected' || stateBefore === 'cancelled' || stateBefore === 'abandoned';
    const isTakenUp = wasEnded && state !== stateBefore;
    if (!isTakenUp && (isExpected || earlier !== null)) return [];
    return [{ expected: `no order: ${isExpected ? stateBefore : 'never sent'}`, actual: record.orderId }];
  },

  /** The finding contains the date, so that each reopening is a finding of its own. */
  TERMINAL_REOPENED({ stateBefore, state, record, earlier }) {
    if (stateBefore !== 'final' || state !== 'open') return [];
    const actual = `open as ${record.orderStatus}, modified ${record.modificationDate ?? 'at no time'}`;
    return [{ expected: `final as ${earlier?.orderStatus ?? 'before'}`, actual }];
  },

  ORDER_REPLACED: replaced,

  ORDER_REUSED({ record, orderUsedBy }) {
    return orderUsedBy === null ? [] : [shared(record.orderId, orderUsedBy)];
  },

  PAIR_MISMATCH: COMPARISONS.pair,
  AMOUNT_MISMATCH: COMPARISONS.amount,

  /** The interface does not say which way the ratio is meant, so both ways are accepted. */
  RATE_INCONSISTENT({ record }, { tolerance }) {
    const [input, output] = [readDecimal(record.inputAsset), readDecimal(record.outputAsset)];
    const ratio = readDecimal(record.ratio);
    if (!input.ok || !output.ok || !ratio.ok) return undefined;
    const agrees =
      isWithin(input.value.times(ratio.value), output.value, tolerance, record.toCurrency) ||
      isWithin(output.value.times(ratio.value), input.value, tolerance, record.fromCurrency);
    return agrees ? [] : [{ expected: `${input.text} at ${ratio.text}`, actual: output.text }];
  },

  TYPE_MISMATCH: COMPARISONS.type,

  LEG_CURRENCY_MISMATCH({ order, record: { cryptoCurrency, fiatCurrency } }) {
    if (cryptoCurrency === null || fiatCurrency === null) return undefined;
    const [from, to] = [order.fromCurrency, order.toCurrency];
    const areLegsOf = (first: string, second: string) => isSameCurrency(from, first) && isSameCurrency(to, second);
    if (areLegsOf(cryptoCurrency, fiatCurrency) || areLegsOf(fiatCurrency, cryptoCurrency)) return [];
    const named = (...pair: string[]) => pair.toSorted().join(', ');
    return [{ expected: named(from, to), actual: named(cryptoCurrency, fiatCurrency) }];
  },

  ADDRESS_MISMATCH: ({ order, record }) => answered(order.cryptoAddress, record.externalCryptoAddress),

  /** Finds each change of an address when it happens. A change of the external address to ours is no finding. */
  ADDRESS_CHANGED({ order, record, earlier }) {
    const { externalCryptoAddress: external, internalCryptoAddress: internal } = record;
    const isOurs = external === order.cryptoAddress;
    return [
      ...((isOurs ? [] : answered(earlier?.externalCryptoAddress ?? null, external)) ?? []),
      ...differingOnceGiven(earlier?.internalCryptoAddress, internal),
    ];
  },

  PAYMENT_ROUTE_MISMATCH({ order, record }) {
    const token = answered(order.paymentToken, record.paymentToken)?.map(() => OTHER_TOKEN);
    return allOf(answered(order.providerType, record.providerType), token);
  },

  TX_HASH_CHANGED({ record, earlier }) {
    return differingOnceGiven(earlier?.transactionHash, record.transactionHash);
  },

  TX_HASH_REUSED({ record, hashUsedBy }) {
    if (record.transactionHash === null) return undefined;
    return hashUsedBy === null ? [] : [shared(record.transactionHash, hashUsedBy)];
  },

  STATUS_UNMAPPED({ record: { orderStatus } }, { finalStatuses, openStatuses }) {
    // Without this condition, every status would be a finding if the settings name no final status.
    const isKnown = finalStatuses.length === 0 || [DOCUMENTED, ...finalStatuses, ...openStatuses].includes(orderStatus);
    return isKnown ? [] : [{ expected: 'a status of the settings', actual: orderStatus }];
  },

  LEG_CONFLICT({ state, record: { cryptoStatus, fiatStatus } }) {
    if (state !== 'final') return [];
    if (cryptoStatus === null || fiatStatus === null) return undefined;
    if ((cryptoStatus !== NOT_BEGUN) === (fiatStatus !== NOT_BEGUN)) return [];
    return [{ expected: 'both transactions begun, or none', actual: `crypto ${cryptoStatus}, fiat ${fiatStatus}` }];
  },

  COMPLETION_INCONSISTENT({ record }, { openStatuses }) {
    const { creationDate, modificationDate, completionDate, serverDate } = record;
    const [created, modified, completed, server] = [creationDate, modificationDate, completionDate, serverDate].map(
      instantMs,
    );
    const isBefore = (left = Number.NaN, right = Number.NaN) => left < right;
    const contradictions = [
      isBefore(completed, created) && `completed ${completionDate} before created ${creationDate}`,
      isBefore(modified, created) && `modified ${modificationDate} before created ${creationDate}`,
      isBefore(server, modified) && `modified ${modificationDate} after serverDate ${serverDate}`,
      isBefore(server, created) && `created ${creationDate} after serverDate ${serverDate}`,
      completed !== undefined &&
        !isBefore(server, completed) &&
        openStatuses.includes(record.orderStatus) &&
        `completed ${completionDate} with the open status ${record.orderStatus}`,
    ].filter((text) => text !== false);
    // An order that is not completed has no completion date.
    const isCompletionGiven = completed !== undefined || completionDate === null;
    const isGiven = created !== undefined && modified !== undefined && server !== undefined && isCompletionGiven;
    const found = contradictions.map((actual) => ({ expected: 'dates that agree', actual }));
    return allOf(found, isGiven ? [] : undefined);
  },

  SILENT_CHANGE({ record, earlier }) {
    if (earlier === null || !isSameDate(earlier.modificationDate, record.modificationDate)) return [];
    return changesOf(WATCHED, earlier, record);
  },

  TERMS_CHANGED({ record, earlier }) {
    if (earlier === null) return [];
    const given = TERMS.filter((field) => earlier[field] !== null);
    return changesOf(given, earlier, record);
  },

  CLOCK_SKEW({ record, receivedAt }) {
    const serverMs = instantMs(record.serverDate);
    if (serverMs === undefined) return undefined;
    const skewMs = serverMs - receivedAt.getTime();
    if (Math.abs(skewMs) <= SKEW_LIMIT_MS) return [];
    return [{ expected: 'clocks that agree', actual: `the exchange is ${describeSkew(skewMs)}` }];
  },
} as const satisfies Partial<Record<FindingClassName, Rule>>;

/** Returns the contradictions of earlier findings that this record cannot judge, because it lacks a value. */
export function contradictionsBefore(newest: ComparedRecord, known: readonly KnownFinding[], settings: AmountSettings) {
  const unjudged = CONTRADICTION_KINDS.filter((kind) => COMPARISONS[kind](newest, settings) === undefined);
  const open = known.filter(({ status }) => status !== 'resolved');
  return unjudged.flatMap((kind) =>
    open
      .filter((finding) => finding.class === CLASS_OF[kind])
      .map(({ expected, actual }) => ({ kind, expected, actual })),
  );
}

/** Compares the order's id and number in two records. The received `record` may be older than `earlier`. */
export function replaced({ record, earlier }: Pick<RecordContext, 'record' | 'earlier'>): readonly Difference[] {
  if (earlier === null) return [];
  const name = ({ orderId, orderNumber }: RecordView) => `id ${orderId}, number ${orderNumber ?? 'none'}`;
  return differing(name(earlier), name(record));
}

export function shared(value: string, other: string): Difference {
  return { expected: `${value} for this order only`, actual: `${value} for ${other} too` };
}

/** Rounds to hours, so that an acknowledged finding keeps its values while the clocks stay as they are. */
function describeSkew(skewMs: number): string {
  const hours = Math.round(Math.abs(skewMs) / (60 * 60_000));
  return `${hours === 0 ? 'less than an hour' : `about ${hours} h`} ${skewMs < 0 ? 'behind' : 'ahead'}`;
}

function differingOnceGiven(before: string | null | undefined, actual: string | null): readonly Difference[] {
  return before === null || before === undefined ? [] : differing(before, actual);
}

/** True if the dates are the same text or the same moment; false without an earlier date. */
function isSameDate(left: string | null, right: string | null): boolean {
  if (left === null) return false;
  return left === right || (instant(left) !== undefined && instant(left) === instant(right));
}

function changesOf<Field extends keyof RecordView>(fields: readonly Field[], earlier: RecordView, record: RecordView) {
  const isSame = (field: Field) => earlier[field] === record[field] || sameDecimal(earlier[field], record[field]);
  const changed = fields.filter((field) => !isSame(field));
  return changed.map((field) => ({ expected: `${field} ${earlier[field]}`, actual: `${field} ${record[field]}` }));
}
