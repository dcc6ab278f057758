import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runProgram } from '../../support/cli-function.ts';
import { temporaryFolder } from '../../support/folders.ts';
import { newPostgresDatabase } from '../../support/postgres.ts';
import { findPostgres } from '../../support/postgres-server.ts';

describe.skipIf(findPostgres() === undefined)('init with a database of PostgreSQL', () => {
  it('makes its tables, and keeps its password in a file', async () => {
    const { url } = await newPostgresDatabase();
    const cwd = temporaryFolder();
    const settings = ['--config', join(cwd, 'shop.yaml')];
    const made = await runProgram([...settings, 'init', '--sandbox', '--database', url], { cwd });
    expect([made.code, made.stderr]).toEqual([0, '']);
    const password = new URL(url).password;
    const file = join(cwd, 'shop.password');
    expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual([
      `${decodeURIComponent(password)}\n`,
      0o600,
    ]);
    for (const text of [made.stdout, readFileSync(join(cwd, 'shop.yaml'), 'utf8')])
      expect(text).not.toContain(password);
    const { stdout } = await runProgram([...settings, 'db', 'status', '--json'], { cwd: temporaryFolder() });
    expect(JSON.parse(stdout)).toMatchObject({ pending: [] });
  });
});
