import { createHmac, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { systemClock } from '../../../clock.ts';
import { configSources } from '../../../config/config.ts';
import { programVersion } from '../../../config/version.ts';
import {
  bundledDaemon,
  bundledEvent,
  bundledOverview,
  bundledSetting,
  type Pseudonym,
} from '../../../reports/status/bundle.ts';
import { openStore } from '../../../store/open.ts';
import { newestEvents } from '../../../store/feed.ts';
import { readOverview } from '../../../store/overview/overview.ts';
import { CommandError, EXIT } from '../../shared/exit.ts';
import { configOptions, plainConfig } from '../../shared/options.ts';
import { askDaemon } from '../status.ts';
import { ok, type CheckResult } from './check.ts';

const NEWEST_EVENTS = 100;

/** Writes the support file, which only its owner may read. Throws `CommandError` where the file is there already. */
export async function writeBundle(
  command: Command,
  results: readonly CheckResult[],
  file: string,
): Promise<CheckResult> {
  const content = {
    madeAt: systemClock().now().toISOString(),
    version: programVersion(),
    node: process.versions.node,
    platform: `${process.platform} ${process.arch}`,
    // What a check found may name hosts, files and accounts.
    findings: results.map(({ check, level, exitCode, facts = {} }) => ({ check, level, exitCode, facts })),
    ...(await contentOf(command, pseudonyms())),
  };
  try {
    writeFileSync(file, `${JSON.stringify(content, undefined, 2)}\n`, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    const isThere = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    const message = isThere ? `${file} is there already; name a file that is not` : `${file} cannot be written`;
    throw new CommandError(isThere ? EXIT.usage : EXIT.disk, message, { cause: error });
  }
  return ok('bundle', `${file} is written: look through it before you send it`);
}

/** The key is thrown away with the process. */
function pseudonyms(): Pseudonym {
  const key = randomBytes(32);
  return (kind, id) => `${kind}-${createHmac('sha256', key).update(`${kind}\0${id}`).digest('hex').slice(0, 12)}`;
}

/** What the settings and the database have; null where they cannot be read, which a check says. */
async function contentOf(command: Command, pseudonym: Pseudonym): Promise<object> {
  try {
    const config = plainConfig(command);
    const settings = configSources(configOptions(command)).map((one) => bundledSetting(one, pseudonym));
    const daemon = (await askDaemon(config, undefined))?.daemon ?? null;
    const clock = systemClock();
    const store = await openStore(config.database, clock, { expect: 'current' });
    try {
      const { endpoints } = config.webhooks;
      const overview = await readOverview(store.db, { account: undefined, endpoints, now: clock.now() });
      const events = await newestEvents(store.db, undefined, NEWEST_EVENTS);
      return {
        database: config.database.kind,
        settings,
        daemon: daemon && bundledDaemon(daemon, pseudonym),
        overview: bundledOverview(overview, pseudonym),
        events: events.map((one) => bundledEvent(one, pseudonym)),
      };
    } finally {
      await store.close();
    }
  } catch {
    return { database: null, settings: null, daemon: null, overview: null, events: null };
  }
}
