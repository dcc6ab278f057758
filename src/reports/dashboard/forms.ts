import type { HoldView } from '../../domain/accounts/holds.ts';
import type { KnownFinding } from '../../domain/findings/lifecycle.ts';
import { decisionsFor, type Judgement } from '../../domain/orders/operator-decisions.ts';
import type { OrderState } from '../../domain/orders/states.ts';
import { cutText, escapeText, proseText } from '../formats/html/text.ts';
import { badge } from './markup.ts';

/** The longest name and reason of a person. */
export const LONGEST_TEXT = 500;

/** What every form bears: the account that it is about, and the token that no page of another site knows. */
interface FormBase {
  readonly account: string;
  readonly token: string;
}

const WORDS: Readonly<Record<Judgement['kind'], string>> = {
  exists: 'The exchange has its pre-order: follow it',
  'not-created': 'The exchange has not made it: send it again',
  ours: 'The order at the exchange is ours: rely on it',
  abandoned: 'End it',
  retry: 'Send it again',
  cancel: 'Cancel it, unsent',
};

/** An order that a person may decide about, as the person is shown it. */
interface DecidedOrder {
  readonly externalOrderId: string;
  readonly state: OrderState;
  readonly attempts: number;
}

/** Writes the forms of a person's decisions about an order and its open findings; empty where there is nothing to decide. */
export function orderForms(base: FormBase, order: DecidedOrder, findings: readonly KnownFinding[]): string {
  const kinds = decisionsFor(order.state);
  const open = findings.filter(({ status }) => status === 'open');
  if (kinds.length === 0 && open.length === 0) return '';
  const decision = kinds.length === 0 ? '' : decisionForm(base, order, kinds);
  const findingsForm = open.length === 0 ? '' : acknowledgeForm(base, order, open);
  return `<section class="actions" aria-labelledby="actions-title"><h2 id="actions-title">Decide</h2>\n${decision}${findingsForm}</section>\n`;
}

function decisionForm(base: FormBase, order: DecidedOrder, kinds: readonly Judgement['kind'][]): string {
  const { externalOrderId, state, attempts } = order;
  const options = kinds.map((kind) => `<option value="${kind}">${WORDS[kind]}</option>`).join('');
  const preOrder = kinds.includes('exists')
    ? `<label>Its pre-order, where the exchange has it <input name="preOrderId" maxlength="500"></label>`
    : '';
  const mayBeSentTwice =
    kinds.includes('not-created') || ((state === 'unknown' || state === 'held') && kinds.includes('retry'));
  const duplicate = mayBeSentTwice
    ? '<label class="check"><input type="checkbox" name="mayDuplicate" value="yes"> I know that it may be made twice</label>'
    : '';
  return form('/actions/order', base, { externalOrderId, state, attempts: String(attempts) }, [
    `<label>What became of it <select name="judgement" required><option value="">choose</option>${options}</select></label>`,
    preOrder,
    duplicate,
    personFields(),
    '<button>Decide</button>',
  ]);
}

function acknowledgeForm(base: FormBase, { externalOrderId }: DecidedOrder, open: readonly KnownFinding[]): string {
  const boxes = open.map(({ id, class: name, expected, actual }) => {
    const value = escapeText(JSON.stringify({ id, expected, actual }));
    const words = `${badge('warning', name)} ${escapeText(cutText(`${expected ?? ''} → ${actual ?? ''}`))}`;
    return `<label class="check"><input type="checkbox" name="finding" value="${value}"> <span>${words}</span></label>`;
  });
  const fields = [...boxes, personFields(), '<button>Acknowledge</button>'];
  return form('/actions/findings', base, { externalOrderId }, fields);
}

/** Writes the forms by which a person pauses and resumes an account. */
export function pauseForms(base: FormBase, holds: readonly HoldView[]): string {
  const listed = holds.map(
    ({ kind, reason, since, actor }) =>
      `<li>${badge('warning', kind)} ${proseText(`since ${since}${actor === null ? '' : ` by ${actor}`}: ${reason}`)}</li>`,
  );
  const list = listed.length === 0 ? '<p>Nothing holds the account.</p>' : `<ul>${listed.join('')}</ul>`;
  const kinds =
    '<label>What stops <select name="kind"><option value="creates-paused">creating</option><option value="all-paused">creating and looking up</option></select></label>';
  const pause = form('/actions/pause', base, {}, [
    '<strong>Pause</strong>',
    kinds,
    personFields(),
    '<button>Pause</button>',
  ]);
  const resume = form('/actions/resume', base, {}, [
    '<strong>Resume</strong>',
    personFields(),
    '<button>Resume</button>',
  ]);
  return `<div class="story-page"><section class="actions" aria-labelledby="pause-title"><h1 id="pause-title">Pause and resume ${escapeText(cutText(base.account))}</h1>\n${list}\n${pause}${resume}</section></div>\n`;
}

function personFields(): string {
  return `<label>Your name <input name="actor" required maxlength="${LONGEST_TEXT}" autocomplete="name"></label>
<label>Reason <input name="reason" required maxlength="${LONGEST_TEXT}" autocomplete="off"></label>`;
}

function form(
  path: string,
  { account, token }: FormBase,
  hidden: Readonly<Record<string, string>>,
  fields: readonly string[],
): string {
  const inputs = Object.entries({ account, token, ...hidden }).map(
    ([name, value]) => `<input type="hidden" name="${name}" value="${escapeText(value)}">`,
  );
  return `<form method="post" action="${path}">${inputs.join('')}\n${fields.join('\n')}</form>\n`;
}
