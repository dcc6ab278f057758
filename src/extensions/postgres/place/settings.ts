import { userInfo } from 'node:os';
import type { z } from 'zod';
import type { ServerDatabase } from '../../../settings/database.ts';
import { ConfigError, file, section, settingsPart } from '../../../settings/settings.ts';
import { duration, isLoopback, oneOf, optional, plainText, wholeNumber } from '../../../settings/values.ts';
import { databaseUrl, hostsText, type DatabaseHost } from './url.ts';

const database = section({
  url: databaseUrl,
  password: optional(plainText),
  passwordFile: file,
  poolSize: wholeNumber(1, 1_000),
  notify: oneOf('on', 'off'),
  synchronousStandbys: wholeNumber(0, 5),
  readFrom: oneOf('primary', 'standby'),
  readBehind: duration('1h'),
  tls: optional(oneOf('off', 'require', 'verify')),
  tlsCaFile: optional(plainText),
  marks: plainText,
})
  .refine(({ url, synchronousStandbys }) => url.kind !== 'sqlite' || synchronousStandbys === 0, {
    path: ['synchronousStandbys'],
    error: 'is for PostgreSQL: with SQLite set it to 0',
  })
  .refine(({ url, readFrom }) => readFrom === 'primary' || (url.kind === 'postgres' && url.hosts.length > 1), {
    path: ['readFrom'],
    error:
      'is standby, but database.url does not name several hosts: add the hosts of the standbys, or set it to primary',
  });

type Section = Readonly<z.output<typeof database>>;
type ServerSection = Section & { readonly url: Extract<Section['url'], { readonly kind: 'postgres' }> };

/** Paths of files are absolute. The password in `passwordFile` may change while the program runs. */
export interface PostgresDatabase
  extends ServerDatabase, Omit<Section, 'url' | 'notify' | 'tls' | keyof ServerDatabase> {
  readonly hosts: readonly DatabaseHost[];
  readonly user: string;
  readonly name: string;
  readonly notify: boolean;
  /** `require` encrypts without checking the certificate of the server. */
  readonly tls: 'off' | 'require' | 'verify';
}

export function settingsWith(driver: ServerDatabase['driver']) {
  return settingsPart({
    sections: { database },
    secrets: ['database.password'],
    files: ['database.tlsCaFile', 'database.marks'],
    server: (written: ServerSection): PostgresDatabase => ({ ...placeOf(written), driver }),
  });
}

function placeOf({ url: place, ...settings }: ServerSection): Omit<PostgresDatabase, 'driver'> {
  const { hosts, name } = place;
  const user = place.user ?? systemUser();
  const folder = hosts.map(({ host }) => host).find((host) => host.startsWith('/'));
  const authority = `${encodeURIComponent(user)}@${hostsText(hosts)}`;
  const address = `postgres://${authority}/${encodeURIComponent(name)}${folder === undefined ? '' : `?host=${folder}`}`;
  const isHere = folder !== undefined || hosts.every(({ host }) => isLoopback(host));
  return {
    kind: 'postgres',
    address,
    hosts,
    user,
    name,
    ...settings,
    password: settings.password ?? place.password,
    isPasswordInUrl: place.password !== undefined,
    notify: settings.notify === 'on',
    tls: settings.tls ?? (isHere ? 'off' : 'verify'),
  };
}

function systemUser(): string {
  try {
    return userInfo().username;
  } catch (cause) {
    throw new ConfigError('database.url names no user, and the user of this system has no name', { cause });
  }
}
