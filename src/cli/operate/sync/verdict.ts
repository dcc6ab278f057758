import { accountWords } from '../../../domain/accounts/words.ts';
import type { SyncEnd, SyncResult, SyncSummary } from '../../../flows/orders/sync.ts';
import type { Tone } from '../../../reports/formats/document.ts';
import { withCommas } from '../../../reports/formats/words.ts';

const TONES: Readonly<Record<SyncEnd, Tone>> = {
  done: 'good',
  look: 'warning',
  'out-of-reach': 'error',
  'out-of-time': 'warning',
  'key-refused': 'error',
};
/** What a person should look at, the gravest first: its name, and the command that shows it. */
const LOOK_AT: readonly (readonly [keyof SyncSummary, one: string, many: string, command: string])[] = [
  ['held', 'held', 'held', 'order-sync orders list --state held'],
  ['disputed', 'disputed', 'disputed', 'order-sync orders list --state disputed'],
  ['unknown', 'unknown', 'unknown', 'order-sync orders list --state unknown'],
  ['findings', 'finding', 'findings', 'order-sync findings list'],
  ['rejected', 'rejected', 'rejected', 'order-sync orders list --state rejected'],
  ['invalid', 'invalid', 'invalid', 'order-sync orders list --state invalid'],
  ['failed', 'request failed', 'requests failed', 'order-sync sync'],
];

const KEY_REFUSED = 'the exchange refuses the key (401): check exchange.apiKey';

/** What a pass came to, in one line, and how that is to a person. */
export interface SyncVerdict {
  readonly tone: Tone;
  readonly text: string;
}

/** A command in a sentence, with the options that it has. */
const COMMAND = /order-sync (?:orders list|findings list|sync)(?: --\w+ \w+)?/;

/** The pass that a verdict is of. */
interface Pass {
  readonly account: string;
  readonly isStopped: boolean;
  readonly requests: number | undefined;
}

/** What a pass came to, in one line with the command that goes on from there. `requests` are those that it had before it. */
export function verdictOf(result: SyncResult, { account, isStopped, requests }: Pass): SyncVerdict {
  const text = textOf(result, isStopped, requests);
  return { tone: TONES[result.end], text: text.replace(COMMAND, `$&${accountWords(account)}`) };
}

function textOf({ end, summary, holds }: SyncResult, isStopped: boolean, requests = 0): string {
  switch (end) {
    case 'done':
      return `all is well: ${[didText(summary), ...waitText(summary)].join('; ')}`;
    case 'look':
      return `a person should look: ${lookText(summary, holds)}`;
    case 'out-of-reach':
      return [
        holds.length > 0 ? 'the account is held back' : 'the exchange is out of reach',
        ...waitText(summary),
        'order-sync sync tries again',
      ].join('; ');
    case 'out-of-time': {
      const why = isStopped ? 'stopped before the end' : 'the time ran out before the end';
      const how = isStopped ? 'order-sync sync goes on' : 'order-sync sync goes on, --timeout gives it longer';
      const left = requests - summary.sent - summary.invalid - summary.lookedUp;
      const leftText = left <= 0 ? [] : [`about ${withCommas(left)} requests left`];
      return [`${why}: ${didText(summary)}`, ...waitText(summary), ...leftText, how].join('; ');
    }
    case 'key-refused':
      return [KEY_REFUSED, ...waitText(summary)].join('; ');
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

function lookText(summary: SyncSummary, holds: SyncResult['holds']): string {
  const counts = LOOK_AT.filter(([name]) => summary[name] > 0);
  const texts = counts.map(([name, one, many]) => `${withCommas(summary[name])} ${summary[name] === 1 ? one : many}`);
  if (holds.some(({ kind }) => kind === 'key-refused')) return [KEY_REFUSED, ...texts].join('; ');
  if (holds.length > 0) texts.unshift('the account is held back');
  // A finding of this pass may have been acknowledged meanwhile.
  const command = counts[0]?.[3] ?? (holds.length > 0 ? undefined : 'order-sync findings list --status any');
  return [texts.join(', '), command].filter(Boolean).join('; ');
}
