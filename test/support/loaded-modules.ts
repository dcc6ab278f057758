import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CLI, COMPILED, FLAGS } from './program.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Writes down, at the end of the process, every file that it has loaded. */
const RECORDER = `
import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
const urls = [];
registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) });
process.on('exit', () => writeFileSync(process.env.LOADED_MODULES, JSON.stringify(urls)));
`;

/** The modules that a command has loaded. */
export interface LoadedModules {
  /** Names of packages. */
  readonly packages: readonly string[];
  /** Names of modules of Node that were imported, such as `node:fs`. */
  readonly builtins: readonly string[];
  /** Paths of files of the project. */
  readonly files: readonly string[];
}

/** Runs a command as a real process, with no settings but those given, and tells what it has loaded. */
export async function loadedBy(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<LoadedModules> {
  const folder = mkdtempSync(join(tmpdir(), 'order-sync-'));
  const list = join(folder, 'loaded.json');
  try {
    const recorder = `data:text/javascript,${encodeURIComponent(RECORDER)}`;
    const child = spawn(process.execPath, [...FLAGS, '--import', recorder, CLI, ...args], {
      cwd: folder,
      stdio: 'ignore',
      env: { ...COMPILED, ORDER_SYNC_CONFIG: '/dev/null', LOADED_MODULES: list, ...environment },
    });
    await once(child, 'exit');
    const urls = JSON.parse(readFileSync(list, 'utf8')) as string[];
    const paths = urls.filter((url) => url.startsWith('file:')).map((url) => relative(ROOT, fileURLToPath(url)));
    const packages = paths.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
    return {
      packages: [...new Set(packages)].toSorted(),
      builtins: urls.filter((url) => url.startsWith('node:')).toSorted(),
      files: paths.filter((path) => !path.includes('node_modules/')).toSorted(),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
