import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cleanEnvironment } from '../support/installed-package.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** They are no part of a package, or are made. */
const LEFT_OUT = ['.git', 'bench', 'data', 'dist', 'node_modules', 'test', 'tools'];
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
const CHANGELOG =
  '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A thing.\n\n## [0.0.1] - 2020-01-01\n\n- An older thing.\n';
const NOTES = '### Added\n\n- A thing.';
const tarball = `dist/order-sync-${version}.tgz`;
const person = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null', EMAIL: 'a@b.example' };
const env = cleanEnvironment({ ...person, GIT_AUTHOR_NAME: 'A', GIT_COMMITTER_NAME: 'A' });

let checkout = '';
const path = (name: string) => join(checkout, name);
const git = (...args: string[]) => execFileSync('git', args, { cwd: checkout, env, encoding: 'utf8' }).trim();
const release = (...args: string[]) =>
  spawnSync(process.execPath, ['build/release.ts', ...args], { cwd: checkout, env, encoding: 'utf8' });
const packedChangelog = () =>
  execFileSync('tar', ['-xzOf', path(tarball), 'package/CHANGELOG.md'], { encoding: 'utf8' });

beforeAll(() => {
  checkout = mkdtempSync(join(tmpdir(), 'order-sync-release-'));
  for (const name of readdirSync(ROOT).filter((one) => !LEFT_OUT.includes(one))) {
    cpSync(join(ROOT, name), path(name), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), path('node_modules'));
  writeFileSync(path('CHANGELOG.md'), CHANGELOG);
  git('init', '--quiet');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'All');
});
afterAll(() => rmSync(checkout, { recursive: true, force: true }));

describe('a release', () => {
  it('is refused while the tree is not clean, and while the lock has another version', () => {
    const lock = readFileSync(path('package-lock.json'), 'utf8');
    writeFileSync(path('package-lock.json'), lock.replaceAll(`"version": "${version}"`, '"version": "0.0.1"'));
    const { status, stderr } = release('--dry-run');
    expect([status, stderr.match(/^release: /gm)?.length, existsSync(path(tarball))]).toEqual([1, 2, false]);
    writeFileSync(path('package-lock.json'), lock);
  });

  it('with --dry-run makes the tarball, with the dated changelog, and changes nothing else', () => {
    const { status, stdout } = release('--dry-run');
    expect([status, stdout]).toEqual([0, expect.stringContaining(`order-sync ${version}\n\n${NOTES}\n`)]);
    expect(packedChangelog()).toContain(`## [Unreleased]\n\n## [${version}] - 20`);
    expect([git('status', '--porcelain'), git('tag'), git('log', '--format=%s')]).toEqual(['', '', 'All']);
  });

  it('commits the dated changelog, which the package has too, and tags it with its section', () => {
    expect(release().status).toBe(0);
    const text = readFileSync(path('CHANGELOG.md'), 'utf8');
    expect(text.replace(/ - 20\d\d-\d\d-\d\d\n/, '\n')).toBe(
      CHANGELOG.replace('Unreleased]\n', `Unreleased]\n\n## [${version}]\n`),
    );
    expect(packedChangelog()).toBe(text);
    expect([git('status', '--porcelain'), git('log', '-1', '--format=%s')]).toEqual(['', `Release ${version}`]);
    expect(git('tag', '--list', '--format=%(contents)', `v${version}`)).toBe(`order-sync ${version}\n\n${NOTES}`);
    expect(git('rev-parse', `v${version}^{commit}`)).toBe(git('rev-parse', 'HEAD'));
  });

  it('is refused for a version that was released', () => {
    const { status, stderr } = release('--dry-run');
    expect([status, stderr.match(/^release: /gm)?.length]).toEqual([1, 2]);
  });
});
