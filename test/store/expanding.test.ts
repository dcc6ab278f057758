import { describe, expect, it } from 'vitest';
import { MIGRATIONS } from '../../migrations/index.ts';
import { StoreError } from '../../src/store/errors.ts';
import { assertKnownVersion, assertNotNewer, isUpToDate, migrationStatus } from '../../src/store/migrations.ts';
import { contractionIn } from '../support/migration-hash.ts';

const APPLIED = Object.entries(MIGRATIONS).map(([name, { hash }]) => [name, hash] as const);
const after = (name: string) => new Map<string, string | null>([...APPLIED, [name, 'a hash of the next version']]);

describe('the tables of the next version', () => {
  it('are used if its migration only adds: the daemon continues and begins', async () => {
    const applied = after('0009_expand_notes');
    expect(isUpToDate(MIGRATIONS, applied)).toBe(true);
    const migrations = async () => migrationStatus(MIGRATIONS, applied);
    await assertNotNewer({ address: 'address', migrations });
    for (const expectation of ['migrate', 'upgrade', 'current', 'any'] as const) {
      assertKnownVersion({ migrations: MIGRATIONS, address: 'address' }, applied, expectation, []);
    }
  });

  it.each(['0009_contract_notes', '0009_notes', '0009_notes_expand_x'])('are refused after %s', async (name) => {
    const applied = after(name);
    const migrations = async () => migrationStatus(MIGRATIONS, applied);
    await expect(assertNotNewer({ address: 'address', migrations })).rejects.toThrow(StoreError);
    const open = () => assertKnownVersion({ migrations: MIGRATIONS, address: 'address' }, applied, 'any', []);
    expect(open).toThrow(StoreError);
  });

  it('are refused if an older migration is missing, or is of another commit', () => {
    const applied = after('0009_expand_notes');
    applied.delete(APPLIED.at(-1)?.[0] ?? '');
    expect(isUpToDate(MIGRATIONS, applied)).toBe(false);
    applied.set(APPLIED.at(-1)?.[0] ?? '', null);
    const open = () => assertKnownVersion({ migrations: MIGRATIONS, address: 'address' }, applied, 'any', []);
    expect(open).toThrow(StoreError);
  });
});

describe('a migration that only adds', () => {
  it.each([
    'alter table merchant_orders add column note text',
    'alter table workers add column listens boolean not null default false',
    'alter table workers add column a text, add column b bigint not null default 0',
    'create index orders_by_note on merchant_orders (note)',
    'drop index merchant_orders_followed',
  ])('may "%s"', (text) => expect(contractionIn([text])).toBeUndefined());

  it('may make a table as it likes', () => {
    const made = ['create table notes (id bigint not null)', 'create unique index notes_id on notes (id)'];
    expect(contractionIn(made)).toBeUndefined();
  });

  it.each([
    'drop table account_requests',
    'alter table workers drop column public_key',
    'alter table workers rename column host to machine',
    'alter table workers rename to processes',
    'alter table workers alter column host set not null',
    'alter table workers alter column host type bigint',
    'alter table workers add column zone text not null',
    'alter table workers add column a text default 1, add column b text not null',
    'alter table workers add constraint one unique (host)',
    'create unique index one on workers (host)',
  ])('may not "%s"', (text) => expect(contractionIn(['create table notes (id int)', text])).toBe(text));
});
