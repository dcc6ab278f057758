import Database from 'better-sqlite3';
import type { Merchant } from './merchant.ts';

const SQLITE_GUARDS = `from sqlite_master where type = 'trigger' and name in
  ('merchant_orders_moves', 'merchant_orders_begin')`;
const POSTGRES_GUARDS = ['zz_guard_insert', 'zz_guard_update'];

/**
 * Runs `work` while the database takes any state from any program: rows get to the states in which the program brings
 * them by many steps.
 */
export function unguarded(merchant: Merchant, work: () => void): void {
  merchant.transaction(() => {
    const setGuards = merchant instanceof Database ? sqliteGuards(merchant) : postgresGuards(merchant);
    setGuards('off');
    work();
    setGuards('on');
  })();
}

function sqliteGuards(merchant: Merchant): (to: 'on' | 'off') => void {
  const guards = merchant.prepare(`select name, sql ${SQLITE_GUARDS}`).all() as { name: string; sql: string }[];
  return (to) => {
    for (const { name, sql } of guards) merchant.exec(to === 'off' ? `drop trigger ${name}` : sql);
  };
}

function postgresGuards(merchant: Merchant): (to: 'on' | 'off') => void {
  return (to) => {
    const change = to === 'off' ? 'disable' : 'enable';
    merchant.exec(
      `alter table merchant_orders ${POSTGRES_GUARDS.map((name) => `${change} trigger ${name}`).join(', ')}`,
    );
  };
}
