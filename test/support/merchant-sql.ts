/**
 * The statements of tests are written in the words of SQLite. This says what they mean to PostgreSQL; it knows what tests use
 * and no more.
 */

/** A statement, and for each of its parameters the name or the place of its value. */
export interface MerchantStatement {
  readonly text: string;
  readonly parameters: readonly (string | number)[];
}

const FUNCTIONS: readonly (readonly [RegExp, string])[] = [
  [/\bifnull\s*\(/gi, 'coalesce('],
  [/\bbegin (immediate|exclusive)\b/gi, 'begin'],
];

const STRINGS_AND_COMMENTS = /('(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*)/;
const PLACEHOLDER = /\?|(?<![:\w]):([a-zA-Z]\w*)|@([a-zA-Z]\w*)/g;
const TRIGGER =
  /^\s*create\s+(?:temp\s+)?trigger\s+(\w+)\s+(before|after)\s+((?:insert|update|delete)(?:\s+of\s+[\w\s,]+?)?)\s+on\s+(\w+)\s+(?:when\s+(.*?)\s+)?begin\s+(.*?);?\s*end\s*;?\s*$/is;
const REFUSAL = /^select\s+raise\s*\(\s*abort\s*,\s*('(?:[^']|'')*')\s*\)(?:\s+where\s+(.*))?$/is;

/** A statement with `?` or `:name` for its values. */
export function statementOf(sql: string): MerchantStatement {
  const parameters: (string | number)[] = [];
  let places = 0;
  const text = outsideOfStrings(sql, (code) =>
    FUNCTIONS.reduce((said, [pattern, meant]) => said.replace(pattern, meant), code).replace(
      PLACEHOLDER,
      (_, colon?: string, at?: string) => `$${parameters.push(colon ?? at ?? places++)}`,
    ),
  );
  return { text: ignoringConflicts(text), parameters };
}

/** Statements without values; a trigger becomes a function and a trigger. */
export function scriptOf(sql: string): string {
  const [, name, time, event, table, when, body] = TRIGGER.exec(sql) ?? [];
  if (name !== undefined && body !== undefined) {
    const steps = statementsOf(body).map((step) => {
      const [, message, where] = REFUSAL.exec(step) ?? [];
      return message === undefined ? `${step};` : `if ${where ?? 'true'} then raise exception ${message}; end if;`;
    });
    const tested = when === undefined ? steps.join(' ') : `if ${when} then ${steps.join(' ')} end if;`;
    return `create function ${name}() returns trigger language plpgsql as $$ begin ${tested}
        if tg_op = 'DELETE' then return old; end if; return new; end $$;
      create trigger ${name} ${time} ${event} on ${table} for each row execute function ${name}()`;
  }
  const dropped = /^\s*drop\s+trigger\s+(\w+)\s*;?\s*$/i.exec(sql);
  return dropped === null ? statementOf(sql).text : `drop function ${dropped[1]} cascade`;
}

function ignoringConflicts(sql: string): string {
  return /^\s*insert or ignore\b/i.test(sql)
    ? `${sql.replace(/\binsert or ignore\b/i, 'insert')} on conflict do nothing`
    : sql;
}

function outsideOfStrings(sql: string, change: (code: string) => string): string {
  return sql
    .split(STRINGS_AND_COMMENTS)
    .map((part, index) => (index % 2 === 0 ? change(part) : part))
    .join('');
}

/** Cuts at the semicolons that stand in no string. */
function statementsOf(body: string): string[] {
  const marked = outsideOfStrings(body, (code) => code.replaceAll(';', '\0'));
  return marked
    .split('\0')
    .map((step) => step.trim())
    .filter((step) => step !== '');
}
