import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endWithUs } from '../support/supervisor.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DISK_BYTES = 48 * 1_048_576;
const FILLED_BY = 1_048_576;

/** A small disk of memory. */
export interface Disk {
  /** Takes all of its room. */
  fill(): void;
  /** Frees the room again. */
  empty(): void;
  /** No process may have a file on it open for writing. */
  readOnly(is: boolean): void;
  unmount(): void;
}

/** Mounts a disk on a folder; undefined if this process may not. */
export function mountDisk(folder: string, size = DISK_BYTES): Disk | undefined {
  const mount = (...args: string[]) => execFileSync('mount', [...args, folder], { stdio: 'ignore' });
  try {
    mount('-t', 'tmpfs', '-o', `size=${size},mode=0700`, 'tmpfs');
  } catch {
    return undefined;
  }
  const filler = join(folder, 'filler');
  return {
    fill() {
      for (let bytes = FILLED_BY; bytes >= 512; bytes /= 2) fillBy(filler, bytes);
    },
    empty: () => rmSync(filler, { force: true }),
    readOnly: (is) => void mount('-o', `remount,${is ? 'ro' : 'rw'}`),
    unmount: () => void execFileSync('umount', ['-l', folder], { stdio: 'ignore' }),
  };
}

function fillBy(path: string, bytes: number): void {
  const data = Buffer.alloc(bytes);
  try {
    for (;;) writeFileSync(path, data, { flag: 'a' });
  } catch {
    // It is full.
  }
}

const LOCK = `const Database = require('better-sqlite3');
  const database = new Database(process.argv[1], { timeout: 60000 });
  database.exec('begin immediate');
  setTimeout(() => { database.exec('rollback'); database.close(); }, Number(process.argv[2]));`;

/** Another program writes into a SQLite file, and takes so long. */
export async function lockFile(path: string, ms: number): Promise<void> {
  const child = endWithUs(spawn(process.execPath, ['-e', LOCK, path, String(ms)], { cwd: ROOT, stdio: 'ignore' }));
  await once(child, 'exit');
}

/** A clock on the wall that can be set while a program runs by it. */
export interface FalseClock {
  /** With which a program runs by it. */
  readonly environment: Readonly<Record<string, string>>;
  /** `+2h` is two hours ahead, `+0` the right time. */
  set(offset: string): void;
}

/** Undefined if the library for it is not installed (Debian: faketime). */
export function falseClock(folder: string): FalseClock | undefined {
  const [library] = globSync(['/usr/lib/*/faketime/libfaketimeMT.so.1', '/usr/lib/faketime/libfaketimeMT.so.1']);
  if (library === undefined || !existsSync(library)) return undefined;
  const file = join(folder, 'clock');
  const set = (offset: string) => writeFileSync(file, `${offset}\n`);
  set('+0');
  const environment = {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    // The monotonic clock advances whatever a person sets.
    DONT_FAKE_MONOTONIC: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
  return { environment, set };
}
