import type { Services } from '../../daemon.ts';
import type { Store } from '../../store/port.ts';

declare module '../../daemon.ts' {
  interface Services {
    purges?: Purge[];
  }
}

/** Deletes rows older than `ageMs`, the setting `retention.<name>`. If `ageMs` is undefined, all rows stay. */
export interface Purge {
  readonly name: string;
  readonly ageMs: number | undefined;
  /** Deletes at most `limit` rows of an account that are older than `before`. Returns the number of deleted rows. */
  readonly deleteSome: (store: Store, query: PurgeQuery) => Promise<number>;
}

export interface PurgeQuery {
  readonly account: string;
  readonly before: Date;
  readonly limit: number;
}

/** Adds a purge. Returns the list of all purges, which grows when a later service adds a purge. */
export function addPurge(services: Services, purge: Purge): readonly Purge[] {
  const purges = (services.purges ??= []);
  purges.push(purge);
  return purges;
}
