import { systemClock } from '../../../base/clock.ts';
import type { PostgresDatabase } from '../place/settings.ts';
import { hostsText, type DatabaseHost } from '../place/url.ts';
import { StoreError } from '../../../store/errors.ts';
import type { Weakness } from '../../../store/port.ts';
import { clientConfig, type Client } from '../client.ts';
import { messageOf, postgresError } from '../errors.ts';
import { ASK_MS, askServer, readRole, type Answer } from './ask.ts';

/** How long connecting may take if the database has one host. */
const CONNECT_TIMEOUT_MS = 5_000;
/** How long the other hosts may still answer once one host takes writes, because a newer primary may be slower. */
const SLOWER_MS = 300;
/** The wait before a host is asked again while others are silent, and before a new round if no host took writes. */
const AGAIN_MS = 250;

/** Finds the host that takes writes on the highest time-line. This time-line never goes down. */
export class Primary {
  readonly connectTimeoutMs: number;
  server: DatabaseHost;
  /** Goes up when another server or time-line takes the writes, or `server` takes none any more. */
  term = 0;
  readonly #place: PostgresDatabase;
  readonly #config: ReturnType<typeof clientConfig>;
  readonly #clock = systemClock();
  readonly #listeners = new Set<(server: DatabaseHost) => void>();
  readonly #hasOthers: boolean;
  #timeLine = '';
  #isKnown: boolean;
  #finding: Promise<void> | undefined;
  #failed: { readonly error: StoreError; readonly until: number } | undefined;

  constructor(place: PostgresDatabase) {
    const [first = { host: '', port: 0 }, ...others] = place.hosts;
    this.#place = place;
    this.#config = clientConfig(place);
    this.server = first;
    this.#hasOthers = others.length > 0;
    this.#isKnown = !this.#hasOthers;
    this.connectTimeoutMs = this.#hasOthers ? ASK_MS : CONNECT_TIMEOUT_MS;
  }

  get inUse(): readonly string[] {
    return this.#hasOthers ? [`${hostsText([this.server])} takes the writes`] : [];
  }

  get poolOptions() {
    const check = async (client: unknown) => await this.#check(client as Client);
    return { destination: this, ...(this.#hasOthers && { onConnect: check }) };
  }

  /** Calls the listener, with the server in use, when `term` goes up: earlier connections are then useless. */
  onChange(listener: (server: DatabaseHost) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Connects to the primary. On failure asks all hosts and retries once. Throws `StoreError`, or as `connect` does. */
  async connect<Connection>(connect: () => Promise<Connection>): Promise<Connection> {
    if (!this.#hasOthers) return await connect();
    for (let isAgain = false; ; isAgain = true) {
      if (!this.#isKnown) await this.#find();
      const server = this.server;
      try {
        return await connect();
      } catch (error) {
        if (server === this.server) this.#isKnown = false;
        if (isAgain || error instanceof StoreError) throw error;
      }
    }
  }

  /** Notes a lost connection, or a server that takes no writes. The next connection asks all hosts. */
  doubt(takesNoWrites: boolean): void {
    if (!this.#hasOthers) return;
    this.#isKnown = false;
    if (takesNoWrites) this.#change();
  }

  /** Asks all hosts, for at most `ASK_MS`, and returns the weaknesses that a fail-over would meet. */
  async weaknesses(): Promise<readonly Weakness[]> {
    if (!this.#hasOthers) return [];
    const never = new AbortController().signal;
    const answers = await Promise.all(this.#place.hosts.map((server) => askServer(server, this.#config, never)));
    return weaknessesIn(answers);
  }

  async #check(client: Client): Promise<void> {
    const answer = await readRole(client);
    if (!takesWrites(answer, this.#timeLine)) throw new Error(reasonOf(answer, this.#timeLine));
    if (client.server !== this.server) throw new Error(`${hostsText([client.server])} is not the primary any more`);
    this.#use(answer);
  }

  async #find(): Promise<void> {
    const { error, until = 0 } = this.#failed ?? {};
    if (error !== undefined && this.#clock.monotonic() < until) throw error;
    this.#finding ??= this.#askAll().finally(() => (this.#finding = undefined));
    await this.#finding;
  }

  async #askAll(): Promise<void> {
    const answers = await this.#answers();
    const best = primaryOf(answers, this.#timeLine);
    if (best !== undefined) return this.#use(best);
    const error = noPrimary(this.#place.address, answers, this.#timeLine);
    this.#failed = { error, until: this.#clock.monotonic() + AGAIN_MS };
    throw error;
  }

  async #answers(): Promise<readonly Answer[]> {
    const { hosts } = this.#place;
    const answers = new Map<DatabaseHost, Answer>();
    const [found, all] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const stop = new AbortController();
    const ask = async (server: DatabaseHost) => {
      while (!stop.signal.aborted) {
        answers.set(server, await askServer(server, this.#config, stop.signal));
        if (answers.size === hosts.length) all.resolve();
        if (answers.get(server)?.timeLine !== undefined) return found.resolve();
        // Asks again, because a server may be promoted while other servers are silent.
        await this.#clock.sleep(AGAIN_MS, stop.signal).catch(() => undefined);
      }
    };
    for (const server of hosts) void ask(server);
    await Promise.race([all.promise, found.promise]);
    await Promise.race([all.promise, this.#clock.sleep(SLOWER_MS, stop.signal).catch(() => undefined)]);
    stop.abort();
    return hosts.flatMap((server) => answers.get(server) ?? []);
  }

  #use({ server, timeLine }: Writable): void {
    const isOther = this.#timeLine !== '' && (server !== this.server || timeLine !== this.#timeLine);
    this.server = server;
    this.#timeLine = timeLine;
    this.#isKnown = true;
    if (isOther) this.#change();
  }

  #change(): void {
    this.term += 1;
    for (const listener of this.#listeners) listener(this.server);
  }
}

type Writable = Answer & { readonly timeLine: string };

function takesWrites(answer: Answer, newest: string): answer is Writable {
  return answer.timeLine !== undefined && answer.timeLine >= newest;
}

/** Returns the first server with the highest time-line; undefined if none takes writes on `newest` or a later one. */
export function primaryOf(answers: readonly Answer[], newest: string): Writable | undefined {
  const writable = answers.filter((one): one is Writable => takesWrites(one, newest));
  const timeLines = writable.map(({ timeLine }) => timeLine);
  return writable.find(({ timeLine }) => timeLine === timeLines.toSorted().at(-1));
}

export function weaknessesIn(answers: readonly Answer[]): readonly Weakness[] {
  const advice = 'a fail-over to it is not followed; see that it runs, or correct database.url';
  const silent = answers.filter(({ error }) => error !== undefined);
  const found = silent.map((answer) => ({ name: 'hosts', text: `${reasonOf(answer, '')}: ${advice}` }));
  const writable = answers.filter(({ timeLine }) => timeLine !== undefined).map(({ server }) => hostsText([server]));
  const split = `${writable.join(' and ')} take writes: an old primary lives on; stop it before an order is sent twice`;
  return writable.length > 1 ? [...found, { name: 'split', text: split }] : found;
}

function reasonOf({ server, timeLine = '', why, error }: Answer, newest: string): string {
  const [line, before] = [timeLine, newest].map((digits) => Number.parseInt(digits, 16));
  const reason = why ?? `is on time-line ${line}, which is older than time-line ${before} of the last primary`;
  return `${hostsText([server])} ${reason}${error === undefined ? '' : ` (${messageOf(error)})`}`;
}

function noPrimary(address: string, answers: readonly Answer[], newest: string): StoreError {
  const reasons = answers.map((answer) => reasonOf(answer, newest));
  const message = `${address} has no server that takes writes: ${reasons.join('; ')}`;
  const failures = answers.flatMap(({ error }) => (error === undefined ? [] : [postgresError(error, address)]));
  const [failure] = failures;
  const isOneKind = failures.every(({ problem }) => problem === failure?.problem);
  if (failure === undefined || !isOneKind) return new StoreError('disk', message, { cause: new Error(message) });
  return new StoreError(failure.problem, message, { cause: failure.cause });
}
