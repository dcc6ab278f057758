import type { RestraintView } from '../../../accounts/rules/restraints.ts';
import type { KnownFinding } from '../../../findings/rules/finding.ts';
import { decisionsFor, type Judgement } from '../../operate/rules/judgement.ts';
import type { Tracking } from '../../../orders/rules/tracking.ts';
import { cutText, escapeText, proseText } from '../../documents/html/cells.ts';
import { badge, type Words } from './markup.ts';

export const LONGEST_TEXT = 500;

type FormBase = Readonly<Record<'account' | 'token', string>>;

const DECISIONS: Readonly<Record<Judgement['kind'], string>> = {
  exists: 'The exchange has the order: follow it',
  'not-created': 'The exchange does not have the order: send it again',
  ours: 'The order at the exchange is yours: rely on it',
  abandoned: 'Abandon the order',
  retry: 'Send the order again',
  cancel: 'Cancel the order before it is sent',
};

export function orderForms(base: FormBase, order: Tracking, findings: readonly KnownFinding[]): Words {
  const open = findings.filter(({ status }) => status === 'open');
  const decision = decisionForm(base, order, decisionsFor(order.state));
  return { orders: decision, ...(open.length > 0 && { findings: acknowledgeForm(base, order, open) }) };
}

function decisionForm(base: FormBase, order: Tracking, kinds: readonly Judgement['kind'][]): string {
  const { externalOrderId, state, attempts } = order;
  // A form would change line breaks, so the reason is JSON.
  const seen = { state, stateReason: JSON.stringify(order.stateReason), attempts: String(attempts) };
  const options = kinds.map((kind) => `<option value="${kind}">${DECISIONS[kind]}</option>`).join('');
  const preOrder = `<label>Id of the pre-order, if you choose that the exchange has the order <input name="preOrderId" maxlength="500"></label>`;
  const duplicate = `<label class="check"><input type="checkbox" name="mayDuplicate" value="yes"> I accept that the exchange may create the order twice</label>`;
  const mayBeTaken = state === 'unknown' || state === 'held';
  const mayBeTwice = kinds.includes('not-created') || (mayBeTaken && kinds.includes('retry'));
  return form('/actions/order', { ...base, externalOrderId, ...seen }, 'Decide', [
    `<label>Decision <select name="judgement" required><option value="">choose</option>${options}</select></label>`,
    kinds.includes('exists') ? preOrder : '',
    mayBeTwice ? duplicate : '',
  ]);
}

function acknowledgeForm(base: FormBase, { externalOrderId }: Tracking, open: readonly KnownFinding[]): string {
  const boxes = open.map(({ id, class: name, expected, actual }) => {
    const value = escapeText(JSON.stringify({ id, expected, actual }));
    const words = `${badge('warning', name)} ${escapeText(cutText(`${expected ?? ''} → ${actual ?? ''}`))}`;
    return `<label class="check"><input type="checkbox" name="finding" value="${value}"> <span>${words}</span></label>`;
  });
  return form('/actions/findings', { ...base, externalOrderId }, 'Acknowledge', boxes);
}

export function pauseForms(base: FormBase, holds: readonly RestraintView[]): string {
  const listed = holds.map(({ kind, reason, since, actor }) => {
    const by = actor === null ? '' : ` by ${actor}`;
    return `<li>${badge('warning', kind)} ${proseText(`since ${since}${by}: ${reason}`)}</li>`;
  });
  const list = listed.length === 0 ? '<p>Nothing is paused.</p>' : `<ul>${listed.join('')}</ul>`;
  const pause = form('/actions/pause', base, 'Pause', [
    '<strong>Pause</strong>',
    '<label>Stop <select name="kind"><option value="creates-paused">creating orders</option><option value="all-paused">creating orders and looking them up</option></select></label>',
  ]);
  const resume = form('/actions/resume', base, 'Resume', ['<strong>Resume</strong>']);
  return `<div class="story-page"><section class="actions" aria-labelledby="pause-title"><h1 id="pause-title">Pause and resume ${escapeText(cutText(base.account))}</h1>\n${list}\n${pause}${resume}</section></div>\n`;
}

function form(path: string, hidden: Words, button: string, fields: readonly string[]): string {
  const inputs = Object.entries(hidden).map(([name, value]) => {
    return `<input type="hidden" name="${name}" value="${escapeText(value)}">`;
  });
  return `<form method="post" action="${path}">${inputs.join('')}
${fields.join('\n')}
<label>Your name <input name="actor" required maxlength="${LONGEST_TEXT}" autocomplete="name"></label>
<label>Reason <input name="reason" required maxlength="${LONGEST_TEXT}" autocomplete="off"></label>
<button>${button}</button></form>
`;
}
