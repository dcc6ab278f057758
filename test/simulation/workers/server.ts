import Database from 'better-sqlite3';
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type QueryResult,
} from 'kysely';
import type { Clock } from '../../../src/base/clock.ts';
import { StoreError } from '../../../src/store/errors.ts';
import type { AccountLease, Database as Tables, Ownership } from '../../../src/store/port.ts';
import { PostgresOwnership } from '../../../src/extensions/postgres/sharing/ownership.ts';
import { BEGINNING } from '../plan/plan.ts';
import type { Chance } from '../plan/chance.ts';
import type { Life, Scheduler } from '../scheduler.ts';
import type { CommitFate } from '../shared-store.ts';
import { BeatTime } from './beat-time.ts';

/** A server that does not answer is waited for so long, in milliseconds. */
export const NO_ANSWER_MS = 2_000;
/** A worker has heard of its last heartbeat within this time, or it may not know that it drives its accounts. */
const HEARD_WITHIN_MS = 1_500;
const LOCKED = 0.05;
/** A heartbeat whose answer is almost given up. The worker has less than a second left before it must renew. */
const LATE = 0.02;
const LATE_MS = NO_ANSWER_MS - 200;
const BEAT = 'with renewed as';

interface World {
  readonly scheduler: Scheduler;
  readonly chance: Chance;
  readonly isCalm: boolean;
  readonly wallMs: number;
  readonly timeLine: string;
  readonly databaseTime: Date;
  fail(promise: string, detail: string): void;
}

/** The way of one process to the server. */
export interface Link {
  readonly life: Life;
  /** The server is out of its reach. */
  isCut(): boolean;
  /** The fate of a statement. */
  fateOf(): CommitFate;
  /** The process may die here: then nothing of it continues. */
  survives(where: string): boolean;
}

interface Worker {
  readonly host: string;
  readonly link: Link;
  seenUntil: Date;
  held: number;
  units: string | null;
}

type Values = readonly unknown[];
type Rows = readonly object[];

/**
 * The statements by which workers share the accounts of a server, each done at one moment, as the server does it. The owners of
 * accounts stand in the database of the world, which the transactions of the owners lock and check. The deciding code runs as
 * it is: the program's own ownership is on the other side of these statements.
 */
export class WorkerServer implements Disposable {
  readonly time: BeatTime;
  readonly #world: World;
  readonly #database: Database.Database;
  readonly #workers = new Map<string, Worker>();
  /** When the last answered heartbeat of each process began. */
  readonly #heardAt = new Map<Life, number>();
  readonly #owner: Database.Statement;
  /** The leases that each worker was given, by its name. */
  readonly #leases = new Map<string, AccountLease[]>();
  #hosts = 0;

  constructor(world: World, path: string) {
    this.#world = world;
    this.time = new BeatTime(world);
    this.#database = new Database(path);
    this.#database.pragma('synchronous = off');
    this.#owner = this.#database.prepare('select holder, generation from account_owners where account = ?');
  }

  /** The process that drives an account, and a name of the time for which it does; undefined if none may send for it. */
  ownerOf(account: string): { readonly life: Life; readonly term: string } | undefined {
    const { holder = null, generation = 0 } = (this.#owner.get(account) ?? {}) as Owner;
    const worker = this.#workers.get(holder ?? '');
    return worker && { life: worker.link.life, term: `${account} ${generation}` };
  }

  /** The program's ownership of accounts, for one process. */
  ownershipOf(link: Link, clock: Clock): Ownership {
    const connection = { db: this.#databaseOf(link), lend: never, [Symbol.asyncDispose]: async () => {} };
    const ownership = new PostgresOwnership({
      heartbeats: connection,
      primary: { term: 0 },
      isReplicated: false,
      db: connection.db,
      mark: { compareAll: async () => {} },
      clock: this.time.clockOf(clock, link.life),
      settingsOf: () => ({}),
      // Each has another one: which worker is the first by its name decides who takes an account.
      facts: { host: `machine-${(this.#hosts += 1)}`, listens: false },
    });
    return {
      take: never,
      share: async (groups, onTaken, stop) =>
        await ownership.share(groups, (lease) => onTaken(this.#inTimeOfWorld(this.#noted(lease))), stop),
      [Symbol.asyncDispose]: async () => await ownership[Symbol.asyncDispose](),
    };
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }

  #noted(lease: AccountLease): AccountLease {
    const name = lease.claim?.name ?? '';
    this.#leases.set(name, [...(this.#leases.get(name) ?? []), lease]);
    return lease;
  }

  #inTimeOfWorld(lease: AccountLease): AccountLease {
    const { lastOwnerUntil } = lease;
    return {
      ...lease,
      now: () => this.#world.databaseTime,
      lastOwnerUntil: lastOwnerUntil === undefined ? undefined : lastOwnerUntil + this.time.stoodMs,
    };
  }

  #databaseOf(link: Link): Tables {
    const connection: DatabaseConnection = {
      executeQuery: async <Row>(query: CompiledQuery) => (await this.#ask(link, query)) as QueryResult<Row>,
      streamQuery: never,
    };
    return new Kysely({
      dialect: {
        createAdapter: () => new PostgresAdapter(),
        createDriver: () => Object.assign(new DummyDriver(), { acquireConnection: async () => connection }),
        createIntrospector: (db) => new PostgresIntrospector(db),
        createQueryCompiler: () => new PostgresQueryCompiler(),
      },
    });
  }

  /** A statement that has left is done, also if its process stands still by then; the answer waits for the process. */
  async #ask(link: Link, { sql, parameters }: CompiledQuery): Promise<QueryResult<unknown>> {
    const { scheduler, chance } = this.#world;
    const { life } = link;
    const name = sql.slice(0, 24).replaceAll(/\s+/g, ' ');
    const isBeat = sql.startsWith(BEAT);
    if (!link.survives(`before ${name}`)) return await nothing;
    if (!isBeat) this.time.stir();
    const fate = link.fateOf();
    const began = this.time.now;
    const { promise, resolve, reject } = Promise.withResolvers<QueryResult<unknown>>();
    const fail = () => reject(new StoreError('disk', 'the connection was lost'));
    const isCut = link.isCut();
    if (isCut || fate === 'lost-before') {
      scheduler.after(isCut ? NO_ANSWER_MS : this.#latencyMs(), `no answer to ${name}`, fail, life);
    } else {
      scheduler.after(this.#latencyMs(), `the server: ${name}`, () => {
        // The bytes of a process that died may be on their way.
        if (!life.isAlive && chance.next() < 0.5) return;
        const answer = this.#done(sql, parameters, link);
        const isLost = fate !== 'heard' || link.isCut();
        const isLate = isBeat && !this.#world.isCalm && chance.next() < LATE;
        const afterMs = isLate ? LATE_MS : this.#latencyMs();
        scheduler.after(afterMs, `answer to ${name}`, isLost ? fail : () => resolve(answer), life);
      });
    }
    const answer = await promise;
    if (!link.survives(`after ${name}`)) return await nothing;
    if (isBeat) this.#heard(life, began);
    return answer;
  }

  #latencyMs(): number {
    return this.#world.chance.of([0, 0, 1, 5, 50, 200]);
  }

  /** Heartbeats could change nothing, if all that the server knows of are renewed and no worker asks for anything else. */
  #heard(life: Life, began: number): void {
    const { now } = this.time;
    this.#heardAt.set(life, began);
    const isHeard = ({ link }: Worker) =>
      link.life.isAlive && now <= (this.#heardAt.get(link.life) ?? Number.NEGATIVE_INFINITY) + HEARD_WITHIN_MS;
    if ([...this.#workers.values()].every(isHeard)) this.time.rest();
  }

  #done(sql: string, values: Values, link: Link): QueryResult<unknown> {
    const found = Object.entries(this.#statements).find(([beginning]) => sql.startsWith(beginning));
    if (found === undefined) throw new Error(`the simulated server does not know this statement: ${sql}`);
    const rows = found[1](values, link);
    return { rows: [...rows], numAffectedRows: BigInt(rows.length) };
  }

  /** By their beginnings, in the order of `sharing/workers.ts`. */
  readonly #statements: Readonly<Record<string, (values: Values, link: Link) => Rows>> = {
    'insert into workers': ([holder, lastsMs, host, , , , , units], link) => {
      const seenUntil = this.#after(lastsMs);
      this.#workers.set(String(holder), {
        host: String(host),
        link,
        seenUntil,
        held: 0,
        units: units as string | null,
      });
      return [{ timeLine: this.#world.timeLine }];
    },
    [BEAT]: ([lastsMs, held, holder]) => this.#beat(String(holder), Number(held), lastsMs),
    'with over as': ([holder, seenUntil]) => {
      const isSeen = this.#workers.get(String(holder))?.seenUntil.toISOString() === seenUntil;
      const trusted = isSeen ? this.#leases.get(String(holder))?.find((lease) => lease.isTrusted()) : undefined;
      if (trusted !== undefined)
        this.#world.fail('one owner an account', `the worker of ${trusted.account} is over, and trusts itself`);
      if (isSeen) this.#workers.delete(String(holder));
      return isSeen ? [{}] : [];
    },
    'delete from workers': ([holder]) => {
      this.#workers.delete(String(holder));
      return [];
    },
    'update workers set units': ([units, holder]) => {
      const worker = this.#workers.get(String(holder));
      if (worker !== undefined) worker.units = units as string | null;
      return [];
    },
    'select holder, units from workers': ([holders, units]) =>
      [...this.#workers]
        .filter(([holder, worker]) => (holders as string[]).includes(holder) && worker.units !== units)
        .map(([holder, worker]) => ({ holder, units: worker.units })),
    'select o.account': ([accounts]) =>
      (accounts as string[]).flatMap((account) =>
        this.#all('select account, generation, holder from account_owners where account = ?', account),
      ),
    'select holder,\n': () =>
      this.#all(
        'select holder, json_group_array(json_array(account, generation)) as owned from account_owners group by holder',
      ),
    'insert into account_owners': ([accounts]) => {
      for (const account of accounts as string[])
        this.#all(
          'insert into account_owners (account, generation) values (?, 0) on conflict do nothing returning 1',
          account,
        );
      return [];
    },
    'with due as': (values) => this.#claim(values),
    'with had as': (values) => this.#release(values),
    'update account_owners o set holder = null': ([, holder]) =>
      this.#all('update account_owners set holder = null where holder = ? returning account', holder),
  };

  #beat(holder: string, held: number, lastsMs: unknown): Rows {
    const own = this.#workers.get(holder);
    if (own !== undefined) Object.assign(own, { seenUntil: this.#after(lastsMs), held });
    const { timeLine } = this.#world;
    const answer = { now: this.#after(0).toISOString(), timeLine, renewed: own === undefined ? 0 : 1 };
    const nobody = { ...answer, holder: null };
    const rows = [...this.#workers].map(([name, { host, units, ...worker }]) => ({
      ...answer,
      holder: name,
      host,
      accounts: worker.held,
      seenUntil: worker.seenUntil.toISOString(),
      sharing: units === null ? 0 : 1,
    }));
    return rows.length === 0 ? [nobody] : rows;
  }

  /** Rows that other transactions have locked are left out. */
  #claim(values: Values): Rows {
    const [accounts = [], generations = [], settings = []] = values.filter(Array.isArray) as Values[];
    const holder = values.at(-2);
    const { timeLine, databaseTime } = this.#world;
    if (!this.#workers.has(String(holder))) return [];
    return accounts.flatMap((account, index) =>
      this.#isLocked() || this.#isOfAnother(account, holder)
        ? []
        : this.#all(
            `update account_owners set generation = generation + 1, holder = ?, last_commit = ?, settings = ?, granted_at = ?,
              time_line = ?, walked = null where account = ? and generation = ? returning account, time_line as timeLine, null as otherSettings`,
            holder,
            holder,
            settings[index],
            databaseTime.toISOString(),
            timeLine,
            account,
            generations[index],
          ),
    );
  }

  /** True if a worker that is not over has the account. */
  #isOfAnother(account: unknown, claimant: unknown): boolean {
    const { holder } = (this.#owner.get(account) ?? {}) as Owner;
    return holder !== claimant && this.#workers.has(holder ?? '');
  }

  /** Returns those whose rows are locked. */
  #release(values: Values): Rows {
    const [accounts = [], generations = []] = values.filter(Array.isArray) as Values[];
    const holder = values.find((value) => typeof value === 'string' && !accounts.includes(value));
    return accounts.flatMap((account, index) => {
      const had = this.#all(
        'select account from account_owners where account = ? and generation = ? and holder = ?',
        account,
        generations[index],
        holder,
      );
      if (had.length > 0 && this.#isLocked()) return had;
      for (const _ of had) this.#all('update account_owners set holder = null where account = ? returning 1', account);
      return [];
    });
  }

  #isLocked(): boolean {
    const { chance, isCalm } = this.#world;
    return !isCalm && chance.next() < LOCKED;
  }

  #after(ms: unknown): Date {
    return new Date(BEGINNING + this.time.now + Number(ms));
  }

  #all(text: string, ...values: unknown[]): Rows {
    return this.#database.prepare(text).all(...values) as Rows;
  }
}

const nothing = new Promise<never>(() => {});

interface Owner {
  readonly holder?: string | null;
  readonly generation?: number;
}

function never(): never {
  throw new Error('nothing asks for it in a simulated world');
}
