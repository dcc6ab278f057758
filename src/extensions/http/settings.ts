import { text } from '../../settings/values.ts';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

export const listenAddress = text(
  (given): ListenAddress | undefined => {
    if (given === 'off') return undefined;
    const [, host = '', port = ''] = /^(\[[0-9a-f:.]+\]|[a-z0-9.-]+):(\d{1,5})$/i.exec(given) ?? [];
    if (host === '' || Number(port) > 65_535) throw new Error('must be HOST:PORT such as 127.0.0.1:9464, or off');
    return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
  },
  { type: 'string', pattern: '^(off|.+:\\d{1,5})$' },
);
