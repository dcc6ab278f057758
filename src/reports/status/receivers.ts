import { shellWord } from '../../domain/text.ts';
import { counted } from '../formats/words.ts';
import type { ReceiverState } from './overview.ts';

/** A receiver that fails for longer than this wants a person, as does work that waits for longer: in ms. */
export const LONG_MS = 5 * 60_000;

/** Why a person should look at a receiver of events, and the command that helps. */
export interface ReceiverNeed {
  readonly title: string;
  readonly text: string;
  readonly since: string | null;
  readonly command: string;
}

/** Judges receivers of events: the same for `status` and the dashboard. */
export function receiverNeeds(receivers: readonly ReceiverState[], now: number): readonly ReceiverNeed[] {
  return receivers.flatMap(({ name, failingSince, cause, parked, deadLetters }) => {
    const command = `order-sync webhooks show ${shellWord(name)}`;
    const needs: ReceiverNeed[] = [];
    if (failingSince !== null && now - Date.parse(failingSince) > LONG_MS) {
      const text = `Events wait for it, and nothing is lost${cause === null ? '' : `: ${cause}`}.`;
      needs.push({ title: `The receiver ${name} takes no events`, text, since: failingSince, command });
    }
    if (parked > 0) {
      const title = `The receiver ${name} refuses events of ${counted(parked, 'order or link', 'orders or links')}`;
      needs.push({ title, text: 'Their later events follow behind; each is tried for a day.', since: null, command });
    }
    if (deadLetters > 0) {
      const title = `The receiver ${name} has ${counted(deadLetters, 'dead letter')}`;
      needs.push({ title, text: 'It refused them for a day: send them with webhooks resend.', since: null, command });
    }
    return needs;
  });
}
