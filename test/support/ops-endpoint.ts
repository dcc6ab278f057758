import { onTestFinished } from 'vitest';
import type { ListenAddress } from '../../src/extensions/http/settings.ts';
import { Activities, type Activity } from '../../src/extensions/health/activity.ts';
import { serveOps, type OpsDeps } from '../../src/extensions/health/ops/server.ts';
import { testProgram, type SandboxProgram, type SandboxProgramOptions } from './test-program.ts';
import { withSettings } from './settings.ts';

/** An ops endpoint of a program that a test drives. */
export interface TestOps {
  readonly program: SandboxProgram;
  readonly ops: Awaited<ReturnType<typeof serveOps>>;
  readonly activities: Activities;
  /** That of the program's account. */
  readonly activity: Activity;
  readonly stop: AbortController;
  /** The answer to a GET. */
  readonly get: (path: string, headers?: Record<string, string>) => Promise<Response>;
}

/** Options of a test's ops endpoint. */
export interface TestOpsOptions extends SandboxProgramOptions {
  readonly token?: string;
  readonly hosts?: readonly string[];
  /** A port that the system chooses, unless given. */
  readonly listen?: ListenAddress;
  /** The parts in place of the real thing. */
  readonly instead?: (program: SandboxProgram) => Partial<OpsDeps>;
}

/** Serves the ops endpoint on loopback. */
export async function testOps({
  token,
  hosts = [],
  listen,
  instead,
  ...options
}: TestOpsOptions = {}): Promise<TestOps> {
  const program = await testProgram(options);
  const stop = new AbortController();
  const activities = new Activities(program.clock);
  const { exchange, restraints, account } = program.app;
  const activity = activities.of(account);
  activity.live = { exchange, restraints, accountLease: { isTrusted: () => true } };
  const config = withSettings(program.config, {
    ops: { listen: listen ?? { host: '127.0.0.1', port: 0 }, token, hosts },
  });
  const own = { config, activities, accounts: { names: [account] }, heedDecision: async () => {}, version: '0.0.0' };
  const ops = await serveOps({ ...program.app, ...own, ...instead?.(program) }, stop.signal);
  onTestFinished(async () => {
    stop.abort();
    program.app.endGracePeriod();
    await ops.close();
  });
  const get = async (path: string, headers = {}) => await fetch(`${ops.url}${path}`, { headers });
  return { program, ops, activities, activity, stop, get };
}
