import { MessageChannel, receiveMessageOnPort, Worker, type MessagePort } from 'node:worker_threads';
import type { ClientConfig } from 'pg';
import { scriptOf, statementOf, type MerchantStatement } from './merchant-sql.ts';
import type { Merchant, MerchantQuery } from './merchant.ts';
import type { PostgresTestDatabase } from './postgres.ts';
import { FLAGS } from './program.ts';

/** The requests to the thread about a connection, which is known by its number. */
export type MerchantRequest = { readonly connection: number } & (
  | { readonly kind: 'open'; readonly config: ClientConfig }
  | { readonly kind: 'query'; readonly text: string; readonly values?: readonly unknown[] }
  | { readonly kind: 'close' }
);

/** The answers of the thread. */
export interface MerchantAnswer {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  readonly changes: number;
  /** The error of the database in place of an answer, with its code. */
  readonly error?: { readonly message: string; readonly code?: string };
}

/** Opens a connection of the merchant's; `as` is another role of the server. */
export function openMerchant({ connection }: PostgresTestDatabase, as: string = connection.user): Merchant {
  const thread = (shared ??= new Thread());
  const number = thread.next();
  thread.ask({ connection: number, kind: 'open', config: { ...connection, user: as } });
  const query = (text: string, values?: readonly unknown[]) =>
    thread.ask({ connection: number, kind: 'query', text, ...(values !== undefined && { values }) });
  return {
    prepare: (sql) => new PostgresQuery(statementOf(sql), query),
    exec: (sql) => query(scriptOf(sql)),
    transaction: (work) => () => {
      query('begin');
      try {
        work();
        query('commit');
      } catch (error) {
        query('rollback');
        throw error;
      }
    },
    close: () => thread.ask({ connection: number, kind: 'close' }),
  };
}

class PostgresQuery implements MerchantQuery {
  readonly #statement: MerchantStatement;
  readonly #query: (text: string, values: readonly unknown[]) => MerchantAnswer;
  #form: 'object' | 'array' | 'first' = 'object';

  constructor(statement: MerchantStatement, query: (text: string, values: readonly unknown[]) => MerchantAnswer) {
    this.#statement = statement;
    this.#query = query;
  }

  run(...values: unknown[]) {
    return { changes: this.#run(values).changes };
  }

  get(...values: unknown[]) {
    return this.all(...values)[0];
  }

  all(...values: unknown[]) {
    const { columns, rows } = this.#run(values);
    if (this.#form === 'array') return [...rows];
    if (this.#form === 'first') return rows.map(([first]) => first);
    return rows.map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index]])));
  }

  pluck() {
    this.#form = 'first';
    return this;
  }

  raw() {
    this.#form = 'array';
    return this;
  }

  #run(given: readonly unknown[]): MerchantAnswer {
    const { text, parameters } = this.#statement;
    const named = given[0] as Readonly<Record<string, unknown>>;
    return this.#query(
      text,
      parameters.map((parameter) => {
        const value = typeof parameter === 'number' ? given[parameter] : named[parameter];
        if (value === undefined) throw new RangeError(`no value was given for ${parameter}`);
        return value;
      }),
    );
  }
}

/** Far above what any statement of a test takes: it says that the thread is gone. */
const LONGEST_WAIT_MS = 60_000;

/** One thread for all connections of a process: it takes longer to start than all that a test asks of it. */
let shared: Thread | undefined;

/** Does what takes time on a thread of its own, while this one waits. */
class Thread {
  readonly #port: MessagePort;
  readonly #answered = new Int32Array(new SharedArrayBuffer(4));
  #connections = 0;

  constructor() {
    const { port1, port2 } = new MessageChannel();
    const worker = new Worker(new URL('merchant-postgres-worker.ts', import.meta.url), {
      workerData: { port: port2, answered: this.#answered },
      transferList: [port2],
      execArgv: FLAGS,
    });
    worker.unref();
    port1.unref();
    this.#port = port1;
  }

  next(): number {
    return (this.#connections += 1);
  }

  /** Throws what the database says. */
  ask(request: MerchantRequest): MerchantAnswer {
    this.#port.postMessage(request, []);
    // The notice of an answer that has been read already wakes too.
    while (Atomics.load(this.#answered, 0) === 0) {
      if (Atomics.wait(this.#answered, 0, 0, LONGEST_WAIT_MS) === 'timed-out')
        throw new Error('the database gave no answer');
    }
    Atomics.store(this.#answered, 0, 0);
    const received = receiveMessageOnPort(this.#port) as { readonly message: MerchantAnswer };
    const { error } = received.message;
    if (error === undefined) return received.message;
    throw Object.assign(new Error(error.message), { code: error.code });
  }
}
