import { REFUSALS } from '../../../accounts/rules/restraints.ts';
import type { SyncResult, SyncSummary } from '../../../orders/sync.ts';
import { withCommas } from '../../../base/words.ts';
import { worstFirst, countedProblems, holdProblems, keyRemedy } from '../../commands/problem.ts';
import { accountWords } from '../../../accounts/rules/name.ts';
import type { FinishedPass } from '../../../cli/extension.ts';

/** Counts of a pass that no `Problem` reports: the words for each count, and the command that helps. */
const OF_PASS: readonly (readonly [keyof SyncSummary, singular: string, plural: string, command: string])[] = [
  ['findings', 'open finding', 'open findings', 'order-sync findings list'],
  ['rejected', 'order was rejected', 'orders were rejected', 'order-sync orders list --state rejected'],
  ['failed', 'request failed', 'requests failed', 'order-sync sync'],
];

/** Returns a sentence that says how a pass of `sync` ended, and which command helps. */
export function syncVerdict(result: SyncResult, pass: FinishedPass): string {
  const { account, keyPlaceOf, isStopped, requests = 0 } = pass;
  const { end, summary, holds } = result;
  const again = `order-sync sync${accountWords(account)}`;
  switch (end) {
    case 'done':
      return `all is well: ${[didText(summary), ...waitText(summary)].join('; ')}`;
    case 'look':
      return `a person should look: ${lookText(result, account)}`;
    case 'out-of-reach':
      return [
        holds.length > 0 ? 'the account is paused' : 'the exchange is out of reach',
        ...waitText(summary),
        `${again} tries again`,
      ].join('; ');
    case 'out-of-time': {
      const why = isStopped ? 'stopped before the end' : 'the time ran out before the end';
      const how = isStopped ? `${again} continues` : `${again} continues, and --timeout allows more time`;
      const left = requests - summary.sent - summary.invalid - summary.lookedUp;
      const leftText = left <= 0 ? [] : [`about ${withCommas(left)} requests left`];
      return [`${why}: ${didText(summary)}`, ...waitText(summary), ...leftText, how].join('; ');
    }
    case 'key-refused':
      return [REFUSALS['key-refused'], keyRemedy(keyPlaceOf?.(account)), ...waitText(summary)].join('; ');
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
  return [remaining === 1 ? '1 order is waiting to be sent' : `${withCommas(remaining)} orders are waiting to be sent`];
}

function lookText({ summary, holds }: SyncResult, account: string): string {
  const { invalid, newInvalid } = summary;
  const group = [{ account, since: null }];
  const ofAccount = holds.map((hold) => ({ account, ...hold }));
  const problems = worstFirst([
    ...(['disputed', 'held', 'unknown'] as const).flatMap((state) => countedProblems(state, summary[state], group)),
    // `newInvalid` lacks old rows, which this pass may also have found invalid.
    ...countedProblems('invalid', newInvalid > invalid ? newInvalid : invalid, group),
    ...holdProblems(ofAccount, account),
  ]);
  const ofPass = OF_PASS.filter(([name]) => summary[name] > 0);
  const texts = [
    ...problems.map(({ text }) => text),
    ...ofPass.map(([name, one, many]) => `${withCommas(summary[name])} ${summary[name] === 1 ? one : many}`),
    ...(holds.some(({ kind }) => kind === 'rate-limited') ? [REFUSALS['rate-limited']] : []),
  ];
  const [worst] = problems;
  const command = ofPass[0]?.[3] ?? 'order-sync findings list --status any';
  const remedy =
    worst?.remedy ?? (holds.length > 0 && ofPass.length === 0 ? undefined : `${command}${accountWords(account)}`);
  return [texts.join(', '), remedy].filter(Boolean).join('; ');
}
