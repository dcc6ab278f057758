import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cleanEnvironment, contentOf, installPackage, megabytesOf } from '../test/support/installed-package.ts';
import { middle, type Figure } from './figures.ts';
import { secondsOfChildren } from './process.ts';
import type { Bench } from './settings.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const STARTS = 15;

/** The cost of having the program, as a package and as a checkout, and of its help. */
export async function measurePackage({ folder, say }: Bench): Promise<Figure[]> {
  say('package: built, packed, and installed into an empty folder');
  const installed = installPackage(folder);
  const { megabytes, packages } = contentOf(installed);
  const checkout = installCheckout(join(folder, 'checkout'));
  const help = Array.from({ length: STARTS }, () => cpuSecondsOf([installed.inModules('.bin/order-sync'), '--help']));
  return [
    { name: 'installed package', unit: 'MB', value: megabytes, target: { atMost: 45 } },
    { name: 'packages of it', unit: 'packages', value: packages.length, target: { atMost: 70 } },
    { name: 'install of it', unit: 's', value: installed.installMs / 1_000, target: { atMost: 10 } },
    { name: '--help of it, CPU', unit: 's', ...middle(help), target: { atMost: 0.12 } },
    { name: 'node_modules of a checkout', unit: 'MB', value: checkout.megabytes, target: { atMost: 450 } },
    { name: 'npm ci in a checkout', unit: 's', value: checkout.ms / 1_000, target: { atMost: 15 } },
  ];
}

function installCheckout(folder: string): { readonly megabytes: number; readonly ms: number } {
  mkdirSync(folder);
  for (const name of ['package.json', 'package-lock.json', '.npmrc']) cpSync(join(ROOT, name), join(folder, name));
  const start = performance.now();
  execFileSync('npm', ['ci', '--prefer-offline'], { cwd: folder, env: cleanEnvironment(), stdio: 'ignore' });
  return { ms: performance.now() - start, megabytes: megabytesOf(join(folder, 'node_modules')) };
}

/** CPU of a command with all that it starts. */
function cpuSecondsOf(command: readonly string[]): number {
  const shell = ['-c', '"$@" >/dev/null; times', 'bash', ...command];
  return secondsOfChildren(execFileSync('bash', shell, { encoding: 'utf8' }));
}
