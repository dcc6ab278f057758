import { PostgresQueryCompiler, sql, type RawNode } from 'kysely';
import { INDEXED_CHARACTERS, IS_FOLLOWED } from '../../../migrations/postgres/0001_initial.ts';
import { isTime } from '../../../migrations/postgres/guards.ts';
import { MAX_DIGITS } from '../../base/decimal.ts';
import type { SqlPartNode, SqlParts } from '../../store/dialect.ts';

export class PostgresCompiler extends PostgresQueryCompiler {
  protected override visitRaw(node: RawNode & Partial<SqlPartNode>): void {
    super.visitRaw(node.in?.(PARTS) ?? node);
  }
}

/** As `readDecimal` matches a decimal. */
const DECIMAL = String.raw`'^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d{1,4})?$'`;

const beginningOf = (text: unknown) => sql`substr(${text}, 1, ${sql.lit(INDEXED_CHARACTERS)})`;

const PARTS: SqlParts = {
  unindexed: (column) => sql.ref(column),
  // The index has only the beginning of each text, because index entries are bounded and ids of the exchange are not.
  hasLongText: (column, value) =>
    sql`${beginningOf(sql.ref(column))} = ${beginningOf(value)} and ${sql.ref(column)} = ${value}`,
  indexedBy: () => sql``,
  isFollowed: () => sql.raw(IS_FOLLOWED),
  markOfCopy: () => sql`0`,
  bytesOf: (text) => sql`convert_to(${text}, 'UTF8')`,
  textOf: (bytes) => sql`convert_from(${bytes}, 'UTF8')`,
  isOneOf: (column, texts) => sql`${sql.ref(column)} = any(array(select json_array_elements_text(${texts}::json)))`,
  isAfterEvent: ({ account, id }) => sql`(account, id) > (${account}, ${id})`,
  orderOfEvents: () => sql`account, id`,
  isStoredTime: (column) => sql.raw(isTime(column)),
  exactSum(column) {
    const text = sql.ref<string | null>(column);
    const written = sql`case when ${text} ~* 'e' then trim_scale(${text}::numeric)::text else ${text} end`;
    const isDecimal = sql`coalesce(case
      when length(${text}) > ${sql.lit(2 * MAX_DIGITS)} or ${text} !~ ${sql.raw(DECIMAL)} then false
      else length(regexp_replace(${written}, '[^0-9]', '', 'g')) <= ${sql.lit(MAX_DIGITS)} end, false)`;
    return sql`'["' || coalesce(trim_scale(sum(case when ${isDecimal} then ${text}::numeric end)), 0) || '",'
      || count(*) filter (where not ${isDecimal}) || ']'`;
  },
};
