import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { requestPhotos } from '../../src/extensions/clients/photos.ts';
import type { CapturedLog } from './captured-log.ts';
import type { ScriptedExchange } from './scripted-exchange.ts';
import { scriptedProgram, type TestProgram, type TestProgramOptions } from './test-program.ts';
import { clientsSettings } from '../../src/extensions/clients/settings.ts';

/** The type of a file is told by its first bytes. */
export const JPEG = Buffer.from('\xff\xd8\xff\xe0\0\x10JFIF\0 a canary in the content', 'latin1');
export const PNG = Buffer.from('\x89PNG\r\n\x1a\n and more', 'latin1');

/** The program with an exchange that takes requests for photos, and the folder in which they end up. */
export interface PhotoProgram {
  readonly program: TestProgram;
  readonly exchange: ScriptedExchange;
  readonly log: CapturedLog;
  readonly folder: string;
  /** Asks for photos as `idv photos` does, and returns the token that the exchange was sent. */
  ask(linkId?: string, more?: { level?: 'MAIN' | 'LIVENESS'; actionId?: string }): Promise<string>;
  /** Rows of `photos`, the oldest first. */
  rows(): Record<string, unknown>[];
  /** Rows of `photo_tokens`. */
  tokens(): Record<string, unknown>[];
  /** Paths of all files in the folder, and of all that is in quarantine. */
  files(): string[];
}

/** Starts the program with an exchange that answers each request for photos with ok. */
export async function photoProgram(options: TestProgramOptions = {}): Promise<PhotoProgram> {
  const { program, exchange } = await scriptedProgram(options);
  onTestFinished(() => program.app.endGracePeriod());
  exchange.answer = () => ({ status: 200, body: '{"status":"ok"}' });
  const { folder } = clientsSettings.of(program.config).photos;
  const all = (table: string) => program.merchant.prepare(`select * from ${table}`).all() as Record<string, unknown>[];
  return {
    program,
    exchange,
    log: program.log,
    folder,
    async ask(linkId = 'l1', { level = 'MAIN', ...more } = {}) {
      const answer = await requestPhotos(program.app, { linkId, level, ...more });
      if (answer.kind !== 'ok') throw new Error(`photos were not asked for: ${answer.kind}`);
      const { body = '' } = exchange.requests.at(-1) ?? {};
      return (JSON.parse(body) as { token: string }).token;
    },
    rows: () => all('photos'),
    tokens: () => all('photo_tokens'),
    files() {
      if (!existsSync(folder)) return [];
      const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' });
      return paths.filter((path) => path.startsWith('.incoming/') || statSync(join(folder, path)).isFile()).toSorted();
    },
  };
}
