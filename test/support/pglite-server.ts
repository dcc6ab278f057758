import { createServer, type AddressInfo, type Socket } from 'node:net';
import { parentPort } from 'node:worker_threads';
import { pathToFileURL } from 'node:url';
import { OWNER } from './postgres-server.ts';
import { tool } from './tools.ts';

/** As much of PGlite as is used here. */
interface PGlite {
  exec(sql: string): Promise<unknown>;
  execProtocolRaw(messages: Uint8Array): Promise<Uint8Array>;
}

interface PGliteModule {
  readonly PGlite: {
    readonly defaultStartParams: readonly string[];
    create(options: { readonly startParams: readonly string[] }): Promise<PGlite>;
  };
}

/**
 * Serves PGlite, PostgreSQL within Node, to clients of PostgreSQL's protocol. It is one session, so the connections take turns
 * of a transaction each. They share what a session has: settings, temporary tables.
 */

const SSL_REQUEST = 80_877_103;
const CANCEL_REQUEST = 80_877_102;
/** With these a client waits for the answer: Query, Sync, Flush. */
const ENDS = 'QSH';
const READY = message('Z', Buffer.from('I'));

/** The session: who speaks with it now, who waits, and in which role it is. */
class Session {
  readonly #database: PGlite;
  readonly #waiting: (() => void)[] = [];
  #speaker: Client | undefined;
  #role = 'postgres';

  constructor(database: PGlite) {
    this.#database = database;
  }

  /** Runs messages as `client`, whose turn lasts until its transaction has ended. */
  async run(client: Client, messages: Buffer): Promise<Buffer> {
    while (this.#speaker !== undefined && this.#speaker !== client) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#speaker = client;
    if (this.#role !== client.role) {
      await this.#database.exec(`reset session authorization; set session authorization "${client.role}"`);
      this.#role = client.role;
    }
    const answer = Buffer.from(await this.#database.execProtocolRaw(messages));
    const isReady = answer.at(-6) === READY[0] && answer.readInt32BE(answer.length - 5) === 5;
    if (isReady && answer.at(-1) === READY.at(-1)) this.#next();
    return answer;
  }

  /** A client that goes in the middle of a transaction takes it back. */
  async end(client: Client): Promise<void> {
    if (this.#speaker !== client) return;
    await this.#database.exec('rollback');
    this.#next();
  }

  #next(): void {
    this.#speaker = undefined;
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

/** One connection. Statements that it has named bear its number as well: another may use the same name. */
class Client {
  role = OWNER;
  readonly #socket: Socket;
  readonly #session: Session;
  readonly #number: number;
  #received = Buffer.alloc(0);
  #messages: Buffer[] = [];
  #hasStarted = false;

  constructor(socket: Socket, session: Session, number: number) {
    this.#socket = socket;
    this.#session = session;
    this.#number = number;
  }

  async receive(data: Buffer): Promise<void> {
    this.#received = Buffer.concat([this.#received, data]);
    for (;;) {
      const head = this.#hasStarted ? 1 : 0;
      if (this.#received.length < head + 4) return;
      const end = head + this.#received.readInt32BE(head);
      if (this.#received.length < end) return;
      const one = this.#received.subarray(0, end);
      this.#received = this.#received.subarray(end);
      if (this.#hasStarted) await this.#take(one);
      else this.#start(one);
    }
  }

  #start(one: Buffer): void {
    const code = one.readInt32BE(4);
    if (code === SSL_REQUEST) return void this.#socket.write('N');
    if (code === CANCEL_REQUEST) return void this.#socket.end();
    const given = one.toString('utf8', 8).split('\0');
    this.role = given[given.indexOf('user') + 1] ?? OWNER;
    this.#hasStarted = true;
    const status = {
      server_version: '17.0',
      server_encoding: 'UTF8',
      client_encoding: 'UTF8',
      DateStyle: 'ISO, MDY',
      integer_datetimes: 'on',
      standard_conforming_strings: 'on',
    };
    const told = Object.entries(status).map(([name, value]) => message('S', Buffer.from(`${name}\0${value}\0`)));
    this.#socket.write(Buffer.concat([message('R', Buffer.alloc(4)), ...told, message('K', Buffer.alloc(8)), READY]));
  }

  async #take(one: Buffer): Promise<void> {
    const type = String.fromCharCode(one[0] ?? 0);
    if (type === 'X') return void this.#socket.end();
    this.#messages.push(this.#named(type, one));
    if (!ENDS.includes(type)) return;
    const messages = Buffer.concat(this.#messages.splice(0));
    const answer = await this.#session.run(this, messages);
    if (this.#socket.writable) this.#socket.write(answer);
  }

  /** Parse names a statement first, Bind after a portal, Describe and Close after an S. */
  #named(type: string, one: Buffer): Buffer {
    const isOfStatement = (type === 'D' || type === 'C') && one[5] === 'S'.charCodeAt(0);
    const at = type === 'P' ? 5 : type === 'B' ? one.indexOf(0, 5) + 1 : isOfStatement ? 6 : -1;
    if (at < 0 || one[at] === 0) return one;
    const body = Buffer.concat([one.subarray(5, at), Buffer.from(`${this.#number}_`), one.subarray(at)]);
    return message(type, body);
  }
}

function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

// The program wants a database that syncs what it commits; in memory that is nothing.
const { PGlite } = (await import(pathToFileURL(tool('@electric-sql/pglite/dist/index.js')).href)) as PGliteModule;
const database = await PGlite.create({ startParams: PGlite.defaultStartParams.filter((flag) => flag !== '-F') });
await database.exec(`create role ${OWNER} login; alter database postgres owner to ${OWNER}`);
const session = new Session(database);
let clients = 0;
const server = createServer((socket) => {
  const client = new Client(socket, session, (clients += 1));
  let last = Promise.resolve();
  const then = (work: () => Promise<void>) => {
    last = last.then(work).catch((error: unknown) => void socket.destroy(error instanceof Error ? error : undefined));
  };
  socket.setNoDelay();
  socket.on('error', () => undefined);
  socket.on('data', (data) => then(() => client.receive(data)));
  socket.on('close', () => then(() => session.end(client)));
});
server.listen(0, '127.0.0.1', () => parentPort?.postMessage((server.address() as AddressInfo).port, []));
