import type { PlantedBug } from '../bug.ts';

const LEASES = 'src/extensions/postgres/sharing/leases.ts';
const TWO_OWNERS = /one owner an account/;

/** Bugs in the sharing of accounts that only processes show that live at the same time. */
export const WORKER_BUGS: readonly PlantedBug[] = [
  {
    name: 'trusted-from-the-answer',
    text: 'a worker trusts itself from the answer to its heartbeat on, and not from the beginning of the renewal',
    breaks: TWO_OWNERS,
    edits: [
      { file: LEASES, in: 'Worker.beat', from: 'this.#renewed = began;', to: 'this.#renewed = momentOf(clock);' },
    ],
  },
  {
    name: 'trusted-past-the-heartbeat',
    text: 'a worker trusts itself for longer than its heartbeat lasts',
    breaks: TWO_OWNERS,
    edits: [
      {
        file: LEASES,
        in: 'Worker.#isSteady',
        from: 'monotonic - this.#renewed.monotonic < TRUSTED_MS && utc - this.#renewed.utc < TRUSTED_MS',
        to: 'Math.max(monotonic - this.#renewed.monotonic, utc - this.#renewed.utc) < 4 * TRUSTED_MS',
      },
    ],
  },
  {
    name: 'leaves-without-a-look',
    text: 'a create whose connection was made while its process stood still leaves when the process wakes',
    breaks: TWO_OWNERS,
    edits: [
      {
        file: 'src/exchange/client.ts',
        in: 'ExchangeClient.#send',
        from: '() => lease.isTrusted()',
        to: '() => true',
      },
    ],
  },
  {
    name: 'taken-from-a-living-owner',
    text: 'a worker with fewer accounts takes those of another one, which still drives them',
    breaks: TWO_OWNERS,
    notCaught: 'the statement of the claim leaves out the accounts of a worker that is not over',
    edits: [
      {
        file: 'src/extensions/postgres/sharing/sharing.ts',
        in: 'Sharing.#ownerOf',
        from: "other.holder === holder) ? holder : ''",
        to: "other.holder === holder && holder === worker.holder) ? holder : ''",
      },
    ],
  },
];
