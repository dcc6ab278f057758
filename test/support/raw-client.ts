import { connect, type Socket } from 'node:net';

/** A connection on which a test writes what it wants, whether it is HTTP or not. */
export interface RawClient {
  send(bytes: string | Buffer): void;
  /** Says that nothing more comes. */
  end(): void;
  /** Goes away in the middle. */
  destroy(): void;
  /** Resolves with all that has arrived once it matches. Rejects when the other side closes before. */
  until(pattern: RegExp): Promise<string>;
  /** Resolves with all that has arrived when the connection is closed, in whatever way. */
  readonly closed: Promise<string>;
}

/** Connects to the host and port of an address. */
export function rawClient(url: string): RawClient {
  const { hostname, port } = new URL(url);
  const socket: Socket = connect(Number(port), hostname);
  let received = '';
  const check = new Set<() => void>();
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text;
    for (const one of check) one();
  });
  // The bytes that are written after the other side has closed.
  socket.on('error', () => {});
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(received)));
  return {
    send: (bytes) => void socket.write(bytes),
    end: () => void socket.end(),
    destroy: () => void socket.destroy(),
    closed,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const one = () => {
          if (!pattern.test(received)) return;
          check.delete(one);
          resolve(received);
        };
        check.add(one);
        one();
        void closed.then(() => reject(new Error(`closed before ${String(pattern)} came: ${received}`)));
      }),
  };
}
