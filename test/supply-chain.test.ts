import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** They ask for nothing but to be named. */
const PERMISSIVE = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'Unlicense',
  '(MIT OR CC0-1.0)',
];

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly dev?: boolean;
  readonly license?: unknown;
  readonly hasInstallScript?: boolean;
}

interface Component {
  readonly 'bom-ref': string;
  readonly version: string;
  readonly purl: string;
  readonly hashes?: readonly { readonly alg: string }[];
  readonly licenses?: readonly unknown[];
  readonly properties?: readonly { readonly name: string }[];
}

const text = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const manifest = JSON.parse(text('package.json')) as Record<string, Readonly<Record<string, unknown>> | undefined>;
const lockedIn = (lock: string) =>
  Object.entries((JSON.parse(text(lock)) as { packages: Record<string, Locked> }).packages)
    .filter(([path]) => path !== '')
    .map(([path, entry]) => ({ ...entry, path, name: path.replace(/^.*node_modules\//, '') }));
const ofCheckout = lockedIn('package-lock.json');
const locked = [...ofCheckout, ...lockedIn('tools/package-lock.json')];
const shipped = ofCheckout.filter(({ dev }) => dev !== true);

describe('the packages', () => {
  it('are named with one version each', () => {
    const kinds = ['dependencies', 'devDependencies', 'optionalDependencies'];
    const tools = JSON.parse(text('tools/package.json')) as typeof manifest;
    const versions = [manifest, tools].flatMap((one) => kinds.flatMap((kind) => Object.values(one[kind] ?? {})));
    expect(versions.filter((version) => !/^\d+\.\d+\.\d+$/.test(String(version)))).toEqual([]);
    expect(manifest['overrides']).toBeUndefined();
  });

  it('are locked by version and by the hash of their content, from whatever registry they come', () => {
    expect(locked.length).toBeGreaterThan(300);
    const odd = locked.filter(
      ({ version = '', integrity = '', resolved }) =>
        !/^\d+\.\d+\.\d+/.test(version) || !integrity.startsWith('sha512-') || resolved !== undefined,
    );
    expect(odd.map(({ path }) => path)).toEqual([]);
  });

  it('that are shipped are named in docs/dependencies.md, each with what it is for, and no others', () => {
    const named = [...text('docs/dependencies.md').matchAll(/^\| ([@\w][\w./-]+) +\| \S/gm)].map(([, name]) => name);
    const packages = named.filter((name) => name !== 'package');
    expect(packages).toHaveLength(new Set(packages).size);
    expect(new Set(packages)).toEqual(new Set(Object.keys(manifest['dependencies'] ?? {})));
  });

  it('run no script of their own at install', () => {
    const scripted = locked.filter(({ hasInstallScript }) => hasInstallScript === true).map(({ name }) => name);
    expect(scripted.filter((name) => manifest['allowScripts']?.[name] !== false)).toEqual([]);
    expect(Object.values(manifest['allowScripts'] ?? {}).every((isAllowed) => isAllowed === false)).toBe(true);
    expect(text('.npmrc').split('\n')).toEqual(
      expect.arrayContaining(['ignore-scripts=true', 'strict-allow-scripts=true']),
    );
  });

  it('that are shipped have licences that ask for nothing but to be named', () => {
    expect(shipped.filter(({ license }) => !PERMISSIVE.includes(String(license))).map(({ path }) => path)).toEqual([]);
  });

  it('come from no registry that a file of the repository names', () => {
    const folders = ['.', 'build', 'config', 'deploy', 'docs', 'src', 'migrations', 'test', 'bench'];
    const files = folders.flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: folder !== '.', withFileTypes: true })
        .filter((entry) => entry.isFile() && /\.(?:[cm]?[jt]s|json|ya?ml|md)$|file$|^\.npmrc$/.test(entry.name))
        .map((entry) => join(entry.parentPath, entry.name)),
    );
    expect(files.length).toBeGreaterThan(500);
    expect(files.filter((file) => /\bregistry\.[a-z0-9-]+\.[a-z]{2,}/.test(readFileSync(file, 'utf8')))).toEqual([]);
  });
});

it('the CycloneDX list of npm run sbom has every package that is shipped, with its hash and its licence', () => {
  const { status, stdout } = spawnSync('npm', ['run', '--silent', 'sbom'], { cwd: ROOT, encoding: 'utf8' });
  expect(status).toBe(0);
  const list = JSON.parse(stdout) as {
    readonly components: readonly Component[];
    readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
  };
  expect(list).toMatchObject({ bomFormat: 'CycloneDX', specVersion: expect.stringMatching(/^1\.[5-9]$/) as string });
  const named = (components: readonly { readonly name: string; readonly version?: string }[]) =>
    new Set(components.map(({ name, version }) => `${name}@${version}`));
  const refs = new Set(list.components.map((component) => component['bom-ref']));
  // Packages for development alone are marked: `--omit=dev` of npm also leaves out what both are built on.
  const isMarked = ({ properties = [] }: Component) => properties.some(({ name }) => name.endsWith(':development'));
  const used = list.components.filter((component) => !isMarked(component));
  expect(new Set(used.map((component) => component['bom-ref']))).toEqual(named(shipped));
  for (const { purl, hashes = [], licenses = [] } of used) {
    expect([purl, hashes[0]?.alg, licenses.length]).toEqual([expect.stringMatching(/^pkg:npm\//), 'SHA-512', 1]);
  }
  const asked = list.dependencies.flatMap(({ dependsOn }) => dependsOn);
  expect(asked.filter((ref) => !refs.has(ref))).toEqual([]);
});
