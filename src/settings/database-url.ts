import { text } from './values.ts';

type DatabaseUrl =
  | { readonly kind: 'sqlite'; readonly file: string }
  | {
      readonly kind: 'postgres';
      /** The name of the host, or the absolute path of the folder of the server's socket. */
      readonly host: string;
      readonly port: number;
      readonly user: string | undefined;
      readonly password: string | undefined;
      readonly name: string;
    };

export const POSTGRES_PORT = 5432;

const SQLITE = /^sqlite:(?!\/\/)([^\p{Cc}]+)$/u;
const POSTGRES =
  /^postgres(?:ql)?:\/\/(?:(?<user>[^:@/?#]*)(?::(?<password>[^@/?#]*))?@)?(?<host>\[[0-9a-f:.]+\]|[^:@/?#,]*)(?::(?<port>\d{1,5}))?\/(?<name>[^/?#]+)(?:\?(?<query>[^#]*))?$/i;
const FORMS = 'sqlite:PATH, such as sqlite:data/order-sync.db, or postgres://USER@HOST:PORT/DATABASE';

/** `sqlite:PATH`, or the address of a database of a PostgreSQL server. It may hold a password, and no reason quotes it. */
export const databaseUrl = text(
  (value): DatabaseUrl => {
    const [, file] = SQLITE.exec(value) ?? [];
    if (file !== undefined) return { kind: 'sqlite', file };
    const parts = POSTGRES.exec(value)?.groups;
    if (parts === undefined) {
      throw new Error(`must be ${FORMS} (characters such as @, / and # in a name or a password as %40, %2F, %23)`);
    }
    const host = folderOf(parts['query'] ?? '') ?? decoded(parts['host'] ?? '').replaceAll(/^\[|\]$/g, '');
    if (host === '')
      throw new Error('must name the host, or the folder of its socket: postgres:///DATABASE?host=/FOLDER');
    const port = Number(parts['port'] ?? POSTGRES_PORT);
    if (port < 1 || port > 65_535) throw new Error('must name a port from 1 to 65535');
    const [user, password] = [decoded(parts['user'] ?? ''), decoded(parts['password'] ?? '')];
    const name = decoded(parts['name'] ?? '');
    return { kind: 'postgres', host, port, user: user || undefined, password: password || undefined, name };
  },
  { type: 'string', pattern: '^(sqlite:(?!//).|postgres(ql)?://.)' },
);

export function withoutPassword(url: string): string {
  return url.replace(/^(postgres(?:ql)?:\/\/[^:@/?#]*):[^@/?#]*@/i, '$1@');
}

/** The folder that `?host=` names, in the form that PostgreSQL's own programs take. */
function folderOf(query: string): string | undefined {
  const parameters = new URLSearchParams(query);
  const other = [...parameters.keys()].find((name) => name !== 'host');
  if (other !== undefined) {
    const advice = other.startsWith('ssl') ? '; database.tls says how to encrypt' : '';
    throw new Error(`has the parameter ${other}, and only host is known${advice}`);
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
