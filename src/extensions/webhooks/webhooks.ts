import type { ServiceMaker } from '../../daemon.ts';
import { addPurge, type Purge } from '../commands/purges.ts';
import { webhooksSettings, type WebhookEndpoint } from './settings.ts';
import { messageOf } from '../../base/text.ts';
import type { FlowDeps } from '../../orders/pass/deps.ts';
import { repeatEvery } from '../../orders/pass/run.ts';
import { isPassing, OwnedError } from '../../store/errors.ts';
import type { AccountLease } from '../../store/port.ts';
import { accountsBehind, noteEndpoint, registerEndpoint } from './tables/endpoints.ts';
import { deleteDelivered, nextAttempts } from './tables/deliveries.ts';
import type { AccountDelivery } from './turn.ts';
import { EndpointDelivery } from './endpoint.ts';
import type { EndpointFacts } from './condition.ts';
import type { SenderOptions } from './sender.ts';

/** How long a process that stops waits for the answers of endpoints. */
export const LAST_ANSWERS_MS = 1_000;
/** How often cursors are written, and failing endpoints are checked. */
const SECOND_MS = 1_000;

export interface WebhooksDeps
  extends Pick<SenderOptions, 'connect' | 'resolve' | 'timeoutMs'>, Pick<FlowDeps, 'store' | 'clock' | 'log'> {
  readonly endpoints: readonly WebhookEndpoint[];
  readonly stop: AbortSignal;
}

/** Sends events of the owned accounts to the endpoints. Reads only accounts with new events or due rows. */
export class Webhooks {
  readonly #deps: WebhooksDeps;
  readonly #deliveries: readonly EndpointDelivery[];
  readonly #breakOff = new AbortController();
  #waiting: AccountLease[] = [];
  #isRegistered = false;
  #beginning: Promise<void> | undefined;

  constructor(deps: WebhooksDeps) {
    this.#deps = deps;
    const breakOff = this.#breakOff.signal;
    this.#deliveries = deps.endpoints.map((endpoint) => new EndpointDelivery({ ...deps, endpoint, breakOff }));
  }

  get facts(): readonly (EndpointFacts & { readonly endpoint: string })[] {
    return this.#deliveries.map(({ name, condition }) => ({ endpoint: name, ...condition.facts }));
  }

  take(accountLease: AccountLease): void {
    if (this.#deliveries.length === 0) return;
    accountLease.ending.addEventListener('abort', () => void this.#giveBack(accountLease), { once: true });
    // Most accounts are taken together. They also begin together, one turn of the event loop later.
    if (this.#waiting.push(accountLease) === 1) void this.#deps.clock.turn().then(() => this.begin());
  }

  async run(): Promise<void> {
    const { clock, stop } = this.#deps;
    if (this.#deliveries.length === 0) return;
    using _ = this.#deps.store.newEvents.listen((account) => {
      for (const delivery of this.#deliveries) delivery.wake(account);
    });
    await repeatEvery(clock, SECOND_MS, stop, () => this.eachSecond());
    const breakOff = () => this.#breakOff.abort();
    void clock.sleep(LAST_ANSWERS_MS, this.#breakOff.signal).then(breakOff, () => undefined);
    await this.idle();
    breakOff();
    for (const delivery of this.#deliveries) delivery.close();
    await this.#write();
  }

  async idle(): Promise<void> {
    await this.#beginning;
    await Promise.all(this.#deliveries.map((delivery) => delivery.idle()));
  }

  async eachSecond(): Promise<void> {
    if (this.#waiting.length > 0) await this.begin();
    for (const delivery of this.#deliveries) delivery.eachSecond();
    await this.#write();
  }

  /** Begins to send events of the accounts that were taken. After a failure `eachSecond` tries again. */
  async begin(): Promise<void> {
    this.#beginning ??= this.#beginWaiting()
      .catch((error: unknown) => this.#logUnlessPassing(error, 'webhooks cannot be sent for some accounts'))
      .finally(() => (this.#beginning = undefined));
    await this.#beginning;
  }

  async #beginWaiting(): Promise<void> {
    const { store, clock, endpoints } = this.#deps;
    const accountLeases = this.#waiting.filter(({ ending }) => !ending.aborted);
    const [first] = accountLeases;
    if (first !== undefined) {
      const [from = '', ...others] = accountLeases.map(({ account }) => account).toSorted();
      const range = { from, to: others.at(-1) ?? from };
      if (!this.#isRegistered) {
        await store.forAccount(first.account, first).writer.write(async (tx) => {
          for (const { name } of endpoints) await registerEndpoint(tx, name, clock.now());
        });
        this.#isRegistered = true;
      }
      for (const delivery of this.#deliveries) {
        const query = { endpoint: delivery.name, ...range };
        await delivery.countRetrying(store);
        const due = await nextAttempts(store.db, query);
        for (const lease of accountLeases)
          delivery.add(lease, store.forAccount(lease.account, lease), due.get(lease.account));
        // Events that are added from now on wake their account.
        for (const { account } of await accountsBehind(store.db, query)) delivery.wake(account);
      }
    }
    this.#waiting = this.#waiting.filter((one) => !accountLeases.includes(one) && !one.ending.aborted);
  }

  async #giveBack(accountLease: AccountLease): Promise<void> {
    await this.#write();
    for (const delivery of this.#deliveries) delivery.remove(accountLease);
  }

  async #write(): Promise<void> {
    const writing = this.#deliveries.flatMap((delivery) => {
      const accounts = [...delivery.accounts.values()];
      const moved = accounts.filter(({ cursor, written, isWriting }) => cursor !== written && !isWriting);
      return [...moved.map((account) => account.writeCursor()), this.#note(delivery, moved[0] ?? accounts[0])];
    });
    const failed = (await Promise.allSettled(writing)).find((one) => one.status === 'rejected');
    if (failed !== undefined && !(failed.reason instanceof OwnedError))
      this.#logUnlessPassing(failed.reason, 'the cursor or the state of a webhook endpoint cannot be written');
  }

  #logUnlessPassing(error: unknown, message: string): void {
    if (!isPassing(error)) this.#deps.log.error({ cause: messageOf(error) }, message);
  }

  async #note(delivery: EndpointDelivery, writing: AccountDelivery | undefined): Promise<void> {
    const facts = { ...delivery.condition.facts };
    const { takenAt, failedAt, failing } = facts;
    const noted = JSON.stringify([takenAt, failedAt, failing?.since, failing?.nextTryAt, failing?.cause]);
    // Before the first try nothing is written, because the write would clear a failure that an earlier process noted.
    const isTried = takenAt !== null || failedAt !== null;
    if (!isTried || writing === undefined || noted === delivery.noted) return;
    await writing.store.writer.write(async (tx) => await noteEndpoint(tx, delivery.name, facts));
    delivery.noted = noted;
  }
}

export const deleteSomeDeadLetters: Purge['deleteSome'] = (store, query) =>
  store.writer.write((tx) => deleteDelivered(tx, query));

export const webhooksService: ServiceMaker = {
  async start(deps) {
    const { retention, webhooks: settings } = webhooksSettings.of(deps.config);
    const purge = { name: 'deadLetters', ageMs: retention.deadLetters, deleteSome: deleteSomeDeadLetters };
    addPurge(deps.services, purge);
    const webhooks = new Webhooks({ ...deps, ...settings });
    return { take: (lease) => webhooks.take(lease), work: webhooks.run() };
  },
};
