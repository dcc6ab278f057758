import {
  COMPARISONS,
  CONTRADICTION_KINDS,
  SKEW_LIMIT_MS,
  type ComparedRecord,
  type Contradiction,
  type ContradictionKind,
} from '../../orders/rules/contradictions.ts';
import { isSameCurrency, isWithin, readDecimal, sameDecimal, type AmountSettings } from '../../base/decimal.ts';
import type { FindingClassName } from './classes.ts';
import { instant, instantMs } from '../../base/instant.ts';
import {
  differs,
  found,
  type Finding,
  type KnownFinding,
  type ReconcileSettings,
  type RecordContext,
} from './finding.ts';
import type { RecordView } from '../../orders/rules/record.ts';

const DOCUMENTED = 'REQUEST';
const NOT_BEGUN = 'NEW';

/** The findings of a rule; undefined if the rule lacks something: then it says nothing, not that all is well. */
type Judged = readonly Finding[] | undefined;
export type Rule = (context: RecordContext, settings: ReconcileSettings) => Judged;

const CLASS_OF = {
  id: 'IDENTITY_MISMATCH',
  merchant: 'MERCHANT_MISMATCH',
  age: 'ID_COLLISION',
  pair: 'PAIR_MISMATCH',
  amount: 'AMOUNT_MISMATCH',
  type: 'TYPE_MISMATCH',
} as const satisfies Record<ContradictionKind, FindingClassName>;

export const RULES: readonly (readonly [FindingClassName, Rule])[] = [
  contradiction('id'),
  contradiction('merchant'),
  contradiction('age'),
  ['UNEXPECTED_ORDER', unexpected],
  ['TERMINAL_REOPENED', reopened],
  ['ORDER_REPLACED', replaced],
  ['ORDER_REUSED', orderReused],
  contradiction('pair'),
  contradiction('amount'),
  ['RATE_INCONSISTENT', rate],
  contradiction('type'),
  ['LEG_CURRENCY_MISMATCH', legCurrencies],
  ['ADDRESS_MISMATCH', addressOfRow],
  ['ADDRESS_CHANGED', addresses],
  ['PAYMENT_ROUTE_MISMATCH', paymentRoute],
  ['TX_HASH_CHANGED', hashChanged],
  ['TX_HASH_REUSED', hashReused],
  ['STATUS_UNMAPPED', statuses],
  ['LEG_CONFLICT', legConflict],
  ['COMPLETION_INCONSISTENT', completion],
  ['SILENT_CHANGE', silentChange],
  ['TERMS_CHANGED', terms],
  ['CLOCK_SKEW', clockSkew],
];

/** A contradiction is a finding whether it makes the order disputed or not. */
function contradiction(kind: ContradictionKind): readonly [FindingClassName, Rule] {
  const name = CLASS_OF[kind];
  const rule: Rule = (context, settings) =>
    COMPARISONS[kind](context, settings)?.map(({ expected, actual }) => found(name, expected, actual));
  return [name, rule];
}

/** Earlier contradictions that this record cannot judge: a lacking field does not show that the order is ours. */
export function contradictionsBefore(
  compared: ComparedRecord,
  known: readonly KnownFinding[],
  settings: AmountSettings,
): readonly Contradiction[] {
  const unjudged = CONTRADICTION_KINDS.filter((kind) => COMPARISONS[kind](compared, settings) === undefined);
  const open = known.filter(({ status }) => status !== 'resolved');
  return unjudged.flatMap((kind) =>
    open
      .filter((finding) => finding.class === CLASS_OF[kind])
      .map(({ expected, actual }) => ({ kind, expected, actual })),
  );
}

function unexpected({ stateBefore, state, isExpected, record, earlier }: RecordContext): readonly Finding[] {
  const wasEnded = stateBefore === 'rejected' || stateBefore === 'cancelled' || stateBefore === 'abandoned';
  const isTakenUp = wasEnded && state !== stateBefore;
  if (!isTakenUp && (isExpected || earlier !== null)) return [];
  return [found('UNEXPECTED_ORDER', `no order: ${isExpected ? stateBefore : 'never sent'}`, record.orderId)];
}

/** The finding bears the date, so that each reopening is a finding of its own. */
function reopened({ stateBefore, state, record, earlier }: RecordContext): readonly Finding[] {
  if (stateBefore !== 'final' || state !== 'open') return [];
  const actual = `open as ${record.orderStatus}, modified ${record.modificationDate ?? 'at no time'}`;
  return [found('TERMINAL_REOPENED', `final as ${earlier?.orderStatus ?? 'before'}`, actual)];
}

/** Finds that another order answers now. Applies to a record that is older than ours, too. */
export function replaced({ record, earlier }: Pick<RecordContext, 'record' | 'earlier'>): readonly Finding[] {
  if (earlier === null) return [];
  const name = ({ orderId, orderNumber }: RecordView) => `id ${orderId}, number ${orderNumber ?? 'none'}`;
  return differs('ORDER_REPLACED', name(earlier), name(record));
}

function orderReused({ record, orderUsedBy }: RecordContext): readonly Finding[] {
  return orderUsedBy === null ? [] : [sharedWith('ORDER_REUSED', record.orderId, orderUsedBy)];
}

/** A value that only one order may have, and that another one has too. */
export function sharedWith(name: FindingClassName, value: string, other: string): Finding {
  return found(name, `${value} for this order only`, `${value} for ${other} too`);
}

/** The interface does not say which way the ratio is meant, so both ways are accepted. */
function rate({ record }: RecordContext, { tolerance }: ReconcileSettings): Judged {
  const [input, output, ratio] = [
    readDecimal(record.inputAsset),
    readDecimal(record.outputAsset),
    readDecimal(record.ratio),
  ];
  if (!input.ok || !output.ok || !ratio.ok) return undefined;
  const agrees =
    isWithin(input.value.times(ratio.value), output.value, tolerance, record.toCurrency) ||
    isWithin(output.value.times(ratio.value), input.value, tolerance, record.fromCurrency);
  return agrees ? [] : [found('RATE_INCONSISTENT', `${input.text} at ${ratio.text}`, output.text)];
}

function legCurrencies({ order, record }: RecordContext): Judged {
  const { cryptoCurrency, fiatCurrency } = record;
  if (cryptoCurrency === null || fiatCurrency === null) return undefined;
  const [from, to] = [order.fromCurrency, order.toCurrency];
  const areLegsOf = (first: string, second: string) => isSameCurrency(from, first) && isSameCurrency(to, second);
  if (areLegsOf(cryptoCurrency, fiatCurrency) || areLegsOf(fiatCurrency, cryptoCurrency)) return [];
  const [expected, actual] = [
    [from, to],
    [cryptoCurrency, fiatCurrency],
  ].map((pair) => pair.toSorted().join(', '));
  return [found('LEG_CURRENCY_MISMATCH', expected ?? null, actual ?? null)];
}

function addressOfRow({ order, record }: RecordContext): Judged {
  if (order.cryptoAddress !== null && record.externalCryptoAddress === null) return undefined;
  return differsWhereGiven('ADDRESS_MISMATCH', order.cryptoAddress, record.externalCryptoAddress);
}

/** Finds each change of an address once, because it may change again. A change back to our address is no finding. */
function addresses({ order, record, earlier }: RecordContext): readonly Finding[] {
  const { externalCryptoAddress: external, internalCryptoAddress: internal } = record;
  const before = earlier?.internalCryptoAddress ?? null;
  const isOurs = external === order.cryptoAddress;
  return [
    ...(isOurs ? [] : differsWhereGiven('ADDRESS_CHANGED', earlier?.externalCryptoAddress ?? null, external)),
    ...(before === null ? [] : differs('ADDRESS_CHANGED', before, internal)),
  ];
}

function paymentRoute({ order, record }: RecordContext): Judged {
  const isLacking = (['paymentToken', 'providerType'] as const).some(
    (field) => order[field] !== null && record[field] === null,
  );
  const otherToken = differsWhereGiven('PAYMENT_ROUTE_MISMATCH', order.paymentToken, record.paymentToken);
  return unlessLacking(!isLacking, [
    ...differsWhereGiven('PAYMENT_ROUTE_MISMATCH', order.providerType, record.providerType),
    ...otherToken.map(({ class: name }) => found(name, 'paymentToken (not shown)', 'another paymentToken')),
  ]);
}

function hashChanged({ record, earlier }: RecordContext): readonly Finding[] {
  const before = earlier?.transactionHash ?? null;
  return before === null ? [] : differs('TX_HASH_CHANGED', before, record.transactionHash);
}

function hashReused({ record, hashUsedBy }: RecordContext): Judged {
  if (record.transactionHash === null) return undefined;
  return hashUsedBy === null ? [] : [sharedWith('TX_HASH_REUSED', record.transactionHash, hashUsedBy)];
}

function statuses({ record }: RecordContext, settings: ReconcileSettings): readonly Finding[] {
  const known: readonly string[] = [DOCUMENTED, ...settings.finalStatuses, ...settings.openStatuses];
  // While no status is mapped, every status would be a finding.
  const isMapped = settings.finalStatuses.length > 0;
  if (!isMapped || known.includes(record.orderStatus)) return [];
  return [found('STATUS_UNMAPPED', 'a status of the settings', record.orderStatus)];
}

function legConflict({ state, record }: RecordContext): Judged {
  const { cryptoStatus, fiatStatus } = record;
  if (state !== 'final') return [];
  if (cryptoStatus === null || fiatStatus === null) return undefined;
  const hasCryptoBegun = cryptoStatus !== NOT_BEGUN;
  if (hasCryptoBegun === (fiatStatus !== NOT_BEGUN)) return [];
  return [found('LEG_CONFLICT', 'both transactions begun, or none', `crypto ${cryptoStatus}, fiat ${fiatStatus}`)];
}

function completion({ record }: RecordContext, { openStatuses }: ReconcileSettings): Judged {
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
  return unlessLacking(
    isGiven,
    contradictions.map((text) => found('COMPLETION_INCONSISTENT', 'dates that agree', text)),
  );
}

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

function silentChange({ record, earlier }: RecordContext): readonly Finding[] {
  if (earlier === null || !isSameDate(earlier.modificationDate, record.modificationDate)) return [];
  const changed = WATCHED.filter((field) => !isSame(earlier[field], record[field]));
  return changed.map((field) => found('SILENT_CHANGE', `${field} ${earlier[field]}`, `${field} ${record[field]}`));
}

function terms({ record, earlier }: RecordContext): readonly Finding[] {
  if (earlier === null) return [];
  const fields = ['percent', 'percentEnabled', 'reward', 'fee'] as const;
  return fields
    .filter((field) => earlier[field] !== null && !isSame(earlier[field], record[field]))
    .map((field) => found('TERMS_CHANGED', `${field} ${earlier[field]}`, `${field} ${record[field]}`));
}

function clockSkew({ record, receivedAt }: RecordContext): Judged {
  const serverMs = instantMs(record.serverDate);
  if (serverMs === undefined) return undefined;
  if (Math.abs(serverMs - receivedAt.getTime()) <= SKEW_LIMIT_MS) return [];
  return [found('CLOCK_SKEW', 'clocks that agree', `the exchange is ${describeSkew(serverMs - receivedAt.getTime())}`)];
}

/** Rounded, so that an acknowledged finding keeps its values while the clocks stay as they are. */
function describeSkew(skewMs: number): string {
  const hours = Math.round(Math.abs(skewMs) / (60 * 60_000));
  return `${hours === 0 ? 'less than an hour' : `about ${hours} h`} ${skewMs < 0 ? 'behind' : 'ahead'}`;
}

function differsWhereGiven(name: FindingClassName, expected: string | null, actual: string | null): readonly Finding[] {
  return expected === null || actual === null ? [] : differs(name, expected, actual);
}

/** Findings of a rule that could not see all it needs are valid, but no findings do not mean that all is well. */
function unlessLacking(isGiven: boolean, findings: readonly Finding[]): Judged {
  return isGiven || findings.length > 0 ? findings : undefined;
}

/** Two dates are the same when they are the same moment, or the same text if they are no dates. */
function isSameDate(left: string | null, right: string | null): boolean {
  if (left === null) return false;
  return left === right || (instant(left) !== undefined && instant(left) === instant(right));
}

function isSame(left: string | null, right: string | null): boolean {
  return left === right || sameDecimal(left, right);
}
