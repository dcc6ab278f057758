import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A way to a server on loopback, whose connections can be cut at any moment. */
export interface Way extends AsyncDisposable {
  readonly port: number;
  /** Cuts about this share of the connections that are open. */
  cut(share: number, random: () => number): number;
  /** Leads to another server from now on; the connections that are open are cut. */
  leadTo(port: number): void;
}

/** Opens a way to the server that listens on a port of loopback. */
export async function openWay(to: number): Promise<Way> {
  const open = new Set<Socket>();
  let serverPort = to;
  const listener = createServer((client) => {
    const server = connect(serverPort, '127.0.0.1');
    open.add(client);
    client
      .on('error', () => undefined)
      .on('close', () => {
        open.delete(client);
        server.destroy();
      });
    server.on('error', () => undefined).on('close', () => client.destroy());
    client.pipe(server);
    server.pipe(client);
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return {
    port: (listener.address() as AddressInfo).port,
    cut(share, random) {
      const chosen = [...open].filter(() => random() < share);
      for (const socket of chosen) socket.destroy();
      return chosen.length;
    },
    leadTo(port) {
      serverPort = port;
      for (const socket of open) socket.destroy();
    },
    async [Symbol.asyncDispose]() {
      listener.close();
      for (const socket of open) socket.destroy();
    },
  };
}
