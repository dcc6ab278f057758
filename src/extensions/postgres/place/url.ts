import { readSqliteUrl, SQLITE_FORM } from '../../../settings/database.ts';
import { text } from '../../../settings/values.ts';

/** `host` is a name, an address, or the absolute path of the folder with the server's socket. */
export interface DatabaseHost {
  readonly host: string;
  readonly port: number;
}

const POSTGRES_PORT = 5432;
const MOST_HOSTS = 10;

const HOST = String.raw`(?:\[[0-9a-f:.]+\]|[^:@/?#,]*)(?::\d{1,5})?`;
const POSTGRES = new RegExp(
  String.raw`^postgres(?:ql)?:\/\/(?:(?<user>[^:@/?#]*)(?::(?<password>[^@/?#]*))?@)?(?<hosts>${HOST}(?:,${HOST})*)\/(?<name>[^/?#]+)(?:\?(?<query>[^#]*))?$`,
  'i',
);
const FORMS = `${SQLITE_FORM}, or postgres://USER@HOST:PORT,HOST:PORT/DATABASE`;

/** Reads `sqlite:PATH` or a PostgreSQL address. Errors do not quote the address, because it may hold a password. */
export const databaseUrl = text(
  (value) => {
    const sqlite = readSqliteUrl(value);
    if (sqlite !== undefined) return sqlite;
    const parts = POSTGRES.exec(value)?.groups;
    if (parts === undefined) {
      throw new Error(`must be ${FORMS}; write @, / and # in a name or a password as %40, %2F and %23`);
    }
    const hosts = hostsOf(parts['hosts'] ?? '', folderOf(parts['query'] ?? ''));
    const [user, password] = [decoded(parts['user'] ?? ''), decoded(parts['password'] ?? '')];
    const name = decoded(parts['name'] ?? '');
    return { kind: 'postgres' as const, hosts, user: user || undefined, password: password || undefined, name };
  },
  { type: 'string', pattern: '^(sqlite:(?!//).|postgres(ql)?://.)' },
);

export function hostsText(hosts: readonly DatabaseHost[]): string {
  const one = ({ host, port }: DatabaseHost) => {
    const name = host.startsWith('/') ? '' : host.includes(':') ? `[${host}]` : host;
    return port === POSTGRES_PORT ? name : `${name}:${port}`;
  };
  return hosts.map(one).join();
}

function hostsOf(listed: string, folder: string | undefined): readonly DatabaseHost[] {
  const hosts = listed.split(',').map((one): DatabaseHost => {
    const [, host = '', digits = POSTGRES_PORT] = /^(\[.*\]|[^:]*)(?::(\d+))?$/.exec(one) ?? [];
    const port = Number(digits);
    if (port < 1 || port > 65_535) throw new Error('must name a port from 1 to 65535');
    return { host: folder ?? decoded(host).replaceAll(/^\[|\]$/g, ''), port };
  });
  if (hosts.some(({ host }) => host === ''))
    throw new Error('must name the host, or the folder of its socket: postgres:///DATABASE?host=/FOLDER');
  if (hosts.length === 1) return hosts;
  if (hosts.some(({ host }) => host.startsWith('/')))
    throw new Error('must name one folder of a socket, or several hosts');
  if (hosts.length > MOST_HOSTS) throw new Error(`must name at most ${MOST_HOSTS} hosts`);
  if (new Set(hosts.map((one) => hostsText([one]))).size < hosts.length) throw new Error('must name each host once');
  return hosts;
}

/** Returns the folder of the socket from `?host=`, which PostgreSQL's own programs accept too. */
function folderOf(query: string): string | undefined {
  const parameters = new URLSearchParams(query);
  const other = [...parameters.keys()].find((name) => name !== 'host');
  if (other !== undefined) {
    const advice = other.startsWith('ssl') ? '; database.tls says how to encrypt' : '';
    throw new Error(`has the parameter ${other}, but may have only the parameter host${advice}`);
  }
  const folder = parameters.get('host') ?? undefined;
  if (folder !== undefined && !folder.startsWith('/'))
    throw new Error('must name an absolute folder in its parameter host');
  return folder;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new Error('has a % that is not followed by two hexadecimal digits');
  }
}
