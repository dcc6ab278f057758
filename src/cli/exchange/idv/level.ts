import { Option } from 'commander';
import { VERIFICATION_LEVELS } from '../../../exchange/schemas.ts';

/** Makes the option `--level`. */
export function levelOption(): Option {
  return new Option('--level <level>', 'the verification flow').choices(VERIFICATION_LEVELS).makeOptionMandatory();
}
