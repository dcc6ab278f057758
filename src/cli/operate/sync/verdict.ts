import { REFUSALS } from '../../../domain/accounts/holds.ts';
import { accountWords } from '../../../domain/accounts/name.ts';
import type { SyncEnd, SyncResult, SyncSummary } from '../../../flows/orders/sync.ts';
import type { Tone } from '../../../reports/formats/document.ts';
import { withCommas } from '../../../reports/formats/words.ts';
import { problem, worstFirst } from '../../../reports/status/problem.ts';
import { countedProblems, holdProblems } from '../../../reports/status/problems.ts';

const TONES: Readonly<Record<SyncEnd, Tone>> = {
  done: 'good',
  look: 'warning',
  'out-of-reach': 'error',
  'out-of-time': 'warning',
  'key-refused': 'error',
};
/** Counts of the pass alone, that are no problem of the account: their names, and the command that shows them. */
const OF_PASS: readonly (readonly [keyof SyncSummary, singular: string, plural: string, command: string])[] = [
  ['findings', 'open finding', 'open findings', 'order-sync findings list'],
  ['rejected', 'order was rejected', 'orders were rejected', 'order-sync orders list --state rejected'],
  ['invalid', 'order is invalid', 'orders are invalid', 'order-sync orders list --state invalid'],
  ['failed', 'request failed', 'requests failed', 'order-sync sync'],
];

/** What a pass came to, in one line, and how that is to a person. */
export interface SyncVerdict {
  readonly tone: Tone;
  readonly text: string;
}

/** The pass that a verdict is of. */
interface Pass {
  readonly account: string;
  readonly isStopped: boolean;
  readonly requests: number | undefined;
}

/** What a pass came to, in one line with the command that goes on from there. `requests` are those that it had before it. */
export function verdictOf(result: SyncResult, pass: Pass): SyncVerdict {
  return { tone: TONES[result.end], text: textOf(result, pass) };
}

function textOf(result: SyncResult, { account, isStopped, requests = 0 }: Pass): string {
  const { end, summary, holds } = result;
  const again = `order-sync sync${accountWords(account)}`;
  switch (end) {
    case 'done':
      return `all is well: ${[didText(summary), ...waitText(summary)].join('; ')}`;
    case 'look':
      return `a person should look: ${lookText(result, account)}`;
    case 'out-of-reach':
      return [
        holds.length > 0 ? 'the account is held back' : 'the exchange is out of reach',
        ...waitText(summary),
        `${again} tries again`,
      ].join('; ');
    case 'out-of-time': {
      const why = isStopped ? 'stopped before the end' : 'the time ran out before the end';
      const how = isStopped ? `${again} goes on` : `${again} goes on, --timeout gives it longer`;
      const left = requests - summary.sent - summary.invalid - summary.lookedUp;
      const leftText = left <= 0 ? [] : [`about ${withCommas(left)} requests left`];
      return [`${why}: ${didText(summary)}`, ...waitText(summary), ...leftText, how].join('; ');
    }
    case 'key-refused':
      return [REFUSALS['key-refused'], problem('key-refused', '').remedy, ...waitText(summary)].join('; ');
  }
}

function didText({ sent, lookedUp, changed }: SyncSummary): string {
  const did = Object.entries({ sent, 'looked up': lookedUp, changed }).filter(([, count]) => count > 0);
  return did.length === 0
    ? 'there was nothing to do'
    : did.map(([what, count]) => `${withCommas(count)} ${what}`).join(', ');
}

function waitText({ remaining }: SyncSummary): readonly string[] {
  if (remaining === 0) return [];
  return [remaining === 1 ? '1 order waits to be sent' : `${withCommas(remaining)} orders wait to be sent`];
}

/** Names the problems that `status` would name, then what is of this pass alone, and the command that helps with the worst. */
function lookText({ summary, holds }: SyncResult, account: string): string {
  const group = [{ account, since: null }];
  const problems = worstFirst([
    ...(['disputed', 'held', 'unknown'] as const).flatMap((state) => countedProblems(state, summary[state], group)),
    ...holdProblems(
      holds.map((hold) => ({ account, ...hold })),
      account,
    ),
  ]);
  const ofPass = OF_PASS.filter(([name]) => summary[name] > 0);
  const texts = [
    ...problems.map(({ text }) => text),
    ...ofPass.map(
      ([name, singular, plural]) => `${withCommas(summary[name])} ${summary[name] === 1 ? singular : plural}`,
    ),
    // The exchange asked to wait, or a finding of this pass was acknowledged meanwhile.
    ...(holds.some(({ kind }) => kind === 'rate-limited') ? [REFUSALS['rate-limited']] : []),
  ];
  const [worst] = problems;
  const command = ofPass[0]?.[3] ?? 'order-sync findings list --status any';
  const remedy =
    worst?.remedy ?? (holds.length > 0 && ofPass.length === 0 ? undefined : `${command}${accountWords(account)}`);
  return [texts.join(', '), remedy].filter(Boolean).join('; ');
}
