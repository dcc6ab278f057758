import type { Services } from '../../daemon.ts';
import type { Store } from '../../store/port.ts';

declare module '../../daemon.ts' {
  interface Services {
    purges?: Purge[];
  }
}

/** Rows that are deleted when they are older than `ageMs`, which is the setting `retention.<name>`. */
export interface Purge {
  readonly name: string;
  readonly ageMs: number | undefined;
  /** Deletes the oldest rows of an account that are older than `before`, at most `limit`. Returns how many. */
  readonly deleteSome: (store: Store, query: PurgeQuery) => Promise<number>;
}

export interface PurgeQuery {
  readonly account: string;
  readonly before: Date;
  readonly limit: number;
}

/** Returns the purges of all services, to which later services add theirs. */
export function addPurge(services: Services, purge: Purge): readonly Purge[] {
  const purges = (services.purges ??= []);
  purges.push(purge);
  return purges;
}
