import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FLAGS } from '../../support/program.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const KEY = 'contract-external-key';

interface Logged {
  readonly method: string;
  readonly path: string;
  readonly status: number;
}

let sandbox: ChildProcess;
let url = '';
let folder = '';
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'order-sync-'));
  sandbox = fork('src/cli.ts', ['sandbox', '--port', '0', '--key', KEY], {
    cwd: ROOT,
    execArgv: FLAGS,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  [{ url }] = (await once(sandbox, 'message')) as [{ url: string }];
});
afterAll(() => {
  sandbox.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

/** Runs the contract suite by itself, as its head says, with only these settings. */
async function contract(settings: Readonly<Record<string, string>>) {
  const report = join(folder, 'report.json');
  const before = (await requests()).length;
  const args = ['run', '--reporter=json', `--outputFile=${report}`, 'test/contract/exchange.contract.test.ts'];
  const child = spawn(process.execPath, [join(ROOT, 'node_modules/vitest/vitest.mjs'), ...args], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], ...settings },
  });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  const said = readFileSync(report, 'utf8');
  const { testResults } = JSON.parse(said) as {
    testResults: { assertionResults: { status: string; ancestorTitles: string[] }[] }[];
  };
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  return {
    code: code as number,
    output: stdout + stderr + said,
    suites: new Set(tests.filter(({ status }) => status === 'passed').flatMap(({ ancestorTitles }) => ancestorTitles)),
    failed: tests.filter(({ status }) => status === 'failed').length,
    made: (await requests())
      .slice(before)
      .filter(({ method, status }) => method === 'POST' && status === 200)
      .map(({ path }) => path),
  };
}

/** The requests that the sandbox had so far, from any test. */
async function requests(): Promise<Logged[]> {
  return (await (await fetch(`${url}/_sandbox/requests`)).json()) as Logged[];
}

const VALIDATION = '/api/v1/merchant/client/validate/email';
const ASKED = 'the exchange of the environment, asked about an unused id';
const MADE = 'the exchange of the environment, asked to make things';

describe('the contract suite against an exchange of the environment', () => {
  it('asks, makes nothing, and passes', async () => {
    const settings = { ORDER_SYNC_CONTRACT_BASE_URL: url, ORDER_SYNC_CONTRACT_API_KEY: KEY };
    expect(await contract(settings)).toMatchObject({
      code: 0,
      suites: new Set([ASKED]),
      failed: 0,
      made: [VALIDATION],
    });
  });

  it('makes things in the place that it is told', async () => {
    const settings = {
      ORDER_SYNC_CONTRACT_BASE_URL: url,
      ORDER_SYNC_CONTRACT_API_KEY: KEY,
      ORDER_SYNC_CONTRACT_CREATES: 'yes',
    };
    const { code, suites, failed, made } = await contract(settings);
    expect([code, suites, failed]).toEqual([0, new Set([ASKED, MADE]), 0]);
    expect(made).toContain('/api/v1/merchant/client');
    expect(made).toContain('/api/v1/merchant/orders/request');
  });

  it('fails if the exchange does not take the key, and does not tell it', async () => {
    const key = 'canary-other-key';
    const result = await contract({ ORDER_SYNC_CONTRACT_BASE_URL: url, ORDER_SYNC_CONTRACT_API_KEY: key });
    expect(result.code).toBe(1);
    expect(result.failed).toBeGreaterThan(5);
    expect(result.output).not.toContain('canary');
  });
});
