import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../src/base/clock.ts';
import type { Lock } from './lock.ts';
import { releasedNames } from './reference.ts';

/**
 * Makes a release of the version in package.json: the tarball, the changelog with its date, a commit and a tag, on this machine
 * alone. With --dry-run it makes the tarball and prints the rest.
 */

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PACKAGE = join(ROOT, 'dist', 'package');
const NAMES = 'docs/reference/released.json';
const at = (path: string) => join(ROOT, path);
const json = <T>(path: string) => JSON.parse(readFileSync(path, 'utf8')) as T;
const say = (text: string) => void process.stdout.write(`${text}\n`);
const git = (args: readonly string[], input?: string) =>
  execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', ...(input === undefined ? {} : { input }) }).trim();

const isDry = process.argv.includes('--dry-run');
const { version } = json<{ readonly version: string }>(at('package.json'));
const tag = `v${version}`;
const UNRELEASED = '\n## [Unreleased]\n';
const [head = '', rest = ''] = readFileSync(at('CHANGELOG.md'), 'utf8').split(UNRELEASED);
const heading = `## [${version}] - ${systemClock().now().toISOString().slice(0, 10)}`;
const changelog = `${head}${UNRELEASED}\n${heading}\n${rest}`;
const [section = ''] = rest.split(/^## \[/m);
const message = `order-sync ${version}\n\n${section.trim()}`;
const problems = [
  ...(git(['status', '--porcelain']) === '' ? [] : ['the tree is not clean: commit, or put the changes away']),
  ...(git(['tag', '--list', tag]) === '' && !rest.includes(`\n## [${version}]`)
    ? []
    : [`${tag} was released: raise the version in package.json`]),
  ...(json<Lock>(at('package-lock.json')).packages['']?.version === version
    ? []
    : ['package-lock.json has another version: run npm install --package-lock-only']),
  ...(section.trim() === '' ? ['CHANGELOG.md has nothing that is unreleased'] : []),
];
if (problems.length > 0) {
  process.stderr.write(problems.map((problem) => `release: ${problem}\n`).join(''));
  process.exit(1);
}

await import('./package.ts');
writeFileSync(join(PACKAGE, 'CHANGELOG.md'), changelog);
execFileSync('npm', ['pack', './dist/package', '--pack-destination', 'dist'], {
  cwd: ROOT,
  stdio: ['ignore', 'ignore', 'inherit'],
});
const tarball = `dist/order-sync-${version}.tgz`;
say(`${message}\n`);
if (!isDry) {
  writeFileSync(at('CHANGELOG.md'), changelog);
  writeFileSync(at(NAMES), await releasedNames(version));
  git(['commit', '--quiet', '--message', `Release ${version}`, '--', 'CHANGELOG.md', NAMES]);
  // Without it git takes the headings for comments.
  git(['tag', '--annotate', '--cleanup=whitespace', '--file', '-', tag], message);
}
say(
  isDry ? `Made ${tarball}. Without --dry-run ${tag} is committed and tagged.` : `Made ${tarball} and the tag ${tag}.`,
);
const channel = version.includes('-') ? 'next' : 'latest';
say(`Nothing is pushed or published. From a job of CI that may write an id-token, this publishes it with provenance:

  npm publish ./${tarball} --provenance --access public --tag ${channel}
`);
const packed = json<Record<string, unknown>>(join(PACKAGE, 'package.json'));
if (packed['private'] === true) say('npm refuses that while the manifest of the package says "private".');
if (packed['repository'] === undefined) say('Provenance also asks for "repository" in it, the address of that CI.');
