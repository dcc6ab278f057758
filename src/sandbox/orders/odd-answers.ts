import Big from 'big.js';
import { LosslessNumber } from 'lossless-json';
import { answer, type SandboxAnswer } from '../api/answer.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A way to answer that the interface does not exclude. */
export interface OddAnswers {
  /** A description for people. */
  readonly what: string;
  /** Answers a create; the pre-order is made where `isTaken` says so. */
  readonly create?: { readonly isTaken: boolean; answer(turn: number): SandboxAnswer };
  /** Answers a look-up of an order that is not there. */
  readonly absent?: (turn: number) => SandboxAnswer;
  /** Answers a look-up of an order; `older` is its record as it was before its last change. */
  readonly record?: (record: Fields, older: Fields, turn: number) => SandboxAnswer;
  /** Only the first order that is looked up is answered so. */
  readonly isOfOneOrder?: boolean;
  /** Spells the external order id in answers. */
  readonly spelling?: (externalOrderId: string) => string;
}

const PATH = '/api/v1/merchant/orders';
const ABSENT_BODIES = [null, [], {}, { order: null }];
const LONG_AGO = '2024-03-01T10:00:00.000Z';

/** The ways to answer, each a scenario of the same name. `turn` counts the answers from 0. */
export const ODD_ANSWERS = {
  spring: {
    what: 'an absent order is answered 404 as Spring does',
    absent: () => answer(404, { timestamp: LONG_AGO, status: 404, error: 'Not Found', path: PATH }),
  },
  empty404: {
    what: 'an absent order is answered 404 without a body',
    absent: () => ({ status: 404, headers: {}, body: '' }),
  },
  nulls: {
    what: 'an absent order is answered 200 with null, [], {} and {"order":null} in turn',
    absent: (turn) => answer(200, inTurn(ABSENT_BODIES, turn)),
  },
  error500: {
    what: 'one order alone is always answered 500',
    isOfOneOrder: true,
    record: () => answer(500, { timestamp: LONG_AGO, status: 500, error: 'Internal Server Error', path: PATH }),
  },
  replicas: {
    what: 'two replicas answer in turn, and one never learns of the last change',
    record: (record, older, turn) => answer(200, inTurn([record, older], turn)),
  },
  foreign: {
    what: "another merchant's order of 2024 answers, ten times the amount, completed",
    record: (record) => answer(200, foreign(record)),
  },
  normalising: {
    what: 'external order ids are answered trimmed and in upper case',
    spelling: (id) => id.trim().toUpperCase(),
  },
  blocked: {
    what: 'creates are refused with a 403: the merchant is blocked',
    create: {
      isTaken: false,
      answer: () => answer(403, { message: 'merchant blocked', code: '403', status: 'FORBIDDEN' }),
    },
  },
  'post-down': {
    what: 'creates are taken and answered 502, 503 and 504 in turn; look-ups work',
    create: {
      isTaken: true,
      answer: (turn) => ({ status: inTurn([502, 503, 504], turn), headers: {}, body: 'down' }),
    },
  },
} as const satisfies Readonly<Record<string, OddAnswers>>;

/** The name of a way to answer. */
export type OddAnswersName = keyof typeof ODD_ANSWERS;

function inTurn<Item>(items: readonly Item[], turn: number): Item {
  return items[turn % items.length] as Item;
}

function foreign(record: Fields): Fields {
  const order = record['order'] as Fields;
  const operation = order['exchangeOperation'] as Fields;
  const ten = (amount: unknown) => new LosslessNumber(new Big(String(amount)).times(10).toFixed());
  return {
    ...record,
    merchant: { id: 'another-merchant' },
    order: {
      ...order,
      id: 'order-of-another-merchant',
      status: 'COMPLETED',
      creationDate: LONG_AGO,
      modificationDate: LONG_AGO,
      completionDate: LONG_AGO,
      exchangeOperation: {
        ...operation,
        inputAsset: ten(operation['inputAsset']),
        outputAsset: ten(operation['outputAsset']),
      },
    },
  };
}
