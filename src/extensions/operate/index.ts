import type { Extension } from '../../cli/extension.ts';
import { OPERATE_OPERATIONS } from './addresses.ts';

const decision = () => import('./decision.ts');
const findings = () => import('./findings.ts');
const orders = () => import('./list.ts');
const pause = () => import('./pause.ts');

export const operate: Extension = {
  name: 'operate',
  operations: OPERATE_OPERATIONS,
  commands: {
    'Every day:': {
      pause: ['stops creates of an account, or look-ups as well', pause, 'one-or-all'],
      resume: ['ends a pause, and the other holds on creates that a person may end', pause, 'one-or-all'],
      orders: {
        text: 'put orders in, look at them, decide about them',
        example: 'order-sync orders list --state held',
        commands: {
          list: ['lists the newest orders', orders, 'one-or-all'],
          show: ['shows one order: row, history, answers of the exchange', orders, 'one'],
          resolve: ['records what became of orders that were sent', decision, 'one'],
          retry: ['sends rejected, invalid, unknown or held orders again', decision, 'one'],
          cancel: ['ends orders that were not sent yet', decision, 'one'],
        },
      },
      findings: {
        text: 'what reconciliation found: look at it, acknowledge it',
        example: 'order-sync findings list --class AMOUNT_MISMATCH',
        commands: {
          list: ['lists findings, the worst first, then the newest', findings, 'one-or-all'],
          ack: ['acknowledges open findings', findings, 'one'],
        },
      },
      report: { commands: { explain: ['what a class of findings means, and what to do about it', findings] } },
    },
  },
};
