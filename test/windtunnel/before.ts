import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The commits that stand for the version before, until there is a release. */
export const BEFORE = {
  /**
   * The last one before migration 0004. Migration 0005 drops `account_requests` and `workers.public_key`, which it writes at each
   * heartbeat, and it opens no database with a migration that it does not know: it has to end.
   */
  contracted: 'f2994ca08b4df42cde9c11687df3d20ae6878508',
  /** The first version that continues with the tables of the next version, if a migration only adds. */
  expanded: '18aec4ddf5dd2f4f3417ed8f2cfaef9e73350ba2',
} as const;

/** False if the history does not reach so far back, as in a shallow clone or without git. */
export function isInHistory(commit: string): boolean {
  try {
    execFileSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: ROOT, stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Lays the program of a commit out in a folder of its own, with the packages that are here; the file that starts it. */
export function programOf(commit: string, undo: DisposableStack | AsyncDisposableStack): string {
  const folder = mkdtempSync(join(tmpdir(), 'order-sync-before-'));
  undo.defer(() => rmSync(folder, { recursive: true, force: true }));
  const archive = execFileSync('git', ['archive', commit], { cwd: ROOT, maxBuffer: 1024 ** 3 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return join(folder, 'src/bin.mjs');
}
