import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { runProgram } from '../../support/cli-function.ts';
import { CLI, FLAGS } from '../../support/program.ts';
import { temporaryFolder } from '../../support/folders.ts';

let folder = '';
beforeEach(() => void (folder = temporaryFolder()));

describe('order-sync sandbox', () => {
  it('prints lines to paste, logs each request, and ends with 0 at a signal', async () => {
    const log = join(folder, 'requests.ndjson');
    writeFileSync(join(folder, 'lives.yaml'), 'brief: { appearsAfter: 1ms, steps: [{ after: 1ms, order: DONE }] }');
    const sandbox = fork(
      CLI,
      ['sandbox', '--port', '0', '--key', `a'b`, '--log', log, '--scenarios', 'lives.yaml', '--scenario', 'brief'],
      {
        cwd: folder,
        execArgv: FLAGS,
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      },
    );
    try {
      let [output, words] = ['', ''];
      sandbox.stderr?.on('data', (chunk) => (words += String(chunk)));
      sandbox.stdout?.on('data', (chunk) => (output += String(chunk)));
      const [{ url }] = (await once(sandbox, 'message')) as [{ url: string }];
      const answer = await fetch(`${url}/api/v1/merchant/orders?externalOrderId=shop-1`, {
        headers: { 'x-api-key': `a'b` },
      });
      expect(answer.status).toBe(404);
      const made = await fetch(`${url}/api/v1/merchant/orders/request`, {
        method: 'POST',
        headers: { 'x-api-key': `a'b`, 'content-type': 'application/json' },
        body: '{"externalOrderId":"shop-1","asset":1,"assetPosition":"INPUT","currencyPair":{"fromCurrency":"BTC","toCurrency":"EUR"},"orderType":"DEPOSIT"}',
      });
      // A sandbox that was started before had smaller numbers.
      expect(((await made.json()) as { id: string }).id).toMatch(/^pre-\d{10,}$/);
      sandbox.kill('SIGTERM');
      expect(await once(sandbox, 'close')).toEqual([0, null]);
      // The lines for people read the key as a shell has it.
      const [line = ''] = /^ {2}printf .* init .*$/m.exec(words) ?? [];
      const piped = spawnSync('sh', ['-c', line.replace(/\|.*/, '')], { encoding: 'utf8' });
      expect([piped.stdout, line]).toEqual([`a'b`, expect.stringContaining(`init --sandbox ${url} --api-key-file -`)]);
      const pasted = spawnSync('sh', ['-c', `${output}\nenv`], {
        encoding: 'utf8',
        env: { PATH: process.env['PATH'] },
      });
      expect(pasted.stdout).toContain(`ORDER_SYNC_EXCHANGE_BASE_URL=${url}\n`);
      expect(pasted.stdout).toContain(`ORDER_SYNC_EXCHANGE_API_KEY=a'b\n`);
      expect(JSON.parse(readFileSync(log, 'utf8').split('\n')[0] ?? '')).toMatchObject({
        method: 'GET',
        externalOrderId: 'shop-1',
        status: 404,
      });
    } finally {
      sandbox.kill('SIGKILL');
    }
  });

  it('delivers photos to the address it is given, and says and logs so without the token', async () => {
    const merchant = createServer((request, response) => request.resume().once('end', () => response.end()));
    merchant.listen(0, '127.0.0.1');
    await once(merchant, 'listening');
    const photoUrl = `http://127.0.0.1:${(merchant.address() as AddressInfo).port}/photos`;
    const log = join(folder, 'requests.ndjson');
    const sandbox = fork(CLI, ['sandbox', '--port', '0', '--photo-url', photoUrl, '--log', log], {
      execArgv: FLAGS,
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    try {
      let said = '';
      sandbox.stderr?.on('data', (chunk) => (said += String(chunk)));
      const [{ url }] = (await once(sandbox, 'message')) as [{ url: string }];
      const post = async (path: string, body: unknown) =>
        await fetch(`${url}/api/v1/merchant/client${path}`, {
          method: 'POST',
          headers: { 'x-api-key': 'sandbox-key', 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
      await post('', { email: 'canary@shop.example' });
      await post('/link-1/idv/photos/external/upload', { kycLevelType: 'MAIN', token: 'canary-token' });
      while (!said.includes('delivered')) await once(sandbox.stderr!, 'data');
      expect(said).toContain('photos of link-1 delivered: 200\n');
      sandbox.kill('SIGTERM');
      expect(await once(sandbox, 'close')).toEqual([0, null]);
      const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
      expect(JSON.parse(lines[2] ?? '')).toMatchObject({ linkId: 'link-1', level: 'MAIN', status: 200 });
      expect(lines.join()).not.toContain('canary');
    } finally {
      sandbox.kill('SIGKILL');
      merchant.close();
    }
  });

  it('names the option for another port when its port is taken', async () => {
    const other = createServer();
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { code, stderr } = await runProgram(['sandbox', '--port', String((other.address() as AddressInfo).port)]);
    other.close();
    expect([code, stderr]).toEqual([64, expect.stringContaining('--port 0')]);
  });

  it.each([
    ['--photo-url', 'https://merchant.example/photos', /--photo-url names another machine/],
    ['--photo-url', 'http://127.0.0.1.merchant.example/', /--photo-url names another machine/],
    ['--photo-url', 'file:///etc/passwd', /--photo-url/],
    ['--photo-url', 'http://me:secret@127.0.0.1/', /--photo-url/],
    ['--port', '65536', /--port/],
    ['--rate', '10/soon', /--rate/],
    ['--faults', 'flood=0.1', /--faults .* Known faults are/],
    ['--faults', 'html=0.6,hang=0.6', /--faults/],
    ['--scenario', 'nonsense', /Known scenarios are completed, /],
    ['--log', '/nowhere/requests', /--log: .* no such file/],
  ])('refuses %s %s as wrong usage', async (option, value, message) => {
    const { code, stderr } = await runProgram(['sandbox', option, value]);
    expect([code, stderr]).toEqual([64, expect.stringMatching(message)]);
  });
});
