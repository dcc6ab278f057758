import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from './folders.ts';

const WORKERS = fileURLToPath(new URL('../windtunnel/workers.ts', import.meta.url));
/** A harness: it starts a process of the program, and waits. */
const HARNESS = `const { Workers } = await import(${JSON.stringify(WORKERS)});
  const fail = (what) => process.stdout.write(what);
  const workers = new Workers({ folder: process.argv[1], settingsFile: '/dev/null', fail });
  const worker = workers.begin(['sandbox', '--port', '0']);
  worker.process.stdout.on('data', (data) => process.stdout.write(data));
  process.stdin.on('data', () => worker.process.kill('SIGSTOP'));
  process.stdin.on('data', () => process.stdout.write('stopped'));`;

it.each(['running', 'stopped'])('a process of a harness that is killed ends with it: %s', async (how) => {
  const harness = spawn(process.execPath, ['--input-type=module', '--eval', HARNESS, temporaryFolder()]);
  onTestFinished(() => void harness.kill('SIGKILL'));
  let said = '';
  harness.stdout.on('data', (data) => (said += String(data)));
  const heard = async (what: RegExp) => {
    while (!what.test(said)) await once(harness.stdout, 'data');
    return what.exec(said)?.[1] ?? '';
  };
  const port = Number(await heard(/127\.0\.0\.1:(\d+)/));
  const listening = connect(port, '127.0.0.1').on('error', () => {});
  await once(listening, 'connect');
  if (how === 'stopped') {
    harness.stdin.write('stop');
    await heard(/stopped/);
  }
  // The socket closes, or is reset, with the process that has it.
  const closed = new Promise((resolve) => void listening.once('close', resolve));
  const ended = once(harness, 'exit');
  harness.kill('SIGKILL');
  expect(await ended).toEqual([null, 'SIGKILL']);
  await closed;
});
