import { onTestFinished } from 'vitest';
import type { ListenAddress } from '../../src/config/config.ts';
import { Activities } from '../../src/flows/pass/activity.ts';
import { serveOps, type OpsEndpoint } from '../../src/http/ops/server.ts';
import { testProgram, type SandboxProgram, type SandboxProgramOptions } from './test-program.ts';

/** An ops endpoint of a program that a test drives. */
export interface TestOps {
  readonly program: SandboxProgram;
  readonly ops: OpsEndpoint;
  readonly stop: AbortController;
  /** What it answers to a GET. */
  readonly get: (path: string, headers?: Record<string, string>) => Promise<Response>;
}

/** Options of a test's ops endpoint. */
export interface TestOpsOptions extends SandboxProgramOptions {
  readonly token?: string;
  /** A port that the system chooses, unless given. */
  readonly listen?: ListenAddress;
}

/** Serves the ops endpoint on loopback. */
export async function testOps({ token, listen, ...options }: TestOpsOptions = {}): Promise<TestOps> {
  const program = await testProgram(options);
  const stop = new AbortController();
  const config = { ...program.config, ops: { listen: listen ?? { host: '127.0.0.1', port: 0 }, token } };
  const ops = await serveOps({ ...program.app, config, activities: new Activities(program.clock) }, stop.signal);
  onTestFinished(async () => {
    stop.abort();
    program.app.endGracePeriod();
    await ops.close();
  });
  return { program, ops, stop, get: async (path, headers = {}) => await fetch(`${ops.url}${path}`, { headers }) };
}
