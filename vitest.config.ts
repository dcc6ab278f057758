import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What takes long, the longest first: begun last, it would run on alone at the end. */
const LONGEST = [
  'tunnel/',
  'simulation/',
  'daemon/',
  'cli/operate/sync',
  'cli/exchange/clients',
  'findings/tampering',
  'cli/report',
  'cli/sandbox/demo',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const index = LONGEST.findIndex((name) => moduleId.includes(`/test/${name}`));
      return index < 0 ? LONGEST.length : index;
    };
    return files.toSorted((one, other) => rank(one) - rank(other) || one.moduleId.localeCompare(other.moduleId));
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/postgres-setup.ts',
    pool: 'forks',
    // More than the smallest machine has cores: most files wait for processes.
    maxWorkers: 4,
    // A worker imports the program once, not once a file: what a file changes of the process it puts back.
    isolate: false,
    unstubEnvs: true,
    sequence: { sequencer: LongestFirst },
    // Far above what any test takes: a test fails by what it sees, never by the speed of the machine.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    restoreMocks: true,
  },
});
