import { execFileSync, type StdioOptions } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface InstalledPackage {
  readonly tarball: string;
  /** The path of something below `node_modules`. */
  readonly inModules: (path: string) => string;
  readonly installMs: number;
}

/** Nothing of the person who runs it reaches a program, but the settings of npm's registry and cache. The Node of this process comes first. */
export function cleanEnvironment(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const foreign = /^(?:ORDER_SYNC|XDG|NODE_|npm_(?!config_(?:cache|registry)))/;
  const kept = Object.entries(process.env).filter(([name]) => !foreign.test(name) || name === 'NODE_EXTRA_CA_CERTS');
  const path = [dirname(process.execPath), process.env['PATH']].join(delimiter);
  return { ...Object.fromEntries(kept), PATH: path, ...more };
}

/** Builds the package, packs it, and installs it in `folder`, which is empty. */
export function installPackage(folder: string): InstalledPackage {
  const stdio: StdioOptions = ['ignore', 'pipe', 'inherit'];
  const options = { env: cleanEnvironment(), stdio, encoding: 'utf8' } as const;
  execFileSync(process.execPath, ['build/package.ts'], { ...options, cwd: ROOT });
  const place = join(folder, 'place');
  mkdirSync(place);
  const packed = execFileSync('npm', ['pack', './dist/package', '--pack-destination', folder], {
    ...options,
    cwd: ROOT,
  });
  const tarball = join(folder, basename(packed.trim()));
  const start = performance.now();
  // The package has the versions of the lock, so npm finds in its cache what `npm ci` has fetched.
  execFileSync('npm', ['install', '--prefer-offline', tarball], { ...options, cwd: place });
  const installMs = performance.now() - start;
  return { tarball, installMs, inModules: (path) => join(place, 'node_modules', path) };
}

/** The space that the package takes of the disk, with all that it needs, and the versions of that by name. */
export function contentOf({ inModules }: InstalledPackage) {
  return { megabytes: megabytesOf(inModules('')), packages: lockedIn(inModules('.package-lock.json')) };
}

/** The space that a folder takes of the disk. */
export function megabytesOf(folder: string): number {
  return Number(execFileSync('du', ['-sk', folder], { encoding: 'utf8' }).split('\t')[0]) / 1_024;
}

/** The packages of a lock, as `name version`. */
export function lockedIn(path: string): readonly string[] {
  const { packages } = JSON.parse(readFileSync(path, 'utf8')) as { packages: Record<string, { version?: string }> };
  return Object.entries(packages).flatMap(([at, { version }]) =>
    at === '' ? [] : `${at.replace(/^.*node_modules\//, '')} ${version}`,
  );
}
