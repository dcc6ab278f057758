import { RESUMED_HOLDS, type HoldKind } from '../../domain/accounts/holds.ts';
import { stopRemedy } from '../../domain/accounts/stops.ts';
import { accountWords } from '../../domain/accounts/words.ts';
import { FINDING_CLASSES, SEVERITIES, type FindingClass } from '../../domain/findings/classes.ts';
import { instantMs } from '../../domain/instant.ts';
import { shellWord } from '../../domain/text.ts';
import type { Tone } from '../formats/document.ts';
import { capitalized, counted } from '../formats/words.ts';
import { LONG_MS, receiverNeeds } from '../status/receivers.ts';
import type { AccountHold, ClassCount, DashboardFacts, UndecidedOrder } from './facts.ts';

/** Something that needs a person: what it is, and the command that helps. */
export interface Need {
  readonly tone: Extract<Tone, 'error' | 'warning'>;
  readonly title: string;
  readonly text: string;
  readonly since: string | null;
  readonly command: string | null;
  /** Present where it is about one order. */
  readonly order?: Pick<UndecidedOrder, 'account' | 'externalOrderId'>;
}

/** Of orders so many are named; the others are counted. */
const MOST_NAMED = 5;
const STATES: Readonly<Record<string, string>> = {
  held: 'A person must decide what became of it: its outcome is unknown and looking it up is exhausted.',
  disputed: 'An order at the exchange answers for it and contradicts it: nobody should act on it.',
};
const HOLDS: Readonly<Record<Exclude<HoldKind, 'rate-limited'>, readonly [tone: Need['tone'], title: string]>> = {
  'creates-paused': ['warning', 'No order is created: paused'],
  'all-paused': ['warning', 'Nothing is created or looked up: paused'],
  restored: ['error', 'No order is created: the database was put back'],
  'key-refused': ['error', 'The exchange refuses the key'],
  forbidden: ['error', 'The exchange does not let the account create orders'],
  guarded: ['error', 'No order is created: a limit of guard.* was reached'],
  slowed: ['error', 'Few orders are created: creates have unknown outcomes'],
};

/** Everything that needs a person, the gravest first. */
export function needsOf(facts: DashboardFacts): readonly Need[] {
  const needs = [
    ...databaseNeeds(facts),
    ...stoppedNeeds(facts),
    ...facts.holds.flatMap(holdNeed),
    ...outOfReach(facts),
    ...unreadableNeeds(facts),
    ...undecided(facts),
    ...waiting(facts),
    ...facts.findings.flatMap((one) => findingNeed(one, facts)),
    ...receiverNeeds(facts.receivers, instantMs(facts.at) ?? 0).map((one) => ({ ...one, tone: 'warning' as const })),
  ];
  return [...needs.filter(({ tone }) => tone === 'error'), ...needs.filter(({ tone }) => tone === 'warning')];
}

function databaseNeeds({ database: { failure, address } }: DashboardFacts): readonly Need[] {
  if (failure === null) return [];
  const title = 'The database cannot be written';
  return [{ tone: 'error', title, text: `${failure} (${address})`, since: null, command: 'order-sync db check' }];
}

function stoppedNeeds({ stopped }: DashboardFacts): readonly Need[] {
  return stopped.map((stop) => ({
    tone: 'error',
    title: `Nothing is created or looked up: stopped${ofAccount(stop.account)}`,
    text: stop.reason ?? '',
    since: stop.since,
    command: stopRemedy(stop.kind, accountWords(stop.account)),
  }));
}

function holdNeed({ account, kind, since, reason, actor }: AccountHold): readonly Need[] {
  if (kind === 'rate-limited') return [];
  const [tone, title] = HOLDS[kind];
  const by = actor === null ? '' : ` (${actor})`;
  const resume = `order-sync resume${accountWords(account)} --reason TEXT`;
  const command = RESUMED_HOLDS.includes(kind) ? resume : 'order-sync doctor';
  return [{ tone, title: `${title}${ofAccount(account)}`, text: `${reason}${by}`, since, command }];
}

function outOfReach({ exchange }: DashboardFacts): readonly Need[] {
  return (exchange?.outOfReach ?? []).map(({ account, since, reason }) => ({
    tone: 'error',
    title: `The exchange is out of reach${ofAccount(account)}`,
    text: `Requests go again by themselves once it answers${reason === null ? '' : `: ${reason}`}.`,
    since,
    command: 'order-sync doctor',
  }));
}

function unreadableNeeds({ unreadable }: DashboardFacts): readonly Need[] {
  return unreadable.map(({ account, since, reason }) => {
    const title = `The answers of the exchange cannot be read${ofAccount(account)}`;
    return need(title, reason ?? '', since, `order-sync probe${accountWords(account)}`);
  });
}

function undecided({ undecided: orders, orders: counts }: DashboardFacts): readonly Need[] {
  return Object.entries(STATES).flatMap(([state, text]) => {
    const named = orders.filter((order) => order.state === state);
    const shown = named.slice(0, MOST_NAMED).map((order): Need => {
      const { account, externalOrderId, since, reason } = order;
      const command = `order-sync orders explain ${shellWord(externalOrderId)}${accountWords(account)}`;
      const title = `Order ${externalOrderId} is ${state}${ofAccount(account)}`;
      return {
        tone: 'error',
        title,
        text: reason === null ? text : `${text} ${capitalized(reason)}.`,
        since,
        command,
        order,
      };
    });
    const all = counts.find((one) => one.state === state);
    const others = (all?.orders ?? 0) - shown.length;
    if (others <= 0) return shown;
    const title = `${counted(others, 'more order is', 'more orders are')} ${state}`;
    return [...shown, { tone: 'error', title, text, since: null, command: `order-sync orders list --state ${state}` }];
  });
}

function waiting({ oldest, orders, holds, stopped, exchange, at }: DashboardFacts): readonly Need[] {
  const isLong = (since: string) => (instantMs(at) ?? 0) - (instantMs(since) ?? 0) > LONG_MS;
  const isHeld = holds.length > 0 || stopped.length > 0 || (exchange?.outOfReach.length ?? 0) > 0;
  const needs: Need[] = [];
  const unknown = orders.find(({ state }) => state === 'unknown')?.orders ?? 0;
  if (unknown > 0) {
    const first = oldest.find(({ state }) => state === 'unknown');
    const title = counted(unknown, 'order has an unknown outcome', 'orders have unknown outcomes');
    const text = 'Each is looked up by itself; ask the exchange where that takes too long.';
    const command = `order-sync orders list --state unknown${first === undefined ? '' : accountWords(first.account)}`;
    needs.push({ tone: 'warning', title, text, since: first?.since ?? null, command });
  }
  for (const { account, since } of oldest.filter(({ state }) => state === 'pending')) {
    if (isHeld || !isLong(since)) continue;
    const command = `order-sync orders list --state pending${accountWords(account)}`;
    needs.push(need(`Orders wait to be sent${ofAccount(account)}`, 'The oldest one waits since then.', since, command));
  }
  for (const { account, pass, since } of exchange?.waiting ?? []) {
    if (isHeld || !isLong(since)) continue;
    const text = 'The log of the daemon says why.';
    needs.push(need(`The ${pass} pass of ${account} does not end well`, text, since, 'order-sync doctor'));
  }
  return needs;
}

function findingNeed({ account, class: name, findings, isMore }: ClassCount, facts: DashboardFacts): readonly Need[] {
  const known = classOf(name);
  const tone = known?.severity ?? 'warning';
  if (tone === 'info') return [];
  const number = isMore ? `${findings} or more` : String(findings);
  const title = `${number} open ${findings === 1 ? 'finding' : 'findings'} ${name}`;
  const of = account ?? facts.account;
  const words = of === undefined ? ' --account all' : accountWords(of);
  const command = `order-sync findings list --class ${name}${words}`;
  return [{ tone, title, text: `${known?.meaning ?? ''} ${known?.advice ?? ''}`.trim(), since: null, command }];
}

function need(title: string, text: string, since: string | null, command: string): Need {
  return { tone: 'warning', title, text, since, command };
}

function ofAccount(account: string): string {
  return account === 'default' ? '' : `, account ${account}`;
}

/** The class of a finding; undefined where it is one of another version. */
export function classOf(name: string): FindingClass | undefined {
  return Object.hasOwn(FINDING_CLASSES, name) ? FINDING_CLASSES[name as keyof typeof FINDING_CLASSES] : undefined;
}

/** The classes of open findings, the gravest first. */
export function gravestFirst(findings: readonly ClassCount[]): readonly ClassCount[] {
  const placeOf = ({ class: name }: ClassCount) => SEVERITIES.indexOf(classOf(name)?.severity ?? 'warning');
  return findings.toSorted((a, b) => placeOf(a) - placeOf(b) || b.findings - a.findings);
}
