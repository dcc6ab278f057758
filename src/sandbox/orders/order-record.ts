import { LosslessNumber } from 'lossless-json';
import type { Scenario } from './scenario.ts';

/** A pre-order that the sandbox took. */
export interface SandboxPreOrder {
  readonly id: string;
  readonly number: number;
  readonly createdAt: Date;
  readonly externalOrderId: string;
  /** The fields of §2.6 as they were sent. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly asset: string;
  readonly scenario: Scenario;
  readonly speed: number;
}

/** An order record (§2.7). */
export type OrderRecord = NonNullable<ReturnType<typeof orderRecord>>;

/** Makes the order record (§2.7) of a pre-order at `now`; undefined while the order has not appeared. */
export function orderRecord(preOrder: SandboxPreOrder, now: Date, merchantId: string) {
  const { appearsAfterMs } = preOrder.scenario;
  if (appearsAfterMs === null) return undefined;
  const appearedAt = preOrder.createdAt.getTime() + appearsAfterMs / preOrder.speed;
  if (now.getTime() < appearedAt) return undefined;
  const progress = progressAt(preOrder, appearedAt, now.getTime());
  const amount = new LosslessNumber(preOrder.asset);
  const { currencyPair, orderType, exchangeType, cryptoAddress, paymentToken, providerType } = preOrder.fields;
  const pair = currencyPair as { fromCurrency: string; toCurrency: string };
  return {
    externalOrderId: preOrder.externalOrderId,
    merchant: { id: merchantId },
    order: {
      id: `order-${preOrder.number}`,
      number: preOrder.number,
      orderType,
      exchangeType,
      status: progress.orderStatus,
      resultMessage: null,
      submitByResident: false,
      creationDate: iso(appearedAt),
      modificationDate: iso(progress.modifiedAt),
      completionDate: progress.completedAt === null ? null : iso(progress.completedAt),
      serverDate: now.toISOString(),
      exchangeOperation: { currencyPair, inputAsset: amount, outputAsset: amount, ratio: new LosslessNumber('1') },
      cryptoTransaction: {
        currency: pair.fromCurrency,
        externalCryptoAddress: cryptoAddress ?? null,
        internalCryptoAddress: `sandbox-address-${preOrder.number}`,
        fee: new LosslessNumber('0'),
        feePaymentEnabledByClient: false,
        status: progress.cryptoStatus,
        transactionHash: progress.cryptoStatus === 'CONFIRMED' ? `sandbox-hash-${preOrder.number}` : null,
      },
      fiatTransaction: {
        currency: pair.toCurrency,
        internalToken: null,
        link: null,
        orderIdentity: null,
        paymentToken: paymentToken ?? null,
        paymentType: 'P2P',
        processingBank: null,
        providerType: providerType ?? null,
        resultMessage: null,
        status: progress.fiatStatus,
      },
    },
    percent: new LosslessNumber('0'),
    percentEnabled: false,
    reward: new LosslessNumber('0'),
  };
}

/** The part of an order that changes with time. */
function progressAt({ scenario, speed }: SandboxPreOrder, appearedAt: number, now: number) {
  const statuses = { orderStatus: 'REQUEST', cryptoStatus: 'NEW', fiatStatus: 'NEW' };
  const progress = { ...statuses, modifiedAt: appearedAt, completedAt: null as number | null };
  let at = appearedAt;
  for (const step of scenario.steps) {
    at += step.afterMs / speed;
    if (at > now) break;
    progress.orderStatus = step.orderStatus ?? progress.orderStatus;
    progress.cryptoStatus = step.cryptoStatus ?? progress.cryptoStatus;
    progress.fiatStatus = step.fiatStatus ?? progress.fiatStatus;
    progress.modifiedAt = at;
    if (step.completed !== undefined) progress.completedAt = step.completed ? at : null;
  }
  return progress;
}

function iso(ms: number): string {
  return new Date(Math.floor(ms)).toISOString();
}
