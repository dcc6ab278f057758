import { runDaemon as run } from '../../src/daemon.ts';
import { servicesOf } from '../../src/cli/shared/extensions.ts';
import { PARTS } from './parts.ts';
import { EXTENSIONS } from '../../src/extensions.ts';

/** Runs a daemon in this process, with the services of all extensions. */
export async function runDaemon(...[config, stopping, onReady, overrides]: Parameters<typeof run>): Promise<void> {
  await run(config, stopping, onReady, { ...PARTS, ...overrides, services: await servicesOf(EXTENSIONS) });
}
