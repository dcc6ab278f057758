import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/**
 * How a connection is cut at a message of the program: before it reaches the server; once the server has answered it, and the
 * program has not; or with the message on its way, so that it reaches the server when the program has a new connection and
 * asks for the account.
 */
export type Cut = 'before' | 'answered' | 'late';

/** A way to a server of PostgreSQL that can be cut at any message of the program. */
export interface CuttingProxy extends AsyncDisposable {
  readonly port: number;
  /** Messages of the program's transactions since `cutAt`, on all connections. */
  readonly messages: number;
  /** Cuts the connection at its message `n` from now on, the first being 1; no other is cut. */
  cutAt(n: number, how: Cut): void;
  /** While true, no connection gets in. */
  isClosed: boolean;
}

/** Opens a way to the server that listens on a port of loopback. */
export async function cuttingProxy(serverPort: number): Promise<CuttingProxy> {
  const state = { messages: 0, cut: { at: 0, how: 'before' as Cut }, isClosed: false };
  /** Sends the messages that are on their way. */
  const late: (() => void)[] = [];
  const open = new Set<Socket>();

  const join = (program: Socket) => {
    if (state.isClosed) return void program.destroy();
    const server = connect(serverPort, '127.0.0.1');
    for (const socket of [program, server]) {
      open.add(socket);
      socket.on('error', () => undefined).on('close', () => open.delete(socket));
    }
    let isCut = false;
    program.on('close', () => !isCut && server.destroy());
    server.on('close', () => program.destroy()).on('data', (data) => void program.write(data));
    const cut = (message: Buffer, how: Cut) => {
      isCut = true;
      program.destroy();
      if (how === 'before') return void server.destroy();
      // It answers each message that asks for one, and closes by itself if it waits for more of them.
      server.removeAllListeners('data').once('data', () => server.destroy());
      const send = () => server.write(message, () => setImmediate(() => server.end()));
      if (how === 'late') late.push(send);
      else send();
    };
    const split = splitter();
    let isInTransaction = false;
    program.on('data', (data: Buffer) => {
      for (const message of split(data)) {
        if (isCut) return;
        isInTransaction ||= message.includes('begin isolation');
        if (isInTransaction) state.messages += 1;
        const isLast = message.includes('commit\0') || message.includes('rollback\0');
        const isToCut = isInTransaction && state.messages === state.cut.at;
        isInTransaction &&= !isLast;
        if (isToCut) {
          cut(message, state.cut.how);
        } else {
          server.write(message);
          if (message.includes('account_owners')) for (const send of late.splice(0)) send();
        }
      }
    });
  };

  const listener: Server = createServer(join).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return {
    port: (listener.address() as AddressInfo).port,
    get messages() {
      return state.messages;
    },
    cutAt(n, how) {
      state.messages = 0;
      state.cut = { at: n, how };
    },
    get isClosed() {
      return state.isClosed;
    },
    set isClosed(isClosed) {
      state.isClosed = isClosed;
    },
    async [Symbol.asyncDispose]() {
      listener.close();
      for (const socket of open) socket.destroy();
    },
  };
}

/** Returns the whole messages of a program, as they come; the first one of a connection has no type. */
function splitter(): (data: Buffer) => Buffer[] {
  let rest: Buffer = Buffer.alloc(0);
  let isFirst = true;
  return (data) => {
    rest = Buffer.concat([rest, data]);
    const messages: Buffer[] = [];
    for (;;) {
      const start = isFirst ? 0 : 1;
      if (rest.length < start + 4) return messages;
      const length = start + rest.readInt32BE(start);
      if (rest.length < length) return messages;
      messages.push(rest.subarray(0, length));
      rest = rest.subarray(length);
      isFirst = false;
    }
  };
}
