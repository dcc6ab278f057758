import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { tool } from '../support/tools.ts';
import type { Group } from './groups.ts';

/** A mutant that no test killed. */
export interface Survivor {
  readonly file: string;
  readonly line: number;
  /** The lines of the code that it changes, and what it makes of them, on one line each. */
  readonly code: string;
  readonly mutant: string;
}

export interface Tried {
  readonly mutants: number;
  readonly killed: number;
  readonly survivors: readonly Survivor[];
}

/** As much of StrykerJS as is used here. */
interface StrykerModule {
  readonly Stryker: new (options: object) => { runMutationTest(): Promise<readonly Mutant[]> };
}

interface Mutant {
  readonly status: string;
  readonly fileName: string;
  readonly location: Readonly<Record<'start' | 'end', { readonly line: number; readonly column: number }>>;
  readonly replacement: string;
}

/** Tries every mutant of the files. `report` names a file that keeps what came of each, so that the next run tries only what has changed. */
export async function tryMutants({ files, tests }: Omit<Group, 'name'>, report?: string): Promise<Tried> {
  // With Stryker's own option for that, the mutants of constants of a module are never put in force.
  process.env['MUTATION_TESTS'] = JSON.stringify(tests);
  // A thread cannot change its own zone, as some tests do.
  process.env['TZ'] = 'America/New_York';
  if (report !== undefined && existsSync(report)) forgetLeftConstants(report);
  const core = pathToFileURL(tool('@stryker-mutator/core/dist/src/index.js')).href;
  const { Stryker } = (await import(core)) as StrykerModule;
  const results = await new Stryker({
    mutate: [...files],
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner'],
    vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
    // It reads one through an interface that TypeScript 7 lacks.
    tsconfigFile: 'none',
    concurrency: 1,
    timeoutMS: 8_000,
    reporters: ['progress-append-only'],
    allowConsoleColors: false,
    tempDirName: 'data/mutation/sandbox',
    ignorePatterns: ['data', 'dist', 'tools'],
    warnings: false,
    ...(report === undefined ? {} : { incremental: true, incrementalFile: report }),
  }).runMutationTest();
  const valid = results.filter(({ status }) => !['Ignored', 'CompileError', 'RuntimeError'].includes(status));
  const left = valid.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
  return {
    mutants: valid.length,
    killed: valid.length - left.length,
    survivors: left.map(({ fileName, location: { start, end }, replacement }) => {
      const lines = readFileSync(fileName, 'utf8')
        .split('\n')
        .slice(start.line - 1, end.line);
      const before = lines[0]?.slice(0, start.column - 1) ?? '';
      const rest = lines.at(-1)?.slice(end.column - 1) ?? '';
      return {
        file: fileName.slice(process.cwd().length + 1),
        line: start.line,
        code: onOneLine(lines.join(' ')),
        mutant: onOneLine(before + replacement + rest),
      };
    }),
  };
}

interface KeptResults {
  readonly files: Readonly<
    Record<string, { mutants: readonly { readonly status: string; readonly static?: boolean }[] }>
  >;
}

/** Stryker does not know which tests reach a constant of a module: it keeps the result of its mutants whatever tests are new. */
function forgetLeftConstants(report: string): void {
  const results = JSON.parse(readFileSync(report, 'utf8')) as KeptResults;
  for (const file of Object.values(results.files)) {
    file.mutants = file.mutants.filter((mutant) => mutant.static !== true || mutant.status !== 'Survived');
  }
  writeFileSync(report, JSON.stringify(results));
}

function onOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
