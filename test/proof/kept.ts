import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'esbuild';
import type { Dose, Part, PieceResult } from './part.ts';
import { filesReadBy } from './reads.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** The program as it is installed: every part tries it. */
const PROGRAM = ['src/**', 'migrations/**', 'config/**', 'package-lock.json', ':(exclude)*.md'];
/** The results of a full proof are part of the repository, because it takes longer than a machine may live. */
const FOLDERS: Readonly<Record<Dose, string>> = { small: 'data/proof', full: 'test/proof/results' };

/** The result of a piece, and when and on which commit it ran. */
export interface KeptResult extends PieceResult {
  readonly commit: string;
  readonly at: string;
  readonly durationMs: number;
}

/** The results of the pieces that ran on one content of the program and of the files of the part. */
interface Results {
  /** The hash of that content. */
  readonly content: string;
  readonly pieces: Readonly<Record<string, KeptResult>>;
}

/** The file with the results of a part, and the content for which they hold. */
export interface Kept {
  readonly path: string;
  readonly content: string;
}

/** The commit that is checked out. */
export function commit(): string {
  return git('rev-parse', 'HEAD');
}

/**
 * The file in which the results of a part are kept. They hold as long as the code that the part reads stays the same; comments,
 * types and pages may change. Returns undefined if that code is not committed: nothing is kept then.
 */
export function keptOf({ name, reads }: Part, dose: Dose): Kept | undefined {
  const paths = [...PROGRAM, ...filesReadBy(ROOT, reads)];
  if (git('status', '--porcelain', '--', ...paths) !== '') return undefined;
  const files = git('ls-files', '--', ...paths).split('\n');
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\n${codeOf(file)}\n`);
  return { path: join(ROOT, FOLDERS[dose], `${name}.json`), content: hash.digest('hex').slice(0, 12) };
}

/** The kept result of a piece, or undefined if it has not run. A broken promise is never kept: the piece runs again. */
export function readKept(kept: Kept | undefined, piece: string): KeptResult | undefined {
  return kept === undefined ? undefined : readResults(kept).pieces[piece];
}

/** Keeps the result of a piece, if all promises were kept. */
export function keep(kept: Kept | undefined, piece: string, result: KeptResult): void {
  if (kept === undefined || result.violations.length > 0) return;
  const results = readResults(kept);
  const next: Results = { ...results, pieces: { ...results.pieces, [piece]: result } };
  mkdirSync(dirname(kept.path), { recursive: true });
  writeFileSync(kept.path, `${JSON.stringify(next, null, 2)}\n`);
}

/** The results that are kept, or none if they are of other code. */
function readResults({ path, content }: Kept): Results {
  const none: Results = { content, pieces: {} };
  try {
    const results = JSON.parse(readFileSync(path, 'utf8')) as Results;
    return results.content === content ? results : none;
  } catch {
    return none;
  }
}

const codes = new Map<string, string>();

function codeOf(file: string): string {
  const code = codes.get(file) ?? codeIn(file, readFileSync(join(ROOT, file), 'utf8'));
  codes.set(file, code);
  return code;
}

/** The part of a file that runs: TypeScript without comments and types, any other text as it is. */
export function codeIn(file: string, text: string): string {
  if (!file.endsWith('.ts')) return text;
  return transformSync(text, { loader: 'ts', minifyWhitespace: true, legalComments: 'none' }).code;
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }).trim();
}
