import { describe, expect, it } from 'vitest';
import type { Status } from '../../../src/extensions/health/status/status.ts';
import type { StatusVerdict } from '../../../src/extensions/health/status/problems.ts';
import { runProgram } from '../../support/cli-function.ts';
import { parseMetrics } from '../../support/prometheus.ts';
import { testProcesses, type Daemon } from '../../support/program-processes.ts';

/** The address on which the ops endpoint of a daemon listens, by its log. */
function opsUrl(daemon: Daemon): string {
  const lines = daemon.output().trim().split('\n');
  const line = lines.find((one) => one.includes('listening for ops')) ?? '{}';
  return String((JSON.parse(line) as { url?: string }).url);
}

/** The answer at `path`, once it has the text. */
async function when(url: string, path: string, pattern: RegExp): Promise<string> {
  for (;;) {
    const text = await (await fetch(`${url}${path}`)).text();
    if (pattern.test(text)) return text;
  }
}

describe('the ops endpoint of a daemon', () => {
  it('shows what the daemon does, and no id, key or secret', async () => {
    const on = await testProcesses({}, { ORDER_SYNC_OPS_LISTEN: '127.0.0.1:0' });
    on.insert(5, 'canary');
    const daemon = await on.start(['run']);
    const url = opsUrl(daemon);
    const text = await when(url, '/metrics', /order_sync_requests_total\{[^}]*create_pre_order[^}]*"ok"\} 5\n/);
    expect(parseMetrics(text).get('order_sync_detection_delay_seconds')?.type).toBe('histogram');
    const ready = await fetch(`${url}/readyz`);
    expect([ready.status, await ready.json()]).toMatchObject([200, { status: 'ok' }]);
    expect(`${text}${daemon.output()}`).not.toMatch(/canary-key/);
    expect(text).not.toContain('canary');
    daemon.process.kill('SIGTERM');
    expect(await daemon.exit).toEqual({ code: 0, signal: null });
  });

  it('keeps no daemon alive that cannot begin', async () => {
    const on = await testProcesses({}, { ORDER_SYNC_OPS_LISTEN: '127.0.0.1:0' });
    const daemon = await on.start(['run'], { ORDER_SYNC_CONTROL_SOCKET: `${on.path}.no-folder/control.sock` });
    expect((await daemon.exit).code).toBe(74);
    expect(daemon.output()).toContain('listening for ops');
    expect(daemon.output()).toContain('set control.socket');
  });

  it('is that of one of two daemons with one port; the other does its work all the same', async () => {
    const first = await testProcesses({}, { ORDER_SYNC_OPS_LISTEN: '127.0.0.1:0' });
    const { host } = new URL(opsUrl(await first.start(['run'])));
    const second = await testProcesses({}, { ORDER_SYNC_OPS_LISTEN: host });
    const created = second.arrived(({ method }) => method === 'POST');
    second.insert(1);
    const daemon = await second.start(['run']);
    await created;
    expect(daemon.output()).toContain('ops.listen cannot be used');
    expect((await fetch(`http://${host}/livez`)).status).toBe(200);
    const status = await runProgram(['status', '--json'], { environment: second.environment });
    const { daemon: live, verdict } = JSON.parse(status.stdout) as Status & { verdict: StatusVerdict };
    expect([live?.opsFailure, verdict.end]).toEqual([expect.any(String), 'look']);
    const { stdout } = await runProgram(['doctor', '--json'], { environment: second.environment });
    const { findings } = JSON.parse(stdout) as { findings: { check: string; level: string }[] };
    expect(findings.filter(({ check }) => check === 'ops')).toMatchObject([{ level: 'warning' }]);
    daemon.process.kill('SIGTERM');
    expect(await daemon.exit).toEqual({ code: 0, signal: null });
  });
});
