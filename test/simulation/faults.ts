import type { HttpResponse } from '../../src/exchange/transport/http.ts';
import type { Chance } from './plan/chance.ts';

/** How a request ends for the process that sent it. */
export type Ending =
  | { readonly response: HttpResponse }
  | { readonly sent: 'never' | 'perhaps'; readonly code?: string };

/** The answer of the exchange itself, and beside it the parts of an odd answer. */
export interface Material {
  readonly status: number;
  readonly body: string;
  readonly chance: Chance;
  /** The time of the exchange. */
  readonly now: Date;
  /** Earlier records of the order, oldest first. */
  readonly records: readonly string[];
}

/** Something that happens to a request. */
export interface Fault {
  readonly of: 'create' | 'lookup' | 'both';
  /** How often the exchange does what is asked of it; 0 too if the request never arrives. */
  readonly taken: 0 | 1 | 2;
  /** The request does not reach the exchange. */
  readonly isLost?: true;
  /** No answer comes before the time for it is over. */
  readonly hangs?: true;
  end(material: Material): Ending;
}

type Body = (material: Material) => string;

const ERROR = '{"message":"as simulated","code":"0","status":"BAD_REQUEST"}';
const HTML = '<html><body>canary-answer-31</body></html>';
const STATUSES = ['COMPLETED', 'REQUEST', 'Erledigt', 'in progress', 'CANCELLED', 'IN_PROGRESS'];

const silent = (taken: 0 | 1, code: string): Fault => ({
  of: 'both',
  taken,
  ...(taken === 0 && { isLost: true }),
  end: () => ({ sent: 'perhaps', code }),
});

/** An answer whose status is one of these, whatever is asked. */
const answered = (of: Fault['of'], taken: 0 | 1 | 2, statuses: readonly number[], body: Body): Fault => ({
  of,
  taken,
  end: (material) => ({ response: { status: material.chance.of(statuses), body: body(material) } }),
});

/** The exchange's own answer with another body. */
const rewritten = (of: Fault['of'], body: Body): Fault => ({
  of,
  taken: 1,
  end: (material) => ({ response: { status: material.status, body: body(material) } }),
});

const asksToWait = (status: 429 | 503): Fault => ({
  of: 'both',
  taken: 0,
  end: ({ chance, now }) => {
    const retryAfter = retryAfterOf(chance, now);
    return { response: { status, body: '', ...(retryAfter !== undefined && { retryAfter }) } };
  },
});

/** Everything that can happen to a request, by its name in the trace. */
export const FAULTS = {
  never: { of: 'both', taken: 0, isLost: true, end: () => ({ sent: 'never', code: 'ECONNREFUSED' }) },
  'lost-before': silent(0, 'ECONNRESET'),
  'lost-after': silent(1, 'ECONNRESET'),
  'hangs-before': { ...silent(0, 'ETIMEDOUT'), hangs: true },
  'hangs-after': { ...silent(1, 'ETIMEDOUT'), hangs: true },
  'too-large': silent(1, 'TOO_LARGE'),
  doubled: { of: 'create', taken: 2, end: ({ status, body }) => ({ response: { status, body } }) },
  'server-error': answered('both', 0, [500, 502, 503, 504, 507, 520], () => 'busy'),
  'server-error-taken': answered('both', 1, [500, 502, 503, 504, 507, 520], () => ERROR),
  'rate-limited': asksToWait(429),
  'asks-to-wait': asksToWait(503),
  'key-refused': answered('both', 0, [401], ({ chance }) => chance.of([ERROR, '', HTML])),
  blocked: answered('create', 0, [403], () => ERROR),
  'lookup-forbidden': answered('lookup', 0, [403], ({ chance }) => chance.of([ERROR, HTML])),
  refused: answered('create', 0, [400, 404, 422], () => ERROR),
  'refused-without-reason': answered('both', 0, [400, 403, 404, 410, 422], ({ chance }) =>
    chance.of(['{}', '', HTML, '{"message":7}']),
  ),
  'other-refusal': answered('both', 0, [402, 405, 408, 409, 413, 418, 425, 451], ({ chance }) =>
    chance.of([ERROR, HTML]),
  ),
  'other-refusal-taken': answered('both', 1, [408, 409, 425], ({ chance }) => chance.of([ERROR, '{}'])),
  redirected: answered('both', 1, [300, 301, 302, 304, 307, 308], () => ''),
  'other-success': answered('both', 1, [200, 201, 202, 206, 299], ({ body }) => body),
  'no-content': answered('both', 1, [204, 200], () => ''),
  nothing: answered('both', 1, [200], ({ chance }) => chance.of(['null', '[]', '{}', '{"order":null}', '0', '""'])),
  html: rewritten('both', () => HTML),
  truncated: rewritten('both', ({ body, chance }) => body.slice(0, chance.below(body.length))),
  deep: rewritten('both', ({ body }) => `${'{"a":'.repeat(3_000)}${body}${'}'.repeat(3_000)}`),
  'extra-fields': rewritten('both', ({ body }) => body.replace('{', '{"new":{"order":[1,{"id":"x"}]},')),
  'huge-number': rewritten('both', ({ body }) => body.replace(/"(number|limit)":[^,]+/, '"$1":1e999999999')),
  'not-utf8': {
    of: 'both',
    taken: 1,
    end: ({ status, body }) => ({ response: { status, body: `${body}\u00ff`, isUtf8: false } }),
  },
  'other-order': rewritten('both', ({ body }) =>
    body.replace(/"externalOrderId":"(?:[^"\\]|\\.)*"/, '"externalOrderId":"?"'),
  ),
  'other-echo': rewritten('create', ({ body }) => body.replace(/"asset":/, '"asset":9')),
  'echo-of-other-types': rewritten('create', ({ body }) => body.replace(/"asset":[^,]+/, '"asset":[1]')),
  'two-ids': rewritten('create', ({ body }) => body.replace(/"id":/, '"id":"pre-0","id":')),
  'no-id': rewritten('create', ({ body }) => body.replace(/"id":"[^"]*"/, '"id":null')),
  'id-of-another': rewritten('create', ({ body }) => body.replace(/"id":"[^"]*"/, '"id":"pre-1"')),
  stale: rewritten('lookup', ({ chance, records }) => chance.of(records.length === 0 ? ['{}'] : records)),
  missing: answered('lookup', 1, [404], () => ERROR),
  'missing-otherwise': answered('lookup', 1, [404], ({ chance }) =>
    chance.of(['', HTML, '{"timestamp":"2040-01-01T00:00:00Z","status":404,"error":"Not Found"}']),
  ),
  'two-statuses': rewritten('lookup', ({ body }) => body.replace(/"status":/, '"status":"REQUEST","status":')),
  'no-status': rewritten('lookup', ({ body }) => body.replace(/"status":"[^"]*",/, '')),
  'status-of-other-type': rewritten('lookup', ({ body, chance }) =>
    body.replace(/"status":"[^"]*"/, `"status":${chance.of(['7', 'null', '{}'])}`),
  ),
  'other-types': rewritten('lookup', ({ body }) =>
    body.replace(/"creationDate":"[^"]*"/, '"creationDate":7').replace(/"percent":[^,]+/, '"percent":"much"'),
  ),
  'fields-missing': rewritten('lookup', ({ body }) =>
    body.replace(/"inputAsset":[^,]+,/, '').replace(/"merchant":\{[^}]*\},/, ''),
  ),
  'odd-completion': rewritten('lookup', ({ body, chance }) =>
    body
      .replace(/"completionDate":"[^"]*",/, '')
      .replace(
        /"serverDate"/,
        `"completionDate":${chance.of(['null', '""', '"soon"', '"2999-01-01T00:00:00Z"', '7'])},"serverDate"`,
      ),
  ),
  'odd-modification': rewritten('lookup', ({ body, chance }) =>
    body.replace(
      /"modificationDate":"[^"]*"/,
      `"modificationDate":${chance.of(['null', '""', '"2999-01-01T00:00:00Z"'])}`,
    ),
  ),
  'other-amount': rewritten('lookup', ({ body }) => body.replace(/"inputAsset":/, '"inputAsset":9')),
  'other-pair': rewritten('lookup', ({ body }) => body.replace(/"toCurrency":"[^"]*"/, '"toCurrency":"USD"')),
  'other-type': rewritten('lookup', ({ body }) => body.replace(/"orderType":"[^"]*"/, '"orderType":"OTHER"')),
  'other-merchant': rewritten('lookup', ({ body }) =>
    body.replace(/"merchant":\{[^}]*\}/, '"merchant":{"id":"other"}'),
  ),
  'older-order': rewritten('lookup', ({ body }) =>
    body.replace(/"creationDate":"[^"]*"/, '"creationDate":"2024-03-01T10:00:00.000Z"'),
  ),
  'order-of-another': rewritten('lookup', ({ body }) => body.replace(/"id":"order-[^"]*"/, '"id":"order-1"')),
  'other-status': rewritten('lookup', ({ body, chance }) =>
    body.replace(/"status":"[^"]*"/, `"status":"${chance.of(STATUSES)}"`),
  ),
} as const satisfies Readonly<Record<string, Fault>>;

/** The name of a fault. */
export type FaultName = keyof typeof FAULTS;

/** The names of the faults that can happen to a request of a kind. */
export function faultsOf(kind: 'create' | 'lookup'): FaultName[] {
  return (Object.keys(FAULTS) as FaultName[]).filter((name) => FAULTS[name].of === 'both' || FAULTS[name].of === kind);
}

/** Retry-After in every form: seconds, a date, negative, absurd, unreadable, none. */
function retryAfterOf(chance: Chance, now: Date): string | undefined {
  const date = (ms: number) => new Date(now.getTime() + ms).toUTCString();
  return chance.of([
    undefined,
    undefined,
    '0',
    '1',
    '1.5',
    '60',
    '60',
    ' 120 ',
    '3600',
    '-5',
    'soon',
    '',
    '99999999999999999999',
    date(30_000),
    date(600_000),
    date(-60_000),
  ]);
}
