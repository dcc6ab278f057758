import type { Insertable, Selectable, Updateable } from 'kysely';
import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  drizzleColumns,
  OPTIONAL,
  REQUIRED,
  TABLES,
  type MerchantOrdersTable,
  type NewOrder,
  type OrderState,
  type ShopTables,
} from '../../../src/extensions/shop/schema.ts';
import type { OrderState as StateOfRules } from '../../../src/orders/rules/states.ts';
import { ORDER_COLUMNS } from '../../../src/store/orders/order-columns.ts';
import type { Tables } from '../../../src/store/schema.ts';
import { scriptedProgram } from '../../support/test-program.ts';

/** The types of columns that have fewer values for a shop than for the program. */
type Widened<Row> = {
  [Name in keyof Row]: Row[Name] extends string ? string : Row[Name] extends string | null ? string | null : Row[Name];
};

describe('the tables of a shop', () => {
  it('have the columns of the database, in the types that they have there', async () => {
    const { program } = await scriptedProgram();
    for (const [table, columns] of Object.entries(TABLES)) {
      const found = program.merchant.prepare(`select * from pragma_table_info('${table}')`).all() as {
        name: string;
        type: string;
        notnull: number;
      }[];
      const types = new Map(found.map(({ name, type }) => [name, type.toLowerCase()]));
      const missing = Object.entries<string>(columns).filter(
        ([name, type]) => types.get(name) !== type.replace('?', ''),
      );
      expect([table, missing]).toEqual([table, []]);
    }
    expect(new Set([...REQUIRED, ...OPTIONAL])).toEqual(new Set(['account', ...ORDER_COLUMNS]));
  });

  it('are read by Kysely as the program reads them', () => {
    type Orders = Selectable<MerchantOrdersTable>;
    type Program = Selectable<Tables['merchant_orders']>;
    expectTypeOf<Widened<Orders>>().toEqualTypeOf<Widened<Pick<Program, keyof Orders>>>();
    expectTypeOf<OrderState>().toEqualTypeOf<StateOfRules>();
    expectTypeOf<Selectable<ShopTables['order_events']>>().toEqualTypeOf<Selectable<Tables['order_events']>>();
    type Findings = Selectable<ShopTables['findings']>;
    expectTypeOf<Widened<Findings>>().toEqualTypeOf<Widened<Selectable<Tables['findings']>>>();
    expectTypeOf<Selectable<ShopTables['pre_orders']>>().toEqualTypeOf<Selectable<Tables['pre_orders']>>();
    expectTypeOf<Selectable<ShopTables['account_holds']>>().toEqualTypeOf<Selectable<Tables['account_holds']>>();
    type Records = Selectable<ShopTables['order_records']>;
    expectTypeOf<Records>().toEqualTypeOf<Pick<Selectable<Tables['order_records']>, keyof Records>>();
  });

  it('are written without the columns of order-sync', () => {
    expectTypeOf<keyof Insertable<MerchantOrdersTable>>().toEqualTypeOf<keyof NewOrder>();
    expectTypeOf<Insertable<MerchantOrdersTable>>().toExtend<NewOrder>();
    expectTypeOf<NewOrder>().toExtend<Insertable<MerchantOrdersTable>>();
    expectTypeOf<keyof Updateable<MerchantOrdersTable>>().toEqualTypeOf<keyof NewOrder>();
    expectTypeOf<keyof Insertable<ShopTables['findings']>>().toBeNever();
  });

  it('are declared for Drizzle column by column', () => {
    const builder = (made: readonly string[]) => ({
      made,
      notNull: () => builder([...made, 'not null']),
      generatedAlwaysAs: (as: 'null') => builder([...made, `generated as ${as}`]),
    });
    const columns = drizzleColumns('merchant_orders', {
      text: () => builder(['text']),
      integer: () => builder(['integer']),
      nothing: 'null',
    });
    const { external_order_id, bonus, state, outcome, revision } = columns;
    expect([external_order_id, bonus, state, outcome, revision].map(({ made }) => made.join(', '))).toEqual([
      'text, not null',
      'text',
      'text, generated as null, not null',
      'text, generated as null',
      'integer, generated as null, not null',
    ]);
  });
});
