import { spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { runProgram } from '../support/cli-function.ts';
import { commandFolder } from '../support/folders.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MANUAL = readFileSync(join(ROOT, 'docs/integrating.md'), 'utf8');

/** The languages of the examples: what runs one, and how to ask whether that can be done here. */
const LANGUAGES = [
  { language: 'js', file: 'example.mjs', command: process.execPath, probe: ['--version'] },
  { language: 'python', file: 'example.py', command: 'python3', probe: ['-c', 'import sqlite3'] },
  {
    language: 'php',
    file: 'example.php',
    command: 'php',
    probe: ['-r', 'exit(extension_loaded("pdo_sqlite") ? 0 : 1);'],
  },
] as const;

function exampleIn(language: string): string {
  const [, code = ''] = new RegExp(`\\n\`\`\`${language}\\n([^]*?)\n\`\`\`\\n`).exec(MANUAL) ?? [];
  return code;
}

/** Every statement of SQL in a program: the texts in quotes that begin like one. */
function statementsIn(code: string): string[] {
  return [...code.matchAll(/("""|`|'|")((?:insert|select) [^]*?)\1/g)].map(([, , statement = '']) => statement);
}

describe.each(LANGUAGES)('the example in $language', ({ language, file, command, probe }) => {
  const place = commandFolder();
  const canRun = spawnSync(command, probe, { stdio: 'ignore' }).status === 0;

  it('has statements that the database understands', () => {
    const db = new Database(place.path);
    const statements = statementsIn(exampleIn(language)).map((statement) => db.prepare(statement).source);
    db.close();
    expect(statements.map((statement) => statement.split(' ')[0])).toEqual(['insert', 'select', 'select']);
  });

  it.skipIf(!canRun)(
    'puts an order in, says where it stands, and reads the events; also when it is run again',
    async () => {
      // An event to be read: an order that was cancelled.
      const db = new Database(place.path);
      db.exec(
        "insert into merchant_orders (external_order_id, asset, from_currency, to_currency) values ('shop-1', '1', 'BTC', 'EUR')",
      );
      expect((await runProgram(['orders', 'cancel', 'shop-1', '--reason', 'a test'], place.options)).code).toBe(0);
      writeFileSync(join(place.folder, file), exampleIn(language));
      symlinkSync(join(ROOT, 'node_modules'), join(place.folder, 'node_modules'));

      for (let run = 1; run <= 2; run += 1) {
        const { status, stdout, stderr } = spawnSync(command, [file, place.path], {
          cwd: place.folder,
          encoding: 'utf8',
        });
        expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
        const [order, ...events] = stdout
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as Record<string, unknown>);
        expect(order).toEqual({ state: 'pending', state_reason: null, order_status: null });
        expect(events).toMatchObject([
          { external_order_id: 'shop-1', field: 'state', old_value: 'pending', new_value: 'cancelled' },
        ]);
      }
      const rows = db
        .prepare("select asset, typeof(asset) as type from merchant_orders where external_order_id = 'shop-1001'")
        .all();
      db.close();
      expect(rows).toEqual([{ asset: '0.25', type: 'text' }]);
    },
  );
});
