import { shellWord } from '../text.ts';
import { DEFAULT_ACCOUNT } from './name.ts';

/** The words by which a command is about an account, with a space before them: none for the default one, which it is about anyway. */
export function accountWords(account: string): string {
  return account === DEFAULT_ACCOUNT ? '' : ` --account ${shellWord(account)}`;
}
