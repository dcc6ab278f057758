import { accountWords } from '../../domain/accounts/words.ts';
import type { Column, Fact } from './document.ts';

/** The fact of a report that says of which account it is: undefined for all of them. */
export function accountFact(account: string | undefined): Fact {
  return { key: 'account', label: 'Account', value: account ?? 'all' };
}

/** The column that tells the rows of several accounts from each other; none in a report of one. */
export function accountColumns(account: string | undefined): readonly Column[] {
  return account === undefined ? [{ key: 'account', label: 'Account', kind: 'text' }] : [];
}

/** The words by which a command of a text is about the account of an order in the report, with a space before them. */
export function accountAdvice(account: string | undefined): string {
  return account === undefined ? ' --account NAME' : accountWords(account);
}
