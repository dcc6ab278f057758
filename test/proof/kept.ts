import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Dose, Part, PieceResult } from './part.ts';
import { filesReadBy } from './reads.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** The subject of every part: the program as it is installed. */
const PROGRAM = ['src', 'migrations', 'config', 'package-lock.json'];

/** The result of a piece, and when and on which commit it ran. */
export interface KeptResult extends PieceResult {
  readonly commit: string;
  readonly at: string;
  readonly durationMs: number;
}

/** The commit that is checked out. */
export function commit(): string {
  return git('rev-parse', 'HEAD');
}

/**
 * The folder in which the results of a part are kept, named by the content of everything that the part reads, so that a result
 * holds for the commits that changed none of that. Undefined if that is not committed: nothing is kept then.
 */
export function folderOf({ name, reads }: Part, dose: Dose): string | undefined {
  const paths = [...PROGRAM, ...filesReadBy(ROOT, reads)];
  if (git('status', '--porcelain', '--', ...paths) !== '') return undefined;
  const content = git('ls-tree', '-r', 'HEAD', '--', ...paths);
  const key = createHash('sha256').update(content).digest('hex').slice(0, 12);
  return join(ROOT, 'data/proof', `${name}-${dose}-${key}`);
}
/** The kept result of a piece, or undefined if it has not run. A broken promise is never kept: the piece runs again. */
export function readKept(folder: string | undefined, piece: string): KeptResult | undefined {
  if (folder === undefined) return undefined;
  try {
    return JSON.parse(readFileSync(join(folder, `${piece}.json`), 'utf8')) as KeptResult;
  } catch {
    return undefined;
  }
}

/** Keeps the result of a piece, if all promises were kept. */
export function keep(folder: string | undefined, piece: string, result: KeptResult): void {
  if (folder === undefined || result.violations.length > 0) return;
  const path = join(folder, `${piece}.json`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(result, null, 2)}\n`);
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
}
